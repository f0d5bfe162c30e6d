"""Checks of the table in their order, for APIs whose refusal is an error in the entry's place. APIs
that need more are in `special`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from coordinator.base.slices import ITEMS_A_STEP

from ..requests.refusals import message_of, refuse_in_slices, refused_whole_in_slices
from .table import CLUSTER, EACH, GROUP, TOPIC, TXN, WHOLE, Check
from .verdicts import Complete, Verdict, in_turn, refused

if TYPE_CHECKING:
    from coordinator.base.slices import Slices
    from coordinator.wire.schema import Request, Response

    from ..requests.refusals import Chosen
    from .asking import Asker

_NAMED_BY = {GROUP: "group_id", TXN: "transactional_id"}

FIRST, LAST = True, False
_AMONG_OTHERS: Final = {
    "CreatePartitions": ("results", FIRST),
    "ConsumerGroupDescribe": ("groups", FIRST),
    "DeleteGroups": ("results", LAST),
    "DescribeGroups": ("groups", FIRST),
    "ShareGroupDescribe": ("groups", FIRST),
}
"""The place of refused entries among the others, with null for their text; elsewhere all entries
are in the request's order."""
_WITHOUT_TEXT: Final = frozenset(
    {
        "ConsumerGroupHeartbeat",
        "DescribeClientQuotas",
        "DescribeUserScramCredentials",
        "ShareAcknowledge",
        "ShareFetch",
        "ShareGroupHeartbeat",
    }
)
"""APIs whose text is null in the answer to a request that is refused as a whole."""


def by_table(asker: Asker, api: str, checks: tuple[Check, ...]) -> Slices[Verdict | None]:
    """Return the verdict of these checks on a request, or None if all of it is allowed."""
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
            refusal = yield from refuse_in_slices(message, version, check.error, refused_here)
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
        return (yield from _arranged(api, (yield from complete(answer)), error))

    return completed


def _arranged(api: str, answer: Any, error: int) -> Slices[Any]:
    """Return the response with its refused entries in Kafka's order."""
    place = _AMONG_OTHERS.get(api)
    if place is None:
        return answer
    name, first = place
    refused_rows: list[Any] = []
    others: list[Any] = []
    for seen, row in enumerate(getattr(answer, name), 1):
        if not seen % ITEMS_A_STEP:
            yield
        (refused_rows if row.error_code == error else others).append(row)
    for row in refused_rows:
        if hasattr(row, "error_message"):
            row.error_message = None
    setattr(answer, name, [*refused_rows, *others] if first else [*others, *refused_rows])
    return answer


def whole_refusal(api: str, message: Request, version: int, error: int) -> Slices[Response]:
    """Return the response to a request that is refused as a whole (REF-13)."""
    text = None if api in _WITHOUT_TEXT else message_of(error)
    return refused_whole_in_slices(message, version, error, text)


def whole_name(check: Check, message: Request) -> tuple[str, ...] | None:
    """Return the name that a check of the whole request is about; an empty tuple for the cluster,
    None if the request contains no name.
    """
    if check.resource is CLUSTER:
        return ()
    name = getattr(message, _NAMED_BY[check.resource], None)
    return None if name is None else (name,)


def chosen(asker: Asker, check: Check) -> Chosen:
    """Return a predicate: whether the check refuses an entry of the request."""
    if check.resource is TOPIC:

        def is_hidden(place: Any) -> bool:
            name = asker.topic_of(place)
            return name is not None and asker.is_refused(check.operation, TOPIC, name)

        return is_hidden
    field = "group" if check.resource is GROUP else "transactional_id"
    return lambda place: asker.is_refused(
        check.operation, check.resource, getattr(place, field) or ""
    )
