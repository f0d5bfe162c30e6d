"""The checks of the table in their order, for APIs whose refusals are an error in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..error_responses import refuse_in_slices
from .shapes import arranged, whole_refusal
from .table import CLUSTER, EACH, GROUP, TOPIC, TXN, WHOLE, Check
from .verdicts import Complete, Verdict, in_turn, refused

if TYPE_CHECKING:
    from ...common.slices import Slices
    from ...wire.schema import Request
    from ..error_responses import Chosen
    from .asking import Asker

_NAMED_BY = {GROUP: "group_id", TXN: "transactional_id"}


def by_table(asker: Asker, api: str, checks: tuple[Check, ...]) -> Slices[Verdict | None]:
    """These checks' outcome for a request."""
    message: Any = asker.call.message
    version = asker.call.version
    completes: list[Complete] = []
    for check in checks:
        if check.how == WHOLE:
            name = whole_name(check, message)
            if name is not None and asker.is_refused(check.operation, check.resource, *name):
                answer = yield from whole_refusal(api, message, version, check.error)
                return refused((yield from in_turn(completes, answer)))
        elif check.how == EACH:
            refused_here = chosen(asker, check)
            refusal = yield from refuse_in_slices(api, message, version, check.error, refused_here)
            if refusal is None:
                continue
            completes.append(_completing(api, refusal.completing, check.error))
            if refusal.rest is None:
                return refused((yield from in_turn(completes, None)))
            message = refusal.rest
    if not completes:
        return None
    return Verdict(message, complete=lambda answer: in_turn(completes, answer))


def _completing(api: str, complete: Complete, error: int) -> Complete:
    def completed(answer: Any) -> Slices[Any]:
        return (yield from arranged(api, (yield from complete(answer)), error))

    return completed


def whole_name(check: Check, message: Request) -> tuple[str, ...] | None:
    """The subject of a check, as far as it has a name; None: the request names nothing."""
    if check.resource is CLUSTER:
        return ()
    name = getattr(message, _NAMED_BY[check.resource], None)
    return None if name is None else (name,)


def chosen(asker: Asker, check: Check) -> Chosen:
    """Which entries of a request are refused by a check."""
    if check.resource is TOPIC:

        def is_hidden(place: Any) -> bool:
            name = asker.topic_of(place)
            return name is not None and asker.is_refused(check.operation, TOPIC, name)

        return is_hidden
    field = "group" if check.resource is GROUP else "transactional_id"
    return lambda place: asker.is_refused(
        check.operation, check.resource, getattr(place, field) or ""
    )
