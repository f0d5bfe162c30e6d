"""Operations on snapshots of the whole emulator. A snapshot is kept under a number while the
port is open, and can be restored any number of times."""

from __future__ import annotations

from typing import Any

from ...restoring.snapshot import Snapshot
from ..as_text import columns
from ..json_values import DONE, NUMBER, TEXT, list_of, object_of
from ..operation import operation
from ..port import Port

_SNAPSHOT = object_of(
    snapshot=NUMBER,
    topics=list_of(object_of(name=TEXT, partitions=NUMBER)),
    records=NUMBER,
    groups=list_of(TEXT),
    transactional_ids=list_of(TEXT),
)


@operation(
    "POST",
    "/snapshots",
    summary="Take a snapshot of topics, records, groups, offsets and transactions. The answer "
    "contains its number.",
    answer=_SNAPSHOT,
    tell="snapshot",
)
def snapshot_take(port: Port, body: Any) -> Any:
    number = port.add_snapshot(port.kafka.snapshot())
    return _shown(number, port.snapshot(str(number)))


@operation(
    "GET",
    "/snapshots",
    summary="List the snapshots.",
    answer=object_of(snapshots=list_of(_SNAPSHOT)),
    tell=columns(
        "snapshots",
        SNAPSHOT="snapshot",
        RECORDS="records",
        TOPICS=lambda row: ", ".join(
            f"{topic['name']}:{topic['partitions']}" for topic in row["topics"]
        ),
        GROUPS=lambda row: ", ".join(row["groups"]),
    ),
)
def snapshot_list(port: Port, body: Any) -> Any:
    return {"snapshots": [_shown(number, snapshot) for number, snapshot in port.snapshots.items()]}


@operation(
    "POST",
    "/snapshots/{snapshot}/restore",
    summary="Restore a snapshot, as often as wanted; all connections of Kafka clients are closed.",
    answer=DONE,
)
def snapshot_restore(port: Port, body: Any, snapshot: str) -> Any:
    port.kafka.restore(port.snapshot(snapshot))
    return {"done": True}


@operation("DELETE", "/snapshots/{snapshot}", summary="Delete the snapshot.", answer=DONE)
def snapshot_forget(port: Port, body: Any, snapshot: str) -> Any:
    port.forget_snapshot(snapshot)
    return {"done": True}


def _shown(number: int, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "snapshot": number,
        "topics": [
            {"name": topic.name, "partitions": len(topic.partitions)} for topic in snapshot.topics
        ],
        "records": snapshot.records,
        "groups": list(snapshot.groups),
        "transactional_ids": list(snapshot.transactions),
    }
