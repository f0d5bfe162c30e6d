"""Where share groups start, as tools see and set it: Describe-, Alter- and DeleteShareGroupOffsets
(KIP-932, SH-OFF-3)."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.consumers import Consumer, topics
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.share_members import ShareMember, describe
from integration_tests.wire.sharing import (
    ACCEPT,
    PROFILE,
    RELEASE,
    Sharer,
    configure,
    id_of,
    initialize,
    records,
)

DESCRIBE, ALTER, DELETE = (
    "DescribeShareGroupOffsets",
    "AlterShareGroupOffsets",
    "DeleteShareGroupOffsets",
)
Of = tuple[str, list[Any]]


class Tool:
    """Somebody with the tool kafka-share-groups, a topic, and a group that reads it."""

    def __init__(self, s: Session, *sizes: int, others: int = 0) -> None:
        self.s = s
        self.topic, *self.others = topics(s, 2, *[1] * others)
        self.id = id_of(s, self.topic)
        self.group = s.name("g")
        configure(s, self.group, {"share.auto.offset.reset": "earliest"})
        other = s.name("other")
        initialize(s, other, self.topic, 0)
        found = ShareMember(s, "finder", other)
        found.join(self.topic)
        found.leave()
        records(s, self.topic, *sizes)
        self.link = s.connect("tool")

    def describe(self, *of: Of, group: str | None = None, version: int = 1) -> Plain:
        """Some partitions of a group; without any: all that it has."""
        named = [{"topic_name": name, "partitions": indexes} for name, indexes in of] or None
        return self.ask_describe(self._group(group), named, version)

    def ask_describe(self, group: str, named: list[Plain] | None, version: int = 1) -> Plain:
        """Just these topics."""
        return self.link.ask(DESCRIBE, version, groups=[{"group_id": group, "topics": named}])

    def alter(self, *of: Of, group: str | None = None) -> Plain:
        """Set (partition, offset) pairs of topics."""
        return self.link.ask(
            ALTER,
            0,
            shuffled="responses",
            group_id=self._group(group),
            topics=[
                {
                    "topic_name": name,
                    "partitions": [
                        {"partition_index": index, "start_offset": offset} for index, offset in rows
                    ],
                }
                for name, rows in of
            ],
        )

    def delete(self, *names: str, group: str | None = None) -> Plain:
        """Forget topics."""
        return self.link.ask(
            DELETE,
            0,
            shuffled="responses",
            group_id=self._group(group),
            topics=[{"topic_name": of} for of in names],
        )

    def stored(self, group: str | None = None, epoch: int = 0) -> Plain:
        """What the share coordinator has of partition 0."""
        rows = [{"partition": 0, "leader_epoch": epoch}]
        return self.link.ask(
            "ReadShareGroupState",
            0,
            group_id=self._group(group),
            topics=[{"topic_id": self.id, "partitions": rows}],
        )

    def _group(self, group: str | None) -> str:
        return self.group if group is None else group


@scenario(PROFILE, since="4.2")
def offsets_of_groups_that_are_none(s: Session) -> None:
    """Of groups that nobody made, those of another type, and ""."""
    tool = Tool(s, 5)
    a = Consumer(s, "a", s.name("consumers"))
    a.join(tool.topic)
    for group in (s.name("nobody"), a.group, ""):
        tool.describe((tool.topic, [0]), group=group)
        tool.describe(group=group)
        tool.ask_describe(group, [])
        tool.delete(tool.topic, group=group)
    for group in (a.group, ""):
        tool.alter((tool.topic, [(0, 1)]), group=group)
    tool.describe((s.name("nope"), [0, 1]))
    tool.link.ask(DESCRIBE, 1, groups=[])


@scenario(PROFILE, since="4.2")
def offsets_while_records_are_acknowledged(s: Session) -> None:
    """Start and lag of a group that works; nobody may set or delete them meanwhile."""
    tool = Tool(s, 5, 3)
    m = ShareMember(s, "m", tool.group)
    m.join(tool.topic)
    m.until(2)
    tool.describe((tool.topic, [0, 1]))
    tool.describe()
    tool.ask_describe(tool.group, [])
    a = Sharer(tool, "a")
    a.begin()
    a.acknowledge((0, 1, ACCEPT))
    tool.describe((tool.topic, [1, 0, 0]), (tool.topic, [0]))
    a.acknowledge((2, 2, RELEASE), (3, 4, ACCEPT))
    tool.describe()
    tool.describe((tool.topic, [0]), version=0)
    tool.alter((tool.topic, [(0, 1)]))
    tool.delete(tool.topic)
    m.leave()
    tool.describe()


@scenario(PROFILE, since="4.2")
def offsets_set_by_hand(s: Session) -> None:
    """Any offset is taken; the last of a partition counts; topics and partitions that there are not
    are told by themselves."""
    tool = Tool(s, 8)
    m = ShareMember(s, "m", tool.group)
    m.join(tool.topic)
    m.until(2)
    m.leave()
    nope = s.name("nope")
    tool.alter((tool.topic, [(0, 1), (7, 1)]), (nope, [(0, 1)]))
    tool.describe()
    tool.stored()
    for offset in (0, 8, 5_000, -1, -5):
        tool.alter((tool.topic, [(0, offset)]))
        tool.describe()
    tool.alter((tool.topic, [(0, 1)]), (tool.topic, [(0, 2), (1, 3)]))
    tool.alter((tool.topic, [(0, 5), (0, 6)]))
    tool.describe()
    tool.alter()
    tool.alter((tool.topic, []))
    tool.alter((tool.topic, [(-1, 1)]))
    tool.describe()
    tool.stored()


@scenario(PROFILE, since="4.2")
def offsets_make_a_group(s: Session) -> None:
    """An offset makes a group that there was not, unless nothing is known of what is named."""
    tool = Tool(s, 8)
    new, none = s.name("new"), s.name("none")
    tool.alter((tool.topic, [(0, 3)]), group=new)
    describe(tool.link, new)
    tool.describe(group=new)
    tool.stored(new)
    nope = s.name("nope")
    tool.alter((nope, [(0, 1)]), group=none)
    describe(tool.link, none)
    tool.describe(group=none)


@scenario(PROFILE, since="4.2")
def offsets_deleted(s: Session) -> None:
    """Nothing is kept of a topic any more; others stay."""
    tool = Tool(s, 8, others=2)
    second, third = tool.others
    tool.alter((tool.topic, [(0, 3), (1, 1)]), (second, [(0, 0)]))
    tool.delete(tool.topic, tool.topic, s.name("nope"), third)
    tool.describe()
    tool.describe((tool.topic, [0, 1]))
    tool.stored()
    tool.delete(tool.topic)
    tool.delete()
    tool.delete(second)
    tool.describe()
    describe(tool.link, tool.group)


@scenario(PROFILE, since="4.2")
def a_member_reads_where_it_was_told(s: Session) -> None:
    """A group that comes after its offset was set starts there."""
    tool = Tool(s, 4, 4)
    tool.alter((tool.topic, [(0, 5)]))
    m = ShareMember(s, "m", tool.group)
    m.join(tool.topic)
    m.until(2)
    describe(tool.link, tool.group)
    a = Sharer(tool, "a")
    a.begin()
    a.acknowledge((5, 7, ACCEPT))
    tool.describe()


@scenario(PROFILE, since="4.2")
def a_topic_grows_under_a_share_group(s: Session) -> None:
    """Its new partition is read from 0, whatever the group's reset says (SH-44-1)."""
    tool = Tool(s, 4)
    configure(s, tool.group, {"share.auto.offset.reset": "latest"})
    m = ShareMember(s, "m", tool.group)
    m.join(tool.topic)
    m.until(2)
    grown: Plain = {"name": tool.topic, "count": 3, "assignments": None}
    tool.link.ask("CreatePartitions", 3, topics=[grown], timeout_ms=5_000, validate_only=False)
    records(s, tool.topic, 2, partition=2)
    m.until(3)
    tool.describe()
    a = Sharer(tool, "a")
    a.begin(0, 2)
