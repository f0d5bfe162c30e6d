"""Who may ask for delegation tokens (KIP-48), and what a refused request for one is told. The tokens
themselves are `security.tokens`. Does not depend on rights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ErrorCode
from ..security.listeners import SecurityProtocol
from ..security.tokens import TokenPrincipal
from ..wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from .call import ANONYMOUS

if TYPE_CHECKING:
    from ..security.tokens import Tokens
    from .call import Call
    from .core import Broker

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
