"""DescribeDelegationToken (key 41), v1-3: the tokens of some owners, as far as a client may see them
(TOK-3). No owners at all: of everybody; an empty list: none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.delegation_tokens import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ..delegation_tokens import refusal, tokens_of, wall_ms

if TYPE_CHECKING:
    from ...security.tokens import Token
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> DescribeDelegationTokenResponse:
    """Answered at once."""
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
