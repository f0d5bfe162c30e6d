"""Cast and props that scenarios share: members who know their own ids, topics that are there when
told so, Java's order."""

from __future__ import annotations

import struct
from typing import Any

from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session

ZERO_ID = "0" * 32


def subscription(*topics: str, version: int = 0, user_data: bytes | None = None) -> str:
    """The bytes of a consumer's subscription, version 0."""
    body = struct.pack(">hi", version, len(topics)) + b"".join(
        struct.pack(">h", len(t)) + t.encode() for t in topics
    )
    return (
        body
        + (
            b"\xff\xff\xff\xff"
            if user_data is None
            else struct.pack(">i", len(user_data)) + user_data
        )
    ).hex()


def assignment(topic: str, *partitions: int) -> str:
    """The bytes of a consumer's assignment, version 0, one topic."""
    listed = b"".join(struct.pack(">i", p) for p in partitions)
    head = struct.pack(">hih", 0, 1, len(topic)) + topic.encode()
    return (head + struct.pack(">i", len(partitions)) + listed + b"\xff\xff\xff\xff").hex()


def protocols(*names: str, metadata: str = "000000000000ffffffff") -> list[Plain]:
    """A member's assignors in its order, all with the same metadata."""
    return [{"name": name, "metadata": metadata} for name in names]


def java_hash(text: str) -> int:
    """Java's String.hashCode, as an unsigned number."""
    value = 0
    for unit in struct.unpack(f">{len(text.encode('utf-16-be')) // 2}H", text.encode("utf-16-be")):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value


def java_order(keys: list[str]) -> list[str]:
    """The order in which a java.util.HashMap that was given `keys` in this order walks over
    them."""
    size = 16
    while len(keys) > size * 3 // 4:
        size *= 2
    return sorted(keys, key=lambda key: (java_hash(key) ^ java_hash(key) >> 16) & (size - 1))


def topic(s: Session, label: str, partitions: int = 1, **configs: str) -> str:
    """Create a topic, without a step in the transcript, and return its name once a broker's
    metadata shows it."""
    link, name = s.stage(), s.name(label)
    link.ask_quietly(
        "CreateTopics",
        7,
        topics=[
            {
                "name": name,
                "num_partitions": partitions,
                "replication_factor": 1,
                "assignments": [],
                "configs": [{"name": k.replace("_", "."), "value": v} for k, v in configs.items()],
            }
        ],
        timeout_ms=5000,
        validate_only=False,
    )
    await_topic(link, name, partitions)
    return name


def await_topic(link: Link, name: str, partitions: int | None) -> Plain:
    """Ask until the topic has that many partitions, all led; None: until it is gone."""
    found: Plain = {}

    def settled() -> bool:
        nonlocal found
        found = link.ask_quietly(
            "Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False
        )["topics"][0]
        led = [p["partition_index"] for p in found["partitions"] if p["error_code"] == 0]
        return (
            len(led) == (partitions or 0)
            and (found["error_code"] == 0) is bool(partitions)
            and _serving(link, name, led)
        )

    link.session.until(settled, f"{name} never had {partitions} partitions")
    return found


def _serving(link: Link, name: str, partitions: list[int]) -> bool:
    """Does the leader know by now that it leads? Metadata may be ahead of it."""
    entries = [{"partition_index": p, "timestamp": -1} for p in partitions]
    if not entries:
        return True
    answer = link.ask_quietly(
        "ListOffsets",
        4,
        replica_id=-1,
        isolation_level=0,
        topics=[{"name": name, "partitions": entries}],
    )
    return all(p["error_code"] == 0 for p in answer["topics"][0]["partitions"])


def topic_id(s: Session, name: str) -> str:
    """The id of a topic that exists."""
    return str(
        s.stage().ask_quietly(
            "Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False
        )["topics"][0]["topic_id"]
    )


class Member:
    """A member on its own connection: remembers its member id, generation and protocol from the
    last answer."""

    def __init__(
        self,
        s: Session,
        label: str,
        group: str,
        *,
        version: int = 9,
        instance: str | None = None,
        **join: Any,
    ) -> None:
        self.session = s
        self.link: Link = s.connect(label, client_id=label)
        self.group = group
        self.version = version
        self.instance = instance
        self.member_id = ""
        self.generation = -1
        self.leader = False
        self.last_answer: Plain | None = None
        self.join_fields: Plain = {
            "session_timeout_ms": 30_000,
            "rebalance_timeout_ms": 60_000,
            "protocol_type": "consumer",
            "protocols": protocols("range"),
            **join,
        }

    def identity(self, since: bool = True) -> Plain:
        """Group, member and instance fields of a request that has them."""
        return {"group_id": self.group, "member_id": self.member_id} | (
            {"group_instance_id": self.instance} if since else {}
        )

    def send_join(self, **other: Any) -> None:
        """Send JoinGroup and leave it parked."""
        fields = self.identity(self.version >= 5) | self.join_fields | other
        if self.version < 1:
            fields.pop("rebalance_timeout_ms", None)
        self.link.send("JoinGroup", self.version, **fields)

    def take_join(self) -> Plain:
        """Await the answer of the parked JoinGroup, and remember what it says."""
        answer = self.link.expect()
        self.learn(answer)
        return answer

    def learn(self, answer: Plain) -> None:
        """Remember what the answer to a JoinGroup says."""
        if answer["error_code"] == 0:
            self.generation = answer["generation_id"]
            self.leader = answer["leader"] == answer["member_id"]
        if answer["error_code"] in (0, 79):
            self.member_id = answer["member_id"]

    def reconnect(self) -> None:
        """Hang up, and go on from another connection under the same name."""
        self.link.connection.close()
        self.session.note(self.link.name, hung_up=True)
        self.link = self.session.connect(self.link.name, client_id=self.link.name)

    def join(self, **other: Any) -> Plain:
        """JoinGroup and its answer; once more with the id when that is what the broker asks for."""
        self.send_join(**other)
        answer = self.take_join()
        if answer["error_code"] == 79:
            self.send_join(**other)
            answer = self.take_join()
        return answer

    def enter(self, **other: Any) -> None:
        """Join up to where the request with a member id is parked."""
        self.send_join(**other)
        if self.version >= 4 and self.instance is None and self.member_id == "":
            self.take_join()
            self.send_join(**other)

    def send_sync(
        self, assignments: dict[str, str] | None = None, version: int = 5, **other: Any
    ) -> None:
        """Send SyncGroup and leave it parked; `assignments` by member id."""
        listed: list[Plain] = [
            {"member_id": m, "assignment": a} for m, a in (assignments or {}).items()
        ]
        named: Plain = (
            {"protocol_type": "consumer", "protocol_name": "range"} if version >= 5 else {}
        )
        fields = (
            self.identity(version >= 3)
            | {"generation_id": self.generation, "assignments": listed}
            | named
            | other
        )
        self.link.send("SyncGroup", version, **fields)

    def sync(
        self, assignments: dict[str, str] | None = None, version: int = 5, **other: Any
    ) -> Plain:
        """SyncGroup and its answer."""
        self.send_sync(assignments, version, **other)
        return self.link.expect()

    def heartbeat(self, version: int = 4, **other: Any) -> Plain:
        """Heartbeat and its answer."""
        return self.link.ask(
            "Heartbeat",
            version,
            **(self.identity(version >= 3) | {"generation_id": self.generation} | other),
        )

    def leave(self, version: int = 5, **other: Any) -> Plain:
        """LeaveGroup of this one member, and its answer."""
        if version < 3:
            return self.link.ask(
                "LeaveGroup",
                version,
                **({"group_id": self.group, "member_id": self.member_id} | other),
            )
        gone: Plain = {"member_id": self.member_id, "group_instance_id": self.instance}
        return self.link.ask(
            "LeaveGroup", version, **({"group_id": self.group, "members": [gone]} | other)
        )

    def commit(
        self, topic_name: str, offset: int, partition: int = 0, version: int = 9, **other: Any
    ) -> Plain:
        """OffsetCommit of one partition under this member's generation, and its answer."""
        partitions = [{"partition_index": partition, "committed_offset": offset}]
        fields: Plain = {
            "group_id": self.group,
            "generation_id_or_member_epoch": self.generation,
            "member_id": self.member_id,
        }
        if version >= 7:
            fields["group_instance_id"] = self.instance
        return self.link.ask(
            "OffsetCommit",
            version,
            **(fields | {"topics": [{"name": topic_name, "partitions": partitions}]} | other),
        )


def stable(s: Session, group: str, *labels: str, **join: Any) -> list[Member]:
    """A Stable group of so many members; the first leads and gives each its label's bytes as
    assignment."""
    members: list[Member] = []
    for label in labels:
        newcomer = Member(s, label, group, **join)
        newcomer.enter()
        if members:
            until(s, group, "PreparingRebalance")
        for member in members:
            member.send_join()
        members.append(newcomer)
        for member in [*members[:-1], newcomer]:
            member.take_join()
        leader = next(m for m in members if m.leader)
        for member in members:
            member.send_sync(
                {m.member_id: m.link.name.encode().hex() for m in members}
                if member is leader
                else None
            )
        for member in members:
            member.link.expect()
    return members


def describe(link: Link, group: str, version: int = 6) -> Plain:
    """DescribeGroups of one group."""
    return link.ask("DescribeGroups", version, groups=[group])


def state(s: Session, group: str) -> str:
    """The group's state, asked without a step."""
    return str(
        s.stage().ask_quietly("DescribeGroups", 6, groups=[group])["groups"][0]["group_state"]
    )


def until(s: Session, group: str, wanted: str) -> None:
    """Wait, without a step, until the group is in the state wanted: requests of several connections
    are then in a known order."""
    s.until(lambda: state(s, group) == wanted, f"the group never became {wanted}")


def until_members(s: Session, group: str, count: int) -> None:
    """Wait, without a step, until the group counts so many members: they have then come in a known
    order."""

    def counted() -> bool:
        return (
            len(s.stage().ask_quietly("DescribeGroups", 6, groups=[group])["groups"][0]["members"])
            == count
        )

    s.until(counted, f"the group never had {count} members")
