"""Requests with a few bytes changed: who closes, who answers, and what.

Every body starts as a sound request of some API and version; then bytes are flipped, cut, added, or
lengths blown up. Only APIs that change nothing but groups and offsets take part, so that no chance
byte makes a topic.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from integration_tests.wire.people import topic
from integration_tests.wire.raw import Closed, Plain, Silent
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario

SEEDS = range(1, 9)
FRAMES = 60

EXTREMES = tuple(
    bytes.fromhex(x)
    for x in ("ffffffff", "7fffffff", "80000000", "00000000", "ffff", "7fff", "ffffffff0f", "8001")
)


def _templates(s: Session) -> dict[str, tuple[range, Callable[[int], Plain]]]:
    """Sound requests by API: the versions, and the fields in each."""
    name, group, identity = topic(s, "t", 1), s.name("g"), "ab" * 16

    def offsets(version: int) -> Plain:
        asked = {"topic_id": identity} if version >= 10 else {"name": name}
        if version >= 8:
            return {
                "groups": [{"group_id": group, "topics": [asked | {"partition_indexes": [0, 1]}]}]
            }
        return {"group_id": group, "topics": [asked | {"partition_indexes": [0, 1]}]}

    def commit(version: int) -> Plain:
        asked = {"topic_id": identity} if version >= 10 else {"name": name}
        partitions = [{"partition_index": 0, "committed_offset": 5, "committed_metadata": "m"}]
        return {
            "group_id": group,
            "generation_id_or_member_epoch": 3,
            "member_id": "m",
            "topics": [asked | {"partitions": partitions}],
        }

    def leave(version: int) -> Plain:
        return {"group_id": group} | (
            {"member_id": "m"}
            if version < 3
            else {"members": [{"member_id": "m", "group_instance_id": "i"}]}
        )

    def coordinator(version: int) -> Plain:
        return {"key": group} if version < 4 else {"coordinator_keys": [group, "x"], "key_type": 0}

    given = [{"member_id": "m", "assignment": "ab"}]
    looked_up = [{"name": name, "partitions": [{"partition_index": 0, "timestamp": -1}]}]
    ended = [
        {
            "topic": name,
            "partitions": [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}],
        }
    ]

    def fetch(version: int) -> Plain:
        read: Plain = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}
        asked = [
            ({"topic_id": identity} if version >= 13 else {"topic": name}) | {"partitions": [read]}
        ]
        return {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1000, "topics": asked} | (
            {"session_epoch": -1} if version >= 7 else {}
        )

    joining = {
        "group_id": group,
        "member_id": "",
        "session_timeout_ms": 30_000,
        "rebalance_timeout_ms": 60_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": ""}, {"name": "roundrobin", "metadata": "00"}],
    }
    return {
        "JoinGroup": (range(4, 10), lambda _: joining),
        "Fetch": (range(4, 19), fetch),
        "Heartbeat": (
            range(5),
            lambda _: {"group_id": group, "generation_id": 1, "member_id": "m"},
        ),
        "SyncGroup": (
            range(6),
            lambda _: {
                "group_id": group,
                "generation_id": 1,
                "member_id": "m",
                "assignments": given,
            },
        ),
        "LeaveGroup": (range(6), leave),
        "DescribeGroups": (range(7), lambda _: {"groups": [group, "x"]}),
        "DeleteGroups": (range(3), lambda _: {"groups_names": [group]}),
        "OffsetFetch": (range(1, 11), offsets),
        "OffsetCommit": (range(2, 11), commit),
        "OffsetDelete": (
            range(1),
            lambda _: {
                "group_id": group,
                "topics": [{"name": name, "partitions": [{"partition_index": 0}]}],
            },
        ),
        "FindCoordinator": (range(7), coordinator),
        "ListOffsets": (range(1, 12), lambda _: {"replica_id": -1, "topics": looked_up}),
        "OffsetForLeaderEpoch": (range(2, 5), lambda _: {"topics": ended}),
        "DescribeTopicPartitions": (
            range(1),
            lambda _: {
                "topics": [{"name": name}],
                "cursor": {"topic_name": name, "partition_index": 0},
            },
        ),
        "InitProducerId": (
            range(6),
            lambda _: {"transactional_id": None, "transaction_timeout_ms": 1000},
        ),
        "DescribeCluster": (range(3), lambda _: {}),
    }


def mutated(body: bytes, rng: random.Random) -> bytes:
    """The body with one to three changes."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        where = rng.randrange(len(body) + 1)
        match rng.randrange(6):
            case 0:
                body = body[:where]
            case 1:
                body = body[:where] + bytes([rng.randrange(256)]) + body[where + 1 :]
            case 2:
                body = body[:where] + rng.choice(EXTREMES) + body[where + 4 :]
            case 3:
                body = body[:where] + rng.choice(EXTREMES) + body[where:]
            case 4:
                body = body[:where] + body[where + rng.randrange(1, 4) :]
            case _:
                body = body[:where] + bytes(rng.randrange(1, 5)) + body[where:]
    return body


def send_each(
    s: Session,
    requests: Iterable[tuple[str, int, bytes, Plain]],
    shown: Callable[[Any], Any] = lambda answer: answer,
    mine: Callable[[str, Plain], Plain] = lambda _, answer: answer,
) -> None:
    """Send requests one after the other, each as API, version, body and what is noted of it.

    Of an answer is noted what `mine` leaves of it, given its API, as `shown` orders it once ids have
    names. A connection that is closed, or silent, is followed by a new one.
    """
    link = s.connect("a")
    for i, (api, version, body, said) in enumerate(requests):
        s.note("a", sent=f"{api} v{version}", **said)
        link.connection.send_body(api, version, body)
        try:
            awaited, answer = link.connection.receive()
        except (Closed, Silent) as failure:
            s.note("a", met=type(failure).__name__.lower())
            link.connection.close()
            link = s.connect(f"a{i}")
        else:
            got = f"{awaited.api} v{awaited.version}"
            s.note("a", got=got, fields=shown(s.names.value("", mine(awaited.api, answer))))


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        rng = random.Random(seed)
        templates = _templates(s)

        def frames() -> Iterator[tuple[str, int, bytes, Plain]]:
            for _ in range(FRAMES):
                api, (versions, fields) = rng.choice(list(templates.items()))
                version = rng.choice(versions)
                body = mutated(s.codec.encode(api, version, fields(version)), rng)
                yield api, version, body, {"body": s.names.text(body.hex())}

        send_each(s, frames())

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    scenario(repeats=False)(episode(_seed))
