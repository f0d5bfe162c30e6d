"""CreateDelegationToken (key 38), v1-3: a token for who asks, or (v3, KIP-373) for another owner.

Refused are clients that nobody knows, or that came with a token (64), a cluster without a key (61),
and renewers that are no users (67). An owner's name without a type is an exception that Kafka did
not foresee (-1). Refusals name who was to be the owner, and who asked.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.delegation_tokens import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ..delegation_tokens import owner_of, refusal, refused_creation, tokens_of, wall_ms

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker

_USER = "User"


def handle(broker: Broker, call: Call) -> CreateDelegationTokenResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, CreateDelegationTokenRequest)
    tokens = tokens_of(broker)
    if request.owner_principal_name and request.owner_principal_type is None:
        return refused_creation(call, ErrorCode.UNKNOWN_SERVER_ERROR)
    if (error := refusal(broker, call)) is not None:
        return refused_creation(call, error)
    if tokens is None:
        return refused_creation(call, ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    if any(each.principal_type != _USER for each in request.renewers):
        return refused_creation(call, ErrorCode.INVALID_PRINCIPAL_TYPE)
    owner = owner_of(call)
    token = tokens.create(
        urlsafe_b64encode(broker.fresh_uuid()).decode().rstrip("="),
        ":".join(owner),
        call.principal,
        [f"{each.principal_type}:{each.principal_name}" for each in request.renewers],
        request.max_lifetime_ms,
        wall_ms(broker, call),
    )
    kind, _, name = call.principal.partition(":")
    return CreateDelegationTokenResponse(
        principal_type=owner[0],
        principal_name=owner[1],
        token_requester_principal_type=kind,
        token_requester_principal_name=name,
        issue_timestamp_ms=token.issued_ms,
        expiry_timestamp_ms=token.expires_ms,
        max_timestamp_ms=token.max_ms,
        token_id=token.id,
        hmac=token.secret,
    )
