"""Operations on brokers: the list, restarts, and the verbs of `coordinator.verbs`, each answered
with its inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from coordinator.verbs import ROWS
from coordinator.verbs.brokers import VERBS
from coordinator.verbs.row import Taken

from ..as_text import columns
from ..json_values import DONE, FLAG, NUMBER, TEXT, list_of, object_of
from ..operation import Raw, operation
from ..port import Port
from ..shapes import told

if TYPE_CHECKING:
    from coordinator.verbs.brokers import How


def verb_schema() -> dict[str, Any]:
    """Return the JSON Schema of a verb, from its row."""
    options = []
    for name in VERBS:
        row = ROWS[name]
        takes = row.takes
        options.append(
            {
                "type": "object",
                "title": name,
                "description": row.summary,
                "properties": {
                    "verb": {"const": name},
                    **{taken.name: _how(taken) for taken in takes},
                },
                "required": ["verb", *(taken.name for taken in takes if taken.required)],
                "additionalProperties": False,
            }
        )
    return {"oneOf": options}


def _how(taken: Taken) -> dict[str, Any]:
    if taken.choices:
        return {"enum": list(taken.choices)}
    if taken.several:
        return {"type": ["array", "null"], "items": {"type": "integer"}}
    if taken.flag:
        return {"type": "boolean"}
    kind = "integer" if taken.number else "string"
    return {"type": [kind, "null"] if taken.optional else kind}


@dataclass(frozen=True, slots=True)
class Shard:
    """Selects a partition of __consumer_offsets."""

    partition: int | None = told("partition of __consumer_offsets (default: all)", None)


@dataclass(frozen=True, slots=True)
class Restart:
    """A restart."""

    broker: int | None = told("broker id (default: the only broker)", None)
    how: str = told("controlled or crash", "controlled")
    config: dict[str, str | int | float | bool] = told("settings to change with the restart", {})
    kafka_version: str | None = told("Kafka release after the restart (default: as before)", None)


@operation(
    "GET",
    "/brokers",
    summary="List the brokers and whether each runs.",
    answer=object_of(brokers=list_of(object_of(id=NUMBER, running=FLAG, address=TEXT))),
    tell=columns(
        "brokers",
        BROKER="id",
        STATE=lambda row: "running" if row["running"] else "stopped or paused",
        ADDRESS="address",
    ),
)
def broker_list(port: Port, body: Any) -> Any:
    kafka = port.kafka
    return {
        "brokers": [
            {"id": node, "running": kafka.is_running(node), "address": address}
            for node, address in zip(kafka.servers, kafka.bootstrap_servers.split(","), strict=True)
        ]
    }


@operation(
    "POST",
    "/brokers/control",
    summary=(
        'Carry out a verb, such as {"verb": "StopBroker", "broker": 2, "how": "crash"}. The '
        "answer contains the inverse, which undoes it."
    ),
    body=Raw,
    schema=verb_schema(),
    answer=object_of(inverse={"type": ["object", "null"]}),
)
def broker_control(port: Port, body: Raw) -> Any:
    from ... import cluster

    inverse = port.kafka.control(cluster.from_plain(body.plain))
    return {"inverse": None if inverse is None else cluster.to_plain(inverse)}


@operation(
    "POST",
    "/brokers/restart",
    summary=(
        "Restart a broker, if wanted with other settings or as another Kafka release, as in a "
        "rolling restart or upgrade."
    ),
    body=Restart,
    answer=DONE,
    command="broker restart",
)
async def broker_restart(port: Port, body: Restart) -> Any:
    await port.kafka.awaited_restart(
        body.broker,
        how=cast("How", body.how),
        config=body.config,
        kafka_version=body.kafka_version,
    )
    return {"done": True}


@operation(
    "POST",
    "/coordinator/unload",
    summary=(
        "Make the only broker unload a partition of __consumer_offsets, as if another broker "
        "became its leader: it answers NOT_COORDINATOR."
    ),
    body=Shard,
    answer=DONE,
    command="broker unload",
)
def coordinator_unload(port: Port, body: Shard) -> Any:
    port.kafka.unload_coordinator(body.partition)
    return {"done": True}


@operation(
    "POST",
    "/coordinator/load",
    summary="Make the broker load the partition of __consumer_offsets again, with the groups as "
    "stored.",
    body=Shard,
    answer=DONE,
    command="broker load",
)
def coordinator_load(port: Port, body: Shard) -> Any:
    port.kafka.load_coordinator(body.partition)
    return {"done": True}
