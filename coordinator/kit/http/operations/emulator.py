"""Operations on the emulator as a whole: facts about it, its clock, and a clean start for the
next test."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from coordinator.base.version import __version__

from ... import arguments
from ...kit import DEFAULT_GRACE_S
from ..as_text import lines
from ..json_values import DONE, LINES, NUMBER, TEXT, object_of
from ..operation import operation
from ..port import Port, timeout_of
from ..shapes import told


@dataclass(frozen=True, slots=True)
class Jump:
    """Length of a jump of the clock."""

    seconds: float = told("seconds to advance")
    hours: float = told("hours to advance, in addition", 0)
    silent: list[str] = told(
        "members that send nothing meanwhile: member ids, instance ids, client ids or unique "
        "beginnings of one",
        [],
    )
    grace: float = told(
        "real seconds that live members have to answer a rebalance that begins meanwhile",
        DEFAULT_GRACE_S,
    )


@dataclass(frozen=True, slots=True)
class Clean:
    """Exceptions from a reset."""

    keep_topics: list[str] = told("topics to keep, with their records", [])


@operation(
    "GET",
    "/",
    summary="Show the versions and the address for Kafka clients.",
    answer=object_of(version=TEXT, bootstrap_servers=TEXT, cluster_id=TEXT, seed=NUMBER),
    tell="bootstrap_servers",
)
def about(port: Port, body: Any) -> Any:
    kafka = port.kafka
    cluster = next(iter(kafka.brokers.values())).cluster
    return {
        "version": __version__,
        "bootstrap_servers": kafka.bootstrap_servers,
        "cluster_id": cluster.cluster_id,
        "seed": kafka.seed,
    }


@operation(
    "POST",
    "/advance",
    summary=(
        "Advance the coordinators' clock from deadline to deadline. The answer lists what fell "
        "due, in order. Sessions of live members do not expire."
    ),
    body=Jump,
    answer=object_of(events=LINES),
    limit_s=600,
    tell=lines,
)
async def advance(port: Port, body: Jump) -> Any:
    kafka, grace = port.kafka, timeout_of(body.grace)
    since, seconds = kafka.mark(), arguments.jump(body.seconds, body.hours)
    for answered in kafka.advancing(seconds, silent=body.silent):
        await asyncio.wait([asyncio.wrap_future(answered)], timeout=grace)
    return {"events": kafka.fallen_due(since)}


@operation(
    "POST",
    "/reset",
    summary=(
        "Clean up for the next test: stop all peers, delete faults, groups with their settings, "
        "and topics except those to keep."
    ),
    body=Clean,
    answer=DONE,
)
def reset(port: Port, body: Clean) -> Any:
    port.kafka.reset(keep_topics=body.keep_topics)
    port.peers.forget_all()
    port.share_peers.forget_all()
    return {"done": True}
