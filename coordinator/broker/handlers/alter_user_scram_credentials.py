"""AlterUserScramCredentials (key 51), v0 (KIP-554): connections that are open are left alone
(SCRAM-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.scram_credentials import Deletion, Upsertion
from ...wire.messages.scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> AlterUserScramCredentialsResponse:
    """Answered at once, each user by itself."""
    request = call.message
    assert isinstance(request, AlterUserScramCredentialsRequest)
    results = broker.cluster.scram_credentials.alter(
        [Deletion(each.name, each.mechanism) for each in request.deletions],
        [
            Upsertion(each.name, each.mechanism, each.iterations, each.salt, each.salted_password)
            for each in request.upsertions
        ],
    )
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(
                user=user,
                error_code=0 if refused is None else refused.code,
                error_message=None if refused is None else refused.message,
            )
            for user, refused in results.items()
        ]
    )
