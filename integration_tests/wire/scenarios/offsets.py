"""OffsetCommit 2-10, OffsetFetch 1-10, OffsetDelete 0: who may commit, what is kept, what is
told."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.people import (
    ZERO_ID,
    Member,
    await_topic,
    protocols,
    stable,
    subscription,
    topic,
    topic_id,
    until,
)
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario


def commit(
    link: Link, group: str, name: str, *entries: Plain, version: int = 9, **other: Any
) -> Plain:
    """OffsetCommit without a member, unless told otherwise. `name` is the topic's id in version
    10."""
    named = {"topic_id": name} if version >= 10 else {"name": name}
    topics = [{**named, "partitions": list(entries)}]
    fields: Plain = {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": topics,
    }
    return link.ask("OffsetCommit", version, **(fields | other))


def at(partition: int, offset: int, **other: Any) -> Plain:
    """One partition of a commit."""
    return {"partition_index": partition, "committed_offset": offset} | other


def committed(
    link: Link, group: str, name: str | None, *partitions: int, version: int = 9, **other: Any
) -> Plain:
    """OffsetFetch of one group; `name` None for all topics. `name` is the topic's id in version
    10."""
    if version >= 8:
        topics = (
            None
            if name is None
            else [
                {
                    "topic_id" if version >= 10 else "name": name,
                    "partition_indexes": list(partitions),
                }
            ]
        )
        return link.ask(
            "OffsetFetch", version, groups=[{"group_id": group, "topics": topics} | other]
        )
    topics = None if name is None else [{"name": name, "partition_indexes": list(partitions)}]
    return link.ask("OffsetFetch", version, group_id=group, topics=topics, **other)


@scenario()
def commit_and_fetch_in_every_version(s: Session) -> None:
    """OC-1, OC-8, OF-2, OF-6: a simple group's life, each version's shape; metadata and leader
    epochs."""
    a = s.connect()
    name = topic(s, "t", 3)
    for version in range(2, 11):
        group = s.name(f"g{version}")
        where = topic_id(s, name) if version >= 10 else name
        epoch: Plain = {"committed_leader_epoch": 4} if version >= 6 else {}
        noted, null = at(1, 11, committed_metadata="note"), at(2, -5, committed_metadata=None)
        commit(a, group, where, at(0, 10, **epoch), noted, null, version=version)
        commit(a, group, where, at(9, 1), at(-1, 1), version=version)
        for fetched in range(1, 11):
            known = topic_id(s, name) if fetched >= 10 else name
            committed(a, group, known, 0, 1, 2, 7, version=fetched)
    a.ask("ListGroups", 5, only="groups")


@scenario()
def fetching_everything(s: Session) -> None:
    """OF-3, OF-1: null topics mean all; version 1 has no null, and an empty list means nothing
    everywhere."""
    a = s.connect()
    name, group = topic(s, "t", 2), s.name("g")
    commit(a, group, name, at(1, 11), at(0, 10))
    for version in range(2, 11):
        committed(a, group, None, version=version)
        committed(a, s.name("nowhere"), None, version=version)
    for version in (1, 2, 7):
        a.ask("OffsetFetch", version, group_id=group, topics=[])
    for version in (8, 9, 10):
        a.ask("OffsetFetch", version, groups=[{"group_id": group, "topics": []}])
    committed(a, s.name("nowhere"), name, 0)
    committed(a, group, s.name("nope"), 0, 1)
    committed(a, group, name)
    committed(a, group, "", 0)
    committed(a, group, name, 0, 0)


@scenario()
def several_groups_at_once(s: Session) -> None:
    """OF-8, OF-9: answered one by one in the request's order; member ids do not matter to classic
    groups."""
    a = s.connect()
    name = topic(s, "t")
    one, two = s.name("one"), s.name("two")
    commit(a, one, name, at(0, 1))
    commit(a, two, name, at(0, 2))
    asked = [{"name": name, "partition_indexes": [0]}]
    for version in (8, 9):
        groups = [{"group_id": g, "topics": asked} for g in (two, s.name("nowhere"), one, "", two)]
        a.ask("OffsetFetch", version, groups=groups)
        a.ask("OffsetFetch", version, groups=[])
    a.ask(
        "OffsetFetch",
        9,
        groups=[{"group_id": one, "member_id": "ghost", "member_epoch": 3, "topics": asked}],
    )
    a.ask("OffsetFetch", 9, groups=[{"group_id": one, "topics": asked}], require_stable=True)
    a.ask("OffsetFetch", 7, group_id=one, topics=asked, require_stable=True)


@scenario()
def topic_ids(s: Session) -> None:
    """VER-5, VER-6: version 10 speaks ids; unknown and zero ids get 100 each, the rest is done."""
    a = s.connect()
    name, group = topic(s, "t"), s.name("g")
    identity = topic_id(s, name)
    mixed = [
        {"topic_id": i, "partitions": [at(0, 5), at(3, 5)]} for i in (identity, "f" * 32, ZERO_ID)
    ]
    commit(a, group, identity, version=10, topics=mixed)
    commit(a, group, "f" * 32, at(0, 1), version=10, generation_id_or_member_epoch=5)
    asked = [{"topic_id": i, "partition_indexes": [0, 3]} for i in ("f" * 32, identity, ZERO_ID)]
    a.ask("OffsetFetch", 10, groups=[{"group_id": group, "topics": asked}])
    a.ask("OffsetFetch", 10, groups=[{"group_id": s.name("nowhere"), "topics": asked}])
    committed(a, group, None, version=10)
    committed(a, group, None, version=9)
    a.ask("DeleteTopics", 6, topics=[{"name": name, "topic_id": ZERO_ID}], timeout_ms=5000)
    await_topic(s.stage(), name, None)
    commit(a, group, identity, at(0, 6), version=10)
    a.ask("OffsetFetch", 10, groups=[{"group_id": group, "topics": asked}])


@scenario()
def unknown_topics(s: Session) -> None:
    """OC-6: 3 each, the rest is committed; with nothing left the group is not looked at."""
    a = s.connect()
    name, group = topic(s, "t"), s.name("g")
    mixed = [{"name": n, "partitions": [at(0, 5), at(1, 5)]} for n in (s.name("nope"), name, "a b")]
    commit(a, group, name, topics=mixed)
    commit(a, s.name("nowhere"), s.name("nope"), at(0, 1), generation_id_or_member_epoch=4)
    commit(a, s.name("nowhere"), name, at(5, 1), generation_id_or_member_epoch=4)
    commit(a, s.name("nowhere"), name, at(0, 1), generation_id_or_member_epoch=4)
    commit(a, s.name("nowhere"), name, at(0, 1), at(5, 1), generation_id_or_member_epoch=4)
    commit(a, group, name)
    commit(a, group, name, topics=[])
    commit(a, group, name, topics=[], generation_id_or_member_epoch=4)
    commit(a, group, "", at(0, 1))
    commit(a, group, name, at(0, 1), at(0, 2))
    committed(a, group, name, 0)
    twice = [{"name": name, "partitions": [at(0, 3)]}, {"name": name, "partitions": [at(0, 4)]}]
    commit(a, group, name, topics=twice)
    committed(a, group, name, 0)


@scenario()
def commits_without_a_group(s: Session) -> None:
    """OC-1, ENT-6: unknown group, generations below and above zero, in each version; the group
    called ""."""
    a = s.connect()
    name = topic(s, "t")
    for version in range(2, 10):
        for generation in (-1, -2, 0, 5):
            commit(
                a,
                s.name(f"g{version}{generation}"),
                name,
                at(0, 1),
                version=version,
                generation_id_or_member_epoch=generation,
            )
    commit(a, s.name("with-member"), name, at(0, 1), member_id="ghost")
    commit(a, s.name("with-instance"), name, at(0, 1), group_instance_id="i1")
    commit(
        a,
        s.name("with-generation"),
        name,
        at(0, 1),
        member_id="ghost",
        generation_id_or_member_epoch=3,
    )
    a.ask("ListGroups", 5, only="groups")


@scenario()
def commits_to_an_empty_group(s: Session) -> None:
    """OC-2, OC-3: Empty takes any commit below generation 0; others must name a member, and none is
    there."""
    a = s.connect()
    name, group = topic(s, "t"), s.name("g")
    (member,) = stable(s, group, "m")
    member.leave()
    commit(a, group, name, at(0, 1))
    commit(a, group, name, at(0, 2), member_id="ghost", group_instance_id="i1")
    commit(a, group, name, at(0, 3), generation_id_or_member_epoch=2)
    commit(a, group, name, at(0, 3), generation_id_or_member_epoch=2, member_id=member.member_id)
    commit(a, group, name, at(0, 3), generation_id_or_member_epoch=0)
    committed(a, group, name, 0)


@scenario()
def commits_in_every_state(s: Session) -> None:
    """OC-2, OC-3, OC-4: Stable, PreparingRebalance, CompletingRebalance; anonymous, wrong and
    right."""
    name, group = topic(s, "t", 2), s.name("g")
    a, b = stable(s, group, "a", "b")
    admin = s.connect("admin")

    def all_kinds(offset: int) -> None:
        commit(admin, group, name, at(0, offset), at(1, offset))
        a.commit(name, offset)
        a.commit(name, offset, generation_id_or_member_epoch=1)
        a.commit(name, offset, generation_id_or_member_epoch=99)
        a.commit(name, offset, generation_id_or_member_epoch=-1)
        a.commit(name, offset, member_id="ghost")
        a.commit(name, offset, member_id="")
        a.commit(
            name, offset, member_id="", generation_id_or_member_epoch=-1, group_instance_id="i1"
        )
        for version in (2, 5, 6, 8):
            a.commit(name, offset, version=version)

    all_kinds(1)
    b.send_join(protocols=protocols("range", metadata="01"))
    until(s, group, "PreparingRebalance")
    all_kinds(2)
    a.send_join()
    a.take_join()
    b.take_join()
    all_kinds(3)
    committed(admin, group, name, 0, 1)


@scenario()
def long_metadata(s: Session) -> None:
    """OC-5: more than offset.metadata.max.bytes, counted in UTF-16 units, is 12 for that partition
    alone."""
    a = s.connect()
    name, group = topic(s, "t", 4), s.name("g")
    commit(
        a,
        group,
        name,
        at(0, 1, committed_metadata="x" * 4096),
        at(1, 1, committed_metadata="x" * 4097),
        at(2, 1),
    )
    commit(a, group, name, at(0, 2, committed_metadata="x" * 4097))
    wide = at(1, 3, committed_metadata="𝒳" * 2048), at(2, 3, committed_metadata="𝒳" * 2049)
    commit(a, group, name, at(0, 3, committed_metadata="ü" * 4096), *wide)
    answer = a.ask_quietly("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
    s.say(
        "kept",
        [
            [p["partition_index"], p["committed_offset"], len(p["metadata"])]
            for p in sorted(
                answer["groups"][0]["topics"][0]["partitions"],
                key=lambda p: int(p["partition_index"]),
            )
        ],
    )


@scenario("limits")
def metadata_at_another_limit(s: Session) -> None:
    """OC-5: offset.metadata.max.bytes=10."""
    a = s.connect()
    name, group = topic(s, "t", 2), s.name("g")
    commit(
        a, group, name, at(0, 1, committed_metadata="x" * 10), at(1, 1, committed_metadata="x" * 11)
    )


@scenario()
def deleting_a_topic_drops_its_offsets(s: Session) -> None:
    """EXP-7: in every group, and soon."""
    a = s.connect()
    gone, kept, group = topic(s, "gone"), topic(s, "kept"), s.name("g")
    commit(a, group, gone, at(0, 1))
    commit(a, group, kept, at(0, 2))
    a.ask_quietly("DeleteTopics", 5, topic_names=[gone], timeout_ms=5000)
    await_topic(s.stage(), gone, None)

    def one_is_left() -> bool:
        return (
            len(
                a.ask_quietly("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])[
                    "groups"
                ][0]["topics"]
            )
            == 1
        )

    s.until(one_is_left, "the offsets of the deleted topic stayed")
    committed(a, group, None)


def forget(link: Link, group: str, *names: str, partitions: tuple[int, ...] = (0,)) -> Plain:
    """OffsetDelete, and its answer."""
    topics = [
        {"name": n, "partitions": [{"partition_index": p} for p in partitions]} for n in names
    ]
    return link.ask("OffsetDelete", 0, group_id=group, topics=topics, shuffled="topics")


@scenario(since="4.3")
def topics_named_twice_in_offset_delete(s: Session) -> None:
    """OD-3: they stay apart in the answer, but where a partition is refused."""
    a = s.connect()
    name, other, group = topic(s, "t", 2), topic(s, "other"), s.name("g")
    commit(a, group, name, at(0, 1), at(1, 2))
    forget(a, group, name, other, name)
    forget(a, group, name, name, partitions=(0, 1, 0))
    forget(a, group, name, name, partitions=(0, 7))
    forget(a, group, name, s.name("nope"), name, s.name("nope"))
    forget(a, group, name, name, partitions=())


@scenario()
def offset_delete(s: Session) -> None:
    """OD-1, OD-2, OD-3, VER-11, ENT-6: unknown groups and topics, simple and Empty groups, nothing
    there to delete."""
    a = s.connect()
    name, other, group = topic(s, "t", 2), topic(s, "other"), s.name("g")
    forget(a, "", name)
    forget(a, s.name("nowhere"), name)
    forget(a, s.name("nowhere"), s.name("nope"))
    forget(a, s.name("nowhere"))
    commit(a, group, name, at(0, 1), at(1, 2))
    forget(a, group, name, s.name("nope"), partitions=(0, 7))
    committed(a, group, name, 0, 1)
    forget(a, group, other)
    forget(a, group, name, partitions=())
    forget(a, group)
    forget(a, group, name, partitions=(1, 1))
    committed(a, group, None)
    forget(a, group, name)


@scenario()
def offset_delete_of_a_living_group(s: Session) -> None:
    """OD-2: topics that a member subscribes to are kept (86); unreadable subscriptions mean all;
    other types 68."""
    admin = s.connect("admin")
    mine, other = topic(s, "mine"), topic(s, "other")
    group = s.name("g")
    a = Member(s, "a", group, protocols=protocols("range", metadata=subscription(mine)))
    a.join()
    a.sync({})
    a.commit(mine, 1)
    a.commit(other, 2)
    forget(admin, group, mine, other)
    committed(admin, group, None)
    a.leave()
    forget(admin, group, mine)
    unreadable = Member(s, "u", s.name("unreadable"), protocols=protocols("range", metadata="ff"))
    unreadable.join()
    unreadable.sync({})
    forget(admin, s.name("unreadable"), mine, other)
    connect = Member(s, "c", s.name("connect"), protocol_type="connect")
    connect.join()
    forget(admin, s.name("connect"), mine)
    forget(admin, s.name("connect"), s.name("nope"))


@scenario()
def retention_of_old_versions(s: Session) -> None:
    """OC-8: versions 2-4 say how long; -1 is the broker's own time."""
    a = s.connect()
    name = topic(s, "t")
    for version in (2, 3, 4):
        for retention in (-1, 3_600_000):
            group = s.name(f"g{version}{retention}")
            commit(a, group, name, at(0, 1), version=version, retention_time_ms=retention)
            committed(a, group, name, 0)
