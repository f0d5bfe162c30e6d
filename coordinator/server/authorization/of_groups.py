"""Authorization of APIs about groups and their offsets: entries that are refused, left out, or
shown with the allowed operations (REF-5, REF-6, REF-15).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, done, each, each_in_slices, only
from coordinator.events.acls import Operation
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest

from ..authorized_operations import NOT_ASKED
from ..requests.error_places import error_places
from ..requests.refusals import copied, refuse_in_slices, refused_rows, topic_place
from .by_table import by_table, whole_refusal
from .table import CHECKS, CLUSTER, GROUP, TOPIC
from .verdicts import Decide, Verdict, refused

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from .asking import Asker

_O = Operation
_FETCHES_GROUPS = 8


def offset_fetch(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on an OffsetFetch: a refused group has its error, hidden topics have error
    29, or are left out if all topics are asked for.
    """
    message, version = asker.call.message, asker.call.version
    assert isinstance(message, OffsetFetchRequest)
    error = ErrorCode.GROUP_AUTHORIZATION_FAILED
    refusal = yield from refuse_in_slices(
        message,
        version,
        error,
        lambda place: asker.is_refused(_O.DESCRIBE, GROUP, place.group or ""),
    )
    if refusal is not None and refusal.rest is None:
        return refused((yield from refusal.completing(None)))
    rest: Any = message if refusal is None else refusal.rest
    asked = rest.groups if version >= _FETCHES_GROUPS else [rest]
    hidden: list[dict[str, Any]] = []
    kept = []
    named = [list(group.topics or ()) for group in asked]
    for seen, group in enumerate(asked, 1):
        if not seen % ITEMS_A_STEP:
            yield
        topics = yield from only(group.topics or (), partial(_hides, asker))
        refused_here = {_key(topic): topic for topic in topics}
        hidden.append(refused_here)
        if refused_here:
            group = copied(
                group, topics=[topic for topic in group.topics if _key(topic) not in refused_here]
            )
        kept.append(group)
    everything = any(group.topics is None for group in asked)
    if refusal is None and not any(hidden) and not everything:
        return None

    def is_seen(topic: Any) -> bool:
        return asker.may(_O.DESCRIBE, TOPIC, _name(asker, topic))

    def complete(answer: Any) -> Slices[Any]:
        rows = answer.groups if version >= _FETCHES_GROUPS else [answer]
        for seen, (group, given, row, lost) in enumerate(
            zip(asked, named, rows, hidden, strict=True), 1
        ):
            if not seen % ITEMS_A_STEP:
                yield
            if group.topics is None:
                row.topics = yield from only(row.topics, is_seen)
            elif lost and not row.error_code:
                row.topics = yield from _with_hidden(asker, given, row, lost)
        return answer if refusal is None else (yield from refusal.completing(answer))

    if version >= _FETCHES_GROUPS:
        return Verdict(copied(rest, groups=kept), complete=complete)
    return Verdict(kept[0], complete=complete)


def _with_hidden(
    asker: Asker, asked: list[Any], row: Any, hidden: dict[str, Any]
) -> Slices[list[Any]]:
    """Return a group's topics in Kafka's order: first the served ones, then all refused ones,
    hidden or unknown, in the request's order.
    """
    refused_here = yield from only(
        asked, lambda topic: _key(topic) in hidden or _by_unknown_id(asker, topic)
    )
    unknown = sum(_key(topic) not in hidden for topic in refused_here)
    served, others = row.topics[: len(row.topics) - unknown], iter(row.topics[-unknown:])
    places = error_places(OffsetFetchRequest, asker.call.version)
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    lost = [topic for topic in refused_here if _key(topic) in hidden]
    rows = iter((yield from refused_rows(places, len(places.levels) - 2, lost, error, None)))
    made = yield from each(
        refused_here, lambda topic: next(rows if _key(topic) in hidden else others)
    )
    return [*served, *made]


def _by_unknown_id(asker: Asker, topic: Any) -> bool:
    return asker.topic_of(topic_place(topic)) is None


def _key(topic: Any) -> Any:
    return getattr(topic, "name", "") or topic.topic_id


def _name(asker: Asker, topic: Any) -> str:
    return asker.topic_of(topic_place(topic)) or ""


def _hides(asker: Asker, topic: Any) -> bool:
    name = asker.topic_of(topic_place(topic))
    return name is not None and asker.is_refused(_O.DESCRIBE, TOPIC, name)


def list_groups(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a ListGroups: never refused; groups that the user may not describe are
    left out (REF-5).
    """
    if asker.may(_O.DESCRIBE, CLUSTER):
        return done(None)

    def complete(answer: Any) -> Slices[Any]:
        groups = yield from only(
            answer.groups, lambda group: asker.may(_O.DESCRIBE, GROUP, group.group_id)
        )
        return copied(answer, groups=groups)

    return done(Verdict(asker.call.message, complete=complete))


def described(api: str) -> Decide:
    """Return the decision for an API that describes groups: the response has the allowed operations
    (KIP-430), and a group with a hidden topic is refused (REF-6).
    """

    def decided(asker: Asker) -> Slices[Verdict | None]:
        verdict = yield from by_table(asker, api, CHECKS[api][:1])
        if verdict is not None and verdict.message is None:
            return verdict
        inner = None if verdict is None else verdict.complete

        def complete(answer: Any) -> Slices[Any]:
            for seen, row in enumerate(answer.groups, 1):
                if not seen % ITEMS_A_STEP:
                    yield
                if row.authorized_operations != NOT_ASKED:
                    row.authorized_operations = asker.operations(GROUP, row.group_id)
            if api != "DescribeGroups":
                rows = yield from each_in_slices(answer.groups, partial(_shown, asker))
                answer = copied(answer, groups=rows)
            return answer if inner is None else (yield from inner(answer))

        message = asker.call.message if verdict is None else verdict.message
        return Verdict(message, complete=complete)

    return decided


_HIDDEN: Final = "The group has described topic(s) that the client is not authorized to describe."


def _shown(asker: Asker, row: Any) -> Slices[Any]:
    topics = {
        each.topic_name
        for member in row.members
        for assignment in (member.assignment, getattr(member, "target_assignment", None))
        if assignment is not None
        for each in assignment.topic_partitions
    } | {name for member in row.members for name in member.subscribed_topic_names}
    seen = yield from only(topics, lambda name: asker.may(_O.DESCRIBE, TOPIC, name))
    if len(seen) == len(topics):
        return row
    return type(row)(
        group_id=row.group_id,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message=_HIDDEN,
        members=[],
    )


def heartbeat(api: str) -> Decide:
    """Return the decision for a heartbeat API: the user must be allowed to describe every topic
    that the request names (REF-6).
    """

    def decided(asker: Asker) -> Slices[Verdict | None]:
        verdict = yield from by_table(asker, api, CHECKS[api][:1])
        if verdict is not None:
            return verdict
        message: Any = asker.call.message
        hidden = yield from only(
            message.subscribed_topic_names or (),
            lambda name: asker.is_refused(_O.DESCRIBE, TOPIC, name),
        )
        if not hidden:
            return None
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return refused((yield from whole_refusal(api, message, asker.call.version, error)))

    return decided
