"""Handlers of the APIs about delegation tokens (KIP-48). Common checks are in
`server.delegation_tokens`, the tokens in `security.tokens`.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.delegation_tokens import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

from ..delegation_tokens import (
    owner_of,
    refusal,
    refused_creation,
    tokens_of,
    wall_ms,
    with_new_end,
)

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call
    from ..security.tokens import Token


_USER = "User"


def create_delegation_token(broker: Broker, call: Call) -> CreateDelegationTokenResponse:
    """Handle CreateDelegationToken (key 38), v1-3: create a token for the requester or (v3,
    KIP-373) for another owner.

    Refused are clients that are not authenticated or authenticated by a token (64), clusters
    without a secret key (61), and renewers that are no users (67). An owner name without a type
    is an exception that Kafka does not handle (-1). A refusal contains the intended owner and
    the requester.
    """
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


def renew_delegation_token(broker: Broker, call: Call) -> RenewDelegationTokenResponse:
    """Handle RenewDelegationToken (key 39), v1-2, by the owner, the requester or a renewer (else
    63). The period is limited to delegation.token.expiry.time.ms (also meant by 0 and less) and
    to the token's maximum (TOK-2).
    """
    request = call.message
    assert isinstance(request, RenewDelegationTokenRequest)
    return with_new_end(
        broker,
        call,
        RenewDelegationTokenResponse,
        lambda tokens, now_ms: tokens.renew(
            request.hmac, call.principal, request.renew_period_ms, now_ms
        ),
    )


def expire_delegation_token(broker: Broker, call: Call) -> ExpireDelegationTokenResponse:
    """Handle ExpireDelegationToken (key 40), v1-2, by the owner, the requester or a renewer (else
    63). A negative period ends the token at once; another is limited to the token's maximum
    (TOK-2).
    """
    request = call.message
    assert isinstance(request, ExpireDelegationTokenRequest)
    return with_new_end(
        broker,
        call,
        ExpireDelegationTokenResponse,
        lambda tokens, now_ms: tokens.expire(
            request.hmac, call.principal, request.expiry_time_period_ms, now_ms
        ),
    )


def describe_delegation_token(broker: Broker, call: Call) -> DescribeDelegationTokenResponse:
    """Handle DescribeDelegationToken (key 41), v1-3: the owners' tokens that the client may see
    (TOK-3). Null owners: the tokens of all; an empty list: none.
    """
    request = call.message
    assert isinstance(request, DescribeDelegationTokenRequest)
    error = refusal(broker, call)
    tokens = tokens_of(broker)
    if error is None and tokens is None:
        error = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    if error is not None or tokens is None:
        return DescribeDelegationTokenResponse(error_code=error or 0)
    owners = (
        None
        if request.owners is None
        else {f"{each.principal_type}:{each.principal_name}" for each in request.owners}
    )
    return DescribeDelegationTokenResponse(
        tokens=[
            _described(token)
            for token in tokens.all(wall_ms(broker, call))
            if owners is None or any(map(token.concerns, owners))
        ]
    )


def _described(token: Token) -> DescribedDelegationToken:
    owner, requester = (each.split(":", 1) for each in (token.owner, token.requester))
    return DescribedDelegationToken(
        principal_type=owner[0],
        principal_name=owner[1],
        token_requester_principal_type=requester[0],
        token_requester_principal_name=requester[1],
        issue_timestamp=token.issued_ms,
        expiry_timestamp=token.expires_ms,
        max_timestamp=token.max_ms,
        token_id=token.id,
        hmac=token.secret,
        renewers=[
            DescribedDelegationTokenRenewer(principal_type=kind, principal_name=name)
            for kind, name in (each.split(":", 1) for each in token.renewers)
        ],
    )
