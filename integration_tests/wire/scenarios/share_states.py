"""What the share coordinator keeps (KIP-932): Initialize-, Read-, Write-, Delete- and ReadSummary-
ShareGroupState, as brokers send them (SH-ST-*)."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.consumers import topics
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import PROFILE, id_of, initialize

INITIALIZE, READ, WRITE, DELETE, SUMMARY = (
    "InitializeShareGroupState",
    "ReadShareGroupState",
    "WriteShareGroupState",
    "DeleteShareGroupState",
    "ReadShareGroupStateSummary",
)
_ALL = (INITIALIZE, READ, WRITE, SUMMARY, DELETE)
_VERSIONS = {WRITE: 1, SUMMARY: 1}


class Stored:
    """The state of a topic's partitions, for one group."""

    def __init__(self, s: Session) -> None:
        self.s = s
        (self.topic,) = topics(s, 2)
        self.id = id_of(s, self.topic)
        self.group = s.name("g")
        initialize(s, s.name("other"), self.topic, 0)
        self.link = s.connect("a")

    def ask(self, api: str, version: int | None = None, **of_partition: Any) -> Plain:
        """A request about one partition, 0 unless told otherwise."""
        topic_id = of_partition.pop("topic_id", self.id)
        fields = {
            "group_id": of_partition.pop("group_id", self.group),
            "topics": [{"topic_id": topic_id, "partitions": [{"partition": 0, **of_partition}]}],
        }
        return self.link.ask(api, _VERSIONS.get(api, 0) if version is None else version, **fields)

    def write(self, start: int, complete: int, *batches: tuple[int, ...], **other: int) -> Plain:
        """Write (first, last, state, count) each."""
        rows = [
            dict(
                zip(
                    ("first_offset", "last_offset", "delivery_state", "delivery_count"),
                    of,
                    strict=True,
                )
            )
            for of in batches
        ]
        fields: dict[str, Any] = {
            "state_epoch": 0,
            "leader_epoch": 0,
            "start_offset": start,
            "delivery_complete_count": complete,
            "state_batches": rows,
        }
        return self.ask(WRITE, **(fields | other))

    def look(self, leader_epoch: int = 0) -> None:
        """What is stored now."""
        self.ask(READ, leader_epoch=leader_epoch)
        self.ask(SUMMARY)


@scenario(PROFILE, since="4.2")
def nothing_is_stored(s: Session) -> None:
    """Of what was never initialized."""
    stored = Stored(s)
    for api in (READ, SUMMARY, WRITE, DELETE, DELETE, READ):
        stored.ask(api)
    stored.ask(SUMMARY, version=0)


@scenario(PROFILE, since="4.2")
def epochs_of_states(s: Session) -> None:
    """An older one is fenced, the same or a newer one begins anew."""
    stored = Stored(s)
    for epoch, start in ((3, -1), (3, -1), (2, -1), (4, 10), (-1, 1), (4, -7)):
        stored.ask(INITIALIZE, state_epoch=epoch, start_offset=start)
        stored.look()
    stored.write(0, 1, state_epoch=3)
    stored.write(0, 1, state_epoch=4)
    stored.write(0, 1, state_epoch=9)
    stored.write(0, 1, state_epoch=-1)
    stored.look()


@scenario(PROFILE, since="4.2")
def epochs_of_leaders(s: Session) -> None:
    """Who reads under a newer one fences who came before, after another initialization too."""
    stored = Stored(s)
    stored.ask(INITIALIZE)
    for epoch in (5, 4, 5):
        stored.ask(READ, leader_epoch=epoch)
        stored.ask(SUMMARY, leader_epoch=epoch)
    for epoch in (4, 5, 7, -1):
        stored.write(0, 0, leader_epoch=epoch)
        stored.ask(SUMMARY)
    stored.ask(READ, leader_epoch=-1)
    stored.ask(READ, leader_epoch=6)
    stored.ask(INITIALIZE, state_epoch=1)
    stored.look(5)
    stored.look(6)
    stored.ask(DELETE)
    stored.ask(INITIALIZE)
    stored.look()


@scenario(PROFILE, since="4.2")
def starts_do_not_go_back(s: Session) -> None:
    """Nor is the count taken that comes with them."""
    stored = Stored(s)
    stored.ask(INITIALIZE, start_offset=10)
    for start, complete in (
        (12, 3),
        (11, 5),
        (12, 1),
        (12, 4),
        (-1, 9),
        (-2, 9),
        (13, -4),
        (14, 0),
    ):
        stored.write(start, complete)
        stored.ask(SUMMARY)


@scenario(PROFILE, since="4.2")
def batches_are_combined(s: Session) -> None:
    """The higher count, then the higher state; neighbours; what lies before the start."""
    stored = Stored(s)
    stored.ask(INITIALIZE, start_offset=0)
    for start, batches in (
        (0, [(10, 14, 0, 1), (12, 12, 2, 1), (3, 4, 2, 1)]),
        (0, [(5, 9, 2, 1)]),
        (0, [(10, 11, 4, 1), (13, 13, 0, 2)]),
        (0, [(0, 20, 0, 1)]),
        (6, []),
        (6, [(30, 30, 2, 1), (31, 31, 2, 1), (32, 32, 4, 1), (29, 29, 2, 2)]),
        (8, [(28, 33, 0, 2), (1, 7, 2, 9)]),
    ):
        stored.write(start, 0, *batches)
        stored.ask(READ)


@scenario(PROFILE, since="4.2")
def wrong_partitions(s: Session) -> None:
    """Negative ones, those that the topic does not have, topics that there are not."""
    stored = Stored(s)
    for api in _ALL:
        stored.ask(api, partition=-1)
        stored.ask(api, partition=9)
        stored.ask(api, topic_id="ab" * 16)
        stored.ask(api, topic_id="00" * 16)


@scenario(PROFILE, since="4.2")
def shapes_of_requests(s: Session) -> None:
    """Without a group, without topics, with doubled partitions."""
    stored = Stored(s)
    link = stored.link
    for api in _ALL:
        stored.ask(api, group_id="")
        stored.ask(api, group_id=" ")
        link.ask(api, 0, group_id=stored.group, topics=[])
        link.ask(api, 0, group_id=stored.group, topics=[{"topic_id": stored.id, "partitions": []}])
        doubled = [{"partition": index} for index in (0, 0, 1)]
        link.ask(
            api,
            0,
            group_id=stored.group,
            topics=[
                {"topic_id": stored.id, "partitions": doubled},
                {"topic_id": stored.id, "partitions": doubled},
            ],
        )


@scenario(PROFILE, since="4.2")
def records_of_the_topic(s: Session) -> None:
    """What a consumer reads: snapshots, updates, and after five updates a snapshot; a tombstone."""
    stored = Stored(s)
    stored.ask(INITIALIZE, start_offset=0)
    for count in range(7):
        stored.write(count, count, (20, 20 + count, 0, count + 1))
    stored.ask(READ, leader_epoch=3)
    stored.ask(INITIALIZE, state_epoch=2)
    stored.ask(DELETE)
    s.say("records", _records_of_topic(s, stored))


@scenario(PROFILE, since="4.3")
def which_writes_are_snapshots(s: Session) -> None:
    """SH-ST-3: a read that comes after five updates; and an initialization ends no count of them, but
    where they were enough."""
    stored = Stored(s)
    stored.ask(INITIALIZE, start_offset=0)
    for count in range(5):
        stored.write(0, 0, (20 + count, 20 + count, 2, 1))
    stored.ask(READ, leader_epoch=3)
    for count in range(3):
        stored.write(0, 0, (30 + count, 30 + count, 2, 1), leader_epoch=3)
    stored.ask(INITIALIZE, state_epoch=1, start_offset=0)
    for count in range(4):
        stored.write(0, 0, (40 + count, 40 + count, 2, 1), state_epoch=1, leader_epoch=3)
    for count in range(5):
        stored.write(0, 0, (50 + count, 50 + count, 2, 1), state_epoch=1, leader_epoch=3)
    stored.ask(INITIALIZE, state_epoch=2, start_offset=0)
    for count in range(6):
        stored.write(0, 0, (60 + count, 60 + count, 2, 1), state_epoch=2, leader_epoch=3)
    s.say("records", _records_of_topic(s, stored))


def _records_of_topic(s: Session, stored: Stored) -> list[Plain]:
    """What a consumer of the states' topic reads of the scenario's group."""
    topic_id = id_of(s, "__share_group_state")
    found: list[Plain] = []
    for partition in range(4):
        answer = s.stage().ask_quietly(
            "Fetch",
            13,
            max_wait_ms=100,
            min_bytes=1,
            max_bytes=1 << 24,
            topics=[
                {
                    "topic_id": topic_id,
                    "partitions": [
                        {"partition": partition, "fetch_offset": 0, "partition_max_bytes": 1 << 24}
                    ],
                }
            ],
        )
        raw = bytes.fromhex(answer["responses"][0]["partitions"][0]["records"] or "")
        found += _records_of(raw, stored)
    return found


def _records_of(raw: bytes, stored: Stored) -> list[Plain]:
    """Records of the scenario's group: key and value, without times."""
    found = []
    topic_id, group = bytes.fromhex(stored.id), stored.group.encode()
    at = 0
    while at + 61 <= len(raw):
        end = at + 12 + int.from_bytes(raw[at + 8 : at + 12], "big")
        position = at + 61
        for _ in range(int.from_bytes(raw[at + 57 : at + 61], "big")):
            size, position = _varint(raw, position)
            body, position = raw[position : position + size], position + size
            inside = 1  # attributes
            _, inside = _varint(body, inside)
            _, inside = _varint(body, inside)
            size, inside = _varint(body, inside)
            key, inside = body[inside : inside + size], inside + size
            size, inside = _varint(body, inside)
            value = None if size < 0 else body[inside : inside + size]
            if topic_id in key and group in key:
                found.append(_shown(key.replace(topic_id, b"<id>").replace(group, b"<g>"), value))
        at = end
    return found


def _shown(key: bytes, value: bytes | None) -> Plain:
    snapshot = key[:2] == b"\0\0"
    if value is not None and snapshot:
        value = value[:22] + b"<times>" + value[38:]
    return {
        "key": key.decode("latin-1").encode("unicode_escape").decode(),
        "value": None if value is None else value.hex(),
    }


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number >> 1 ^ -(number & 1), at
