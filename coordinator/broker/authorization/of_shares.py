"""Share groups: topics that a user may not read or describe, each in its place (REF-9, REF-10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import ErrorCode
from ...wire.messages import response_type
from ..error_responses import copied, message_of, topic_place
from .by_table import by_table
from .table import CHECKS, TOPIC
from .verdicts import Verdict, refused

if TYPE_CHECKING:
    from ...security.acls import Operation
    from .asking import Asker

_ERROR = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class _Shape(NamedTuple):
    """How an API names topics. `partition`: the field of a partition's number, None: partitions are
    numbers; `rows`: an answer has partitions below its topics; `says`: an error has its message."""

    partition: str | None = "partition_index"
    rows: bool = True
    says: bool = True


_SHAPES = {
    "AlterShareGroupOffsets": _Shape(),
    "DeleteShareGroupOffsets": _Shape(rows=False),
    "DescribeShareGroupOffsets": _Shape(partition=None),
    "ShareAcknowledge": _Shape(says=False),
}


def _is_hidden(asker: Asker, operation: Operation, topic: Any) -> bool:
    name = getattr(topic, "topic_name", None)
    if name is None:
        name = asker.topic_of(topic_place(topic))
    return name is not None and asker.is_refused(operation, TOPIC, name)


def _rows(shape: _Shape, kind: Any, topics: list[Any]) -> list[Any]:
    """What an answer says of topics that are hidden; `kind`: the class of its rows of topics."""
    made = []
    error = {"error_code": _ERROR, "error_message": message_of(_ERROR) if shape.says else None}
    for topic in topics:
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
            each if shape.partition is None else getattr(each, shape.partition)
            for each in topic.partitions
        ]
        partitions = [row(partition_index=number, **error) for number in numbers]
        made.append(kind(**same, partitions=partitions))
    return made


def of_topics(api: str) -> Callable[[Asker], Verdict | None]:
    """The group first, then each topic by itself."""
    operation = CHECKS[api][1].operation

    def decided(asker: Asker) -> Verdict | None:
        verdict = by_table(asker, api, CHECKS[api][:1])
        if verdict is not None:
            return verdict
        message: Any = asker.call.message
        lost = [topic for topic in message.topics if _is_hidden(asker, operation, topic)]
        if not lost:
            return None
        shown = [topic for topic in message.topics if topic not in lost]
        response: Any = response_type(message.api_key)
        kind = next(field.elem for field in response.fields if field.name == "responses")
        rows = _rows(_SHAPES[api], kind, lost)

        def complete(answer: Any) -> Any:
            if answer.error_code:
                return answer
            return copied(answer, responses=[*answer.responses, *rows])

        return Verdict(copied(message, topics=shown), complete=complete)

    return decided


def fetched(asker: Asker) -> Verdict | None:
    """The group first. Topics are asked for by the handler, which knows what the session remembers."""
    api = "ShareFetch"
    verdict = by_table(asker, api, CHECKS[api][:1])
    if verdict is not None:
        return verdict
    operation = CHECKS[api][1].operation
    return Verdict(
        asker.call.message, sees=lambda topic: not asker.is_refused(operation, TOPIC, topic)
    )


def offsets_described(asker: Asker) -> Verdict | None:
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
    for group in message.groups:
        if asker.is_refused(group_check.operation, group_check.resource, group.group_id):
            error = group_check.error
            lost.append(
                group_kind(
                    group_id=group.group_id, error_code=error, error_message=message_of(error)
                )
            )
            continue
        mine = [
            topic for topic in group.topics or () if _is_hidden(asker, topic_check.operation, topic)
        ]
        if mine:
            hidden[group.group_id] = _rows(_SHAPES[api], topic_kind, mine)
            group = copied(group, topics=[each for each in group.topics if each not in mine])
        rest.append(group)

    def complete(answer: Any) -> Any:
        for group in answer.groups:
            seen = [
                topic
                for topic in group.topics
                if asker.may(topic_check.operation, TOPIC, topic.topic_name)
            ]
            if not group.error_code:
                group.topics = [*seen, *hidden.get(group.group_id, ())]
        return copied(answer, groups=[*lost, *answer.groups])

    if not rest:
        return refused(response(groups=lost))
    return Verdict(copied(message, groups=rest), complete=complete)
