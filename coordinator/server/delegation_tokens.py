"""Requests for delegation tokens (KIP-48): who may send them, and the error of a refused one. The
tokens themselves are in `server.security.tokens`. Does not depend on rights."""

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
    """Why nobody may ask for tokens on this connection; None: somebody is known there (TOK-1)."""
    security = broker.security
    if security is None or isinstance(call.principal, TokenPrincipal):
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    protocol = security.listener(call.listener).protocol
    nobody = call.principal == ANONYMOUS and protocol is SecurityProtocol.SSL
    if protocol is SecurityProtocol.PLAINTEXT or nobody:
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    return None


def tokens_of(broker: Broker) -> Tokens | None:
    """The cluster's tokens; None: it has no key for them (61)."""
    return None if broker.security is None else broker.security.tokens


def with_new_end(
    broker: Broker, call: Call, answer: type[Answer], new_end: Callable[[Tokens, int], int]
) -> Answer:
    """The answer to a request that has a token live longer or end. `new_end`: does it, at an instant
    of the wall clock, and tells when the token ends now; raises TokenRefused."""
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
    """The broker's wall clock."""
    return broker.epoch_ms + call.now


def owner_of(call: Call) -> tuple[str, str]:
    """Who is to own a new token: the one who is named, else who asks."""
    request = call.message
    assert isinstance(request, CreateDelegationTokenRequest)
    if request.owner_principal_name and request.owner_principal_type is not None:
        return request.owner_principal_type, request.owner_principal_name
    kind, _, name = call.principal.partition(":")
    return kind, name


def refused_creation(call: Call, code: ErrorCode) -> CreateDelegationTokenResponse:
    """No token is made: who was to own it, and who asked."""
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
