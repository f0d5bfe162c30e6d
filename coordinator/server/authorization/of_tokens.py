"""Authorization of delegation tokens: creating one for another owner needs a right on that owner,
and tokens of others that the user may not describe are left out (TOK-3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import done, only
from coordinator.events.acls import Operation
from coordinator.wire.messages.delegation_tokens import CreateDelegationTokenRequest

from ..delegation_tokens import refusal, refused_creation
from ..requests.refusals import copied
from .asking import Asker
from .table import TOKEN, USER
from .verdicts import Verdict, refused

if TYPE_CHECKING:
    from coordinator.base.slices import Slices


def create_delegation_token(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a CreateDelegationToken. A token for the requester itself needs no
    right.
    """
    message = asker.call.message
    assert isinstance(message, CreateDelegationTokenRequest)
    kind, name = message.owner_principal_type, message.owner_principal_name
    if not name or kind is None or refusal(asker.broker, asker.call) is not None:
        return done(None)
    owner = f"{kind}:{name}"
    if owner == asker.principal or not asker.is_refused(Operation.CREATE_TOKENS, USER, owner):
        return done(None)
    answer = refused_creation(asker.call, ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    return done(refused(answer))


def describe_delegation_token(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a DescribeDelegationToken: tokens that the client owns, requested or
    may renew are always shown.
    """

    def seen(token: Any) -> bool:
        owner = f"{token.principal_type}:{token.principal_name}"
        requester = f"{token.token_requester_principal_type}:{token.token_requester_principal_name}"
        renewers = [f"{each.principal_type}:{each.principal_name}" for each in token.renewers]
        return (
            asker.principal in (owner, requester, *renewers)
            or asker.may(Operation.DESCRIBE, TOKEN, token.token_id)
            or asker.may(Operation.DESCRIBE_TOKENS, USER, owner)
        )

    def complete(answer: Any) -> Slices[Any]:
        return copied(answer, tokens=(yield from only(answer.tokens, seen)))

    return done(Verdict(asker.call.message, complete=complete))
