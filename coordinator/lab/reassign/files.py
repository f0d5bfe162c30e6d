"""The JSON files of partition reassignment (REASN-6): topics to move, and replica assignments.
Has their format and their errors; it must not know a cluster."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TopicPartition = tuple[str, int]
ANY = "any"


class FileError(ValueError):
    """A file cannot be used; the message says what is wrong, and what to change."""


def read_topics(text: str) -> list[str]:
    """Return the topics to move, sorted; the file has {"version": 1, "topics": [{"topic":
    "foo"}]}. Raises FileError."""
    topics = [_field(each, "topic", str) for each in _field(_document(text), "topics", list)]
    doubled = sorted(topic for topic, times in Counter(topics).items() if times > 1)
    if doubled:
        raise FileError(
            f"List of topics to reassign contains duplicate entries: {','.join(doubled)}"
        )
    return sorted(topics)


def read_assignment(text: str) -> dict[TopicPartition, list[int]]:
    """Return the replicas by partition; the file has {"version": 1, "partitions": [{"topic",
    "partition", "replicas", "log_dirs"?}]}. Raises FileError."""
    assignment: dict[TopicPartition, list[int]] = {}
    for each in _field(_document(text), "partitions", list):
        partition = (_field(each, "topic", str), _field(each, "partition", int))
        if partition[1] < 0:
            raise FileError(f"{_name(partition)}: partitions are counted from 0")
        replicas: list[int] = _field(each, "replicas", list)
        if not all(type(node) is int for node in replicas):
            raise FileError(
                f"{_name(partition)}: replicas are broker ids, such as [1, 2, 3], not {json.dumps(replicas)}"
            )
        log_dirs = each.get("log_dirs")
        if log_dirs is not None and (
            not isinstance(log_dirs, list) or len(log_dirs) != len(replicas)
        ):
            sizes = f"Size of replicas list {len(replicas)} is different from size of log dirs list"
            raise FileError(f"{sizes} for partition {_name(partition)}")
        if partition in assignment:
            raise FileError(
                f"Partition reassignment contains duplicate topic partitions: {_name(partition)}"
            )
        doubled = sorted({node for node in replicas if replicas.count(node) > 1})
        if doubled:
            raise FileError(
                f"Partition replica lists may not contain duplicate entries: {_name(partition)} contains multiple entries for "
                f"{','.join(map(str, doubled))}"
            )
        assignment[partition] = replicas
    if not assignment:
        raise FileError("Partition reassignment list cannot be empty")
    return assignment


def write_assignment(assignment: Mapping[TopicPartition, Sequence[int]]) -> str:
    """Return an assignment as the tool prints it, partitions in order."""
    rows = [
        {
            "topic": topic,
            "partition": index,
            "replicas": list(replicas),
            "log_dirs": [ANY] * len(replicas),
        }
        for (topic, index), replicas in sorted(assignment.items())
    ]
    return json.dumps({"version": 1, "partitions": rows}, separators=(",", ":"))


def names(partitions: Iterable[TopicPartition]) -> str:
    """Return partitions as the tool lists them: foo-0,foo-1."""
    return ",".join(_name(partition) for partition in sorted(partitions))


def _name(partition: TopicPartition) -> str:
    return f"{partition[0]}-{partition[1]}"


def _document(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"no JSON: {error}") from None
    if not isinstance(document, Mapping):
        raise FileError('an object is meant, such as {"version": 1, "partitions": [...]}')
    version = document.get("version", 1)
    if version != 1:
        raise FileError(f"Not supported version field value {version}")
    return document


def _field(row: Any, name: str, kind: type) -> Any:
    value = row.get(name) if isinstance(row, Mapping) else None
    if type(value) is not kind:
        what = {str: "a text", int: "a whole number", list: "an array"}[kind]
        raise FileError(f'"{name}": {what} is meant, not {json.dumps(value, default=str)[:60]}')
    return value
