"""Authorization of share group APIs: topics that the user may not read or describe are refused,
each in its place (REF-9, REF-10).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, done, each, only

from ..requests.error_places import error_places
from ..requests.refusals import copied, message_of, refused_rows, topic_place
from .by_table import by_table
from .table import CHECKS, TOPIC
from .verdicts import Decide, Verdict, refused

if TYPE_CHECKING:
    from coordinator.base.slices import Slices
    from coordinator.events.acls import Operation

    from ..requests.error_places import ErrorPlaces
    from .asking import Asker

_ERROR = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def _is_hidden(asker: Asker, operation: Operation, topic: Any) -> bool:
    name = asker.topic_of(topic_place(topic))
    return name is not None and asker.is_refused(operation, TOPIC, name)


def _rows(places: ErrorPlaces, depth: int, topics: list[Any]) -> Slices[list[Any]]:
    return refused_rows(places, depth, topics, _ERROR, message_of(_ERROR))


def _parted(topics: Sequence[Any], marks: list[bool]) -> tuple[list[Any], list[Any]]:
    pairs = list(zip(topics, marks, strict=True))
    return [topic for topic, mark in pairs if mark], [topic for topic, mark in pairs if not mark]


def of_topics(api: str) -> Decide:
    """Return the decision for an API that names one group and its topics: the group is checked
    first, then each topic.
    """
    operation = CHECKS[api][1].operation

    def decided(asker: Asker) -> Slices[Verdict | None]:
        verdict = yield from by_table(asker, api, CHECKS[api][:1])
        if verdict is not None:
            return verdict
        message: Any = asker.call.message
        marks = yield from each(message.topics, partial(_is_hidden, asker, operation))
        lost, shown = _parted(message.topics, marks)
        if not lost:
            return None
        rows = yield from _rows(error_places(type(asker.call.message), asker.call.version), 0, lost)

        def complete(answer: Any) -> Slices[Any]:
            if answer.error_code:
                return done(answer)
            return done(copied(answer, responses=[*answer.responses, *rows]))

        return Verdict(copied(message, topics=shown), complete=complete)

    return decided


def by_handler(api: str) -> Decide:
    """Return the decision for an API whose handler checks the topics itself: it knows the share
    session's topics and reports other errors first. The checks other than topics are made here.
    """
    *others, of_topics = CHECKS[api]
    operation = of_topics.operation

    def decided(asker: Asker) -> Slices[Verdict | None]:
        verdict = yield from by_table(asker, api, tuple(others))
        if verdict is not None:
            return verdict
        return Verdict(
            asker.call.message, sees=lambda topic: not asker.is_refused(operation, TOPIC, topic)
        )

    return decided


def offsets_described(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a DescribeShareGroupOffsets: hidden groups and named hidden topics are
    refused; if all topics are asked for, hidden ones are left out.
    """
    api = "DescribeShareGroupOffsets"
    group_check, topic_check = CHECKS[api]
    message: Any = asker.call.message
    places = error_places(type(asker.call.message), asker.call.version)
    rest: list[Any] = []
    lost: list[Any] = []
    hidden: dict[str, list[Any]] = {}
    for seen, group in enumerate(message.groups, 1):
        if not seen % ITEMS_A_STEP:
            yield
        if asker.is_refused(group_check.operation, group_check.resource, group.group_id):
            lost += yield from refused_rows(places, 0, [group], group_check.error, None)
            continue
        topics = group.topics or ()
        marks = yield from each(topics, partial(_is_hidden, asker, topic_check.operation))
        mine, others = _parted(topics, marks)
        if mine:
            hidden[group.group_id] = yield from _rows(places, 1, mine)
            group = copied(group, topics=others)
        rest.append(group)

    def is_seen(topic: Any) -> bool:
        return asker.may(topic_check.operation, TOPIC, topic.topic_name)

    def complete(answer: Any) -> Slices[Any]:
        for seen, group in enumerate(answer.groups, 1):
            if not seen % ITEMS_A_STEP:
                yield
            shown = yield from only(group.topics, is_seen)
            if not group.error_code:
                group.topics = [*shown, *hidden.get(group.group_id, ())]
        return copied(answer, groups=[*lost, *answer.groups])

    if not rest:
        return refused(places.answer(groups=lost))
    return Verdict(copied(message, groups=rest), complete=complete)
