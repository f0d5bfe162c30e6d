"""Handlers of the APIs about users' SCRAM credentials (KIP-554). The rules are in
`server.cluster.scram_credentials`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

from ..cluster.scram_credentials import Deletion, ScramRefused, Upsertion
from ..requests.call import by_element

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Sliced


def describe_user_scram_credentials(broker: Broker, call: Call) -> Sliced:
    """Handle DescribeUserScramCredentials (key 50), v0 (KIP-554), each user independently. No
    users, or null: all that have a credential.
    """
    request = call.message
    assert isinstance(request, DescribeUserScramCredentialsRequest)
    asked = Counter(user.name for user in request.users or ()) or Counter(
        broker.cluster.scram_credentials.users()
    )
    return by_element(
        call,
        asked.items(),
        lambda counted, _: _result(broker, *counted),
        lambda results: DescribeUserScramCredentialsResponse(results=results),
    )


def _result(broker: Broker, user: str, count: int) -> DescribeUserScramCredentialsResult:
    try:
        if count > 1:
            why = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
            raise ScramRefused(ErrorCode.DUPLICATE_RESOURCE, why)
        found = broker.cluster.scram_credentials.of(user)
    except ScramRefused as refused:
        return DescribeUserScramCredentialsResult(
            user=user, error_code=refused.code, error_message=refused.message
        )
    infos = [
        CredentialInfo(mechanism=mechanism, iterations=iterations)
        for mechanism, iterations in found
    ]
    return DescribeUserScramCredentialsResult(user=user, credential_infos=infos)


def alter_user_scram_credentials(broker: Broker, call: Call) -> AlterUserScramCredentialsResponse:
    """Handle AlterUserScramCredentials (key 51), v0 (KIP-554), each user independently. Open
    connections are not affected (SCRAM-5).
    """
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
