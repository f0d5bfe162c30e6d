"""Common steps of the requests for delegation tokens (KIP-48): which connections may send them, and
the errors of refused ones. Does not check rights (`authorization` does); the tokens themselves
are in `security/tokens`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.delegation_tokens import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenResponse,
)

from .requests.call import ANONYMOUS
from .security.listeners import SecurityProtocol
from .security.tokens import TokenPrincipal, TokenRefused

if TYPE_CHECKING:
    from .broker import Broker
    from .requests.call import Call
    from .security.tokens import Tokens

Answer = TypeVar("Answer", RenewDelegationTokenResponse, ExpireDelegationTokenResponse)

NO_TIME = -1
"""The instants of a refused request that no token is looked for (TOK-2)."""


def refusal(broker: Broker, call: Call) -> ErrorCode | None:
    """Return the error if token requests are not allowed on this connection, or None if they are:
    the client must be authenticated, and not by a token (TOK-1).
    """
    security = broker.security
    if security is None or isinstance(call.principal, TokenPrincipal):
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    protocol = security.listener(call.listener).protocol
    nobody = call.principal == ANONYMOUS and protocol is SecurityProtocol.SSL
    if protocol is SecurityProtocol.PLAINTEXT or nobody:
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    return None


def tokens_of(broker: Broker) -> Tokens | None:
    """Return the cluster's tokens, or None if it has no secret key for them (error 61)."""
    return None if broker.security is None else broker.security.tokens


def with_new_end(
    broker: Broker, call: Call, answer: type[Answer], new_end: Callable[[Tokens, int], int]
) -> Answer:
    """Answer a request that renews or expires a token. `new_end` applies it at an instant of the
    wall clock and returns the token's new expiry; it raises TokenRefused.
    """
    error = refusal(broker, call)
    if error is not None:
        return answer(error_code=error, expiry_timestamp_ms=NO_TIME)
    tokens = tokens_of(broker)
    if tokens is None:
        return answer(error_code=ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    try:
        return answer(expiry_timestamp_ms=new_end(tokens, wall_ms(broker, call)))
    except TokenRefused as refused:
        return answer(error_code=refused.code)


def wall_ms(broker: Broker, call: Call) -> int:
    """Return the broker's wall clock in ms since 1970."""
    return broker.epoch_ms + call.now


def owner_of(call: Call) -> tuple[str, str]:
    """Return the principal type and name of a new token's owner: the one that the request names,
    else the client itself.
    """
    request = call.message
    assert isinstance(request, CreateDelegationTokenRequest)
    if request.owner_principal_name and request.owner_principal_type is not None:
        return request.owner_principal_type, request.owner_principal_name
    kind, _, name = call.principal.partition(":")
    return kind, name


def refused_creation(call: Call, code: ErrorCode) -> CreateDelegationTokenResponse:
    """Return the response to a CreateDelegationToken that is refused: it still names owner and
    requester.
    """
    kind, _, name = call.principal.partition(":")
    owner = owner_of(call)
    return CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owner[0],
        principal_name=owner[1],
        token_requester_principal_type=kind,
        token_requester_principal_name=name,
        issue_timestamp_ms=NO_TIME,
        expiry_timestamp_ms=NO_TIME,
        max_timestamp_ms=NO_TIME,
    )
