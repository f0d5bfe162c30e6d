"""Share groups: topics that a user may not read or describe, each in its place (REF-9, REF-10)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...common.slices import ITEMS_A_STEP, done, each, only
from ...errors import ErrorCode
from ...wire.messages import response_type
from ..error_responses import copied, message_of, topic_place
from .by_table import by_table
from .table import CHECKS, TOPIC
from .verdicts import Decide, Verdict, refused

if TYPE_CHECKING:
    from ...common.slices import Slices
    from ...security.acls import Operation
    from .asking import Asker

_ERROR = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class _Shape(NamedTuple):
    """How an API names topics. `partition`: the field of a partition's number, None: partitions are
    numbers; `rows`: an answer has partitions below its topics."""

    partition: str | None = "partition_index"
    rows: bool = True


_SHAPES = {
    "AlterShareGroupOffsets": _Shape(),
    "DeleteShareGroupOffsets": _Shape(rows=False),
    "DescribeShareGroupOffsets": _Shape(partition=None),
}


def _is_hidden(asker: Asker, operation: Operation, topic: Any) -> bool:
    name = getattr(topic, "topic_name", None)
    if name is None:
        name = asker.topic_of(topic_place(topic))
    return name is not None and asker.is_refused(operation, TOPIC, name)


def _rows(shape: _Shape, kind: Any, topics: list[Any]) -> Slices[list[Any]]:
    """An answer's rows of topics that are hidden; `kind`: the class of its rows of topics."""
    made = []
    error = {"error_code": _ERROR, "error_message": message_of(_ERROR)}
    for seen, topic in enumerate(topics, 1):
        if not seen % ITEMS_A_STEP:
            yield
        same = {
            name: getattr(topic, name)
            for name in ("topic_name", "topic_id")
            if any(field.name == name for field in type(topic).fields)
        }
        if not shape.rows:
            made.append(kind(**same, **error))
            continue
        row = next(field.elem for field in kind.fields if field.name == "partitions")
        numbers = [
            entry if shape.partition is None else getattr(entry, shape.partition)
            for entry in topic.partitions
        ]
        partitions = yield from each(numbers, partial(_row, row, error))
        made.append(kind(**same, partitions=partitions))
    return made


def _parted(topics: Sequence[Any], marks: list[bool]) -> tuple[list[Any], list[Any]]:
    """Those that are marked, and the others."""
    pairs = list(zip(topics, marks, strict=True))
    return [topic for topic, mark in pairs if mark], [topic for topic, mark in pairs if not mark]


def _row(kind: Any, error: dict[str, Any], number: int) -> Any:
    return kind(partition_index=number, **error)


def of_topics(api: str) -> Decide:
    """The group first, then each topic by itself."""
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
        response: Any = response_type(message.api_key)
        kind = next(field.elem for field in response.fields if field.name == "responses")
        rows = yield from _rows(_SHAPES[api], kind, lost)

        def complete(answer: Any) -> Slices[Any]:
            if answer.error_code:
                return done(answer)
            return done(copied(answer, responses=[*answer.responses, *rows]))

        return Verdict(copied(message, topics=shown), complete=complete)

    return decided


def in_session(api: str) -> Decide:
    """The group first. Topics are asked for by the handler, which knows what the session remembers,
    and what is wrong before that."""
    operation = CHECKS[api][1].operation

    def decided(asker: Asker) -> Slices[Verdict | None]:
        verdict = yield from by_table(asker, api, CHECKS[api][:1])
        if verdict is not None:
            return verdict
        return Verdict(
            asker.call.message, sees=lambda topic: not asker.is_refused(operation, TOPIC, topic)
        )

    return decided


def offsets_described(asker: Asker) -> Slices[Verdict | None]:
    """Groups that are hidden are refused, topics within a group likewise; of all topics they are
    left out."""
    api = "DescribeShareGroupOffsets"
    group_check, topic_check = CHECKS[api]
    message: Any = asker.call.message
    response: Any = response_type(message.api_key)
    group_kind = next(field.elem for field in response.fields if field.name == "groups")
    topic_kind = next(field.elem for field in group_kind.fields if field.name == "topics")
    rest, lost = [], []
    hidden: dict[str, list[Any]] = {}
    for seen, group in enumerate(message.groups, 1):
        if not seen % ITEMS_A_STEP:
            yield
        if asker.is_refused(group_check.operation, group_check.resource, group.group_id):
            error = group_check.error
            lost.append(
                group_kind(
                    group_id=group.group_id, error_code=error, error_message=message_of(error)
                )
            )
            continue
        topics = group.topics or ()
        marks = yield from each(topics, partial(_is_hidden, asker, topic_check.operation))
        mine, others = _parted(topics, marks)
        if mine:
            hidden[group.group_id] = yield from _rows(_SHAPES[api], topic_kind, mine)
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
        return refused(response(groups=lost))
    return Verdict(copied(message, groups=rest), complete=complete)
