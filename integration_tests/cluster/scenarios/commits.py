"""Committed offsets in every version, with leader epochs and metadata, at the next coordinator; and
what can be deleted there."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.consumers import Consumer, _topic
from integration_tests.cluster.scenarios.coordinators import Transactor, _settled
from integration_tests.cluster.scenarios.moved_transactions import ends
from integration_tests.cluster.scenarios.second_version import Newer, _moved
from integration_tests.cluster.scenarios.standstills import commit, coordinated, fetched
from integration_tests.cluster.stage import OFFSETS, TRANSACTIONS, Cluster, rows
from integration_tests.wire.people import protocols, subscription
from integration_tests.wire.raw import Plain


def told(c: Cluster, group: str, broker: int, *offsets: int) -> None:
    """Wait until a broker tells these offsets of a group: the next leader learns a moment later
    what is committed."""

    def known() -> bool:
        (found,) = c.quietly(
            "OffsetFetch", 9, broker, groups=[{"group_id": group, "topics": None}]
        )["groups"]
        return sorted(
            one["committed_offset"] for one in rows(found, "topics", "partitions")
        ) == sorted(offsets)

    c.s.until(known, f"{broker} never told {offsets} of {c.s.names.text(group)}")


@scenario
def offsets_in_every_version(c: Cluster) -> None:
    """OC rules: epochs, metadata, too much of it, unknown topics; what was committed in one version
    is told in every other."""
    name, nope, group = c.topic("t", [1, 2], [2, 1], [3, 1]), c.s.name("nope"), c.name("g", 3)
    for version in (2, 5, 6, 7, 8, 9):
        entries: list[Plain] = [
            {
                "partition_index": 0,
                "committed_offset": version,
                "committed_metadata": f"v{version}",
            },
            {"partition_index": 1, "committed_offset": 10 + version, "committed_metadata": None},
            {"partition_index": 7, "committed_offset": 1},
            {"partition_index": 2, "committed_offset": 20, "committed_metadata": "x" * 4097},
        ]
        for entry in entries if version >= 6 else ():
            entry["committed_leader_epoch"] = 3
        fields: Plain = {"retention_time_ms": 60_000} if version < 5 else {}
        topics = [
            {"name": name, "partitions": entries},
            {"name": nope, "partitions": [{"partition_index": 0, "committed_offset": 1}]},
        ]
        c.at(3).ask(
            "OffsetCommit",
            version,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=topics,
            **fields,
        )
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=1)
    told(c, group, 1, 9, 19)
    for version in (1, 2, 3, 5, 6, 7):
        wanted = [
            {"name": name, "partition_indexes": [0, 1, 2, 7]},
            {"name": nope, "partition_indexes": [0]},
        ]
        c.at(1).ask("OffsetFetch", version, group_id=group, topics=wanted)
    for version in (8, 9):
        wanted = [{"name": name, "partition_indexes": [0, 2]}]
        groups = [{"group_id": each, "topics": wanted} for each in (group, c.name("other", 3))]
        c.at(1).ask("OffsetFetch", version, groups=groups)
    c.at(1).ask("OffsetFetch", 2, group_id=group, topics=None)


@scenario
def epochs_of_offsets_in_transactions(c: Cluster) -> None:
    """TXN-5: leader epochs and metadata of a transaction's offsets are there at the next
    coordinator, once it is committed."""
    name, group = c.topic("t", [1, 2], [2, 1]), c.name("g", 3)
    one, other = Newer(c, "tx"), Transactor(c, "other")
    one.init()
    other.init()
    for each, version, partition in ((one, 5, 0), (other, 3, 1)):
        if version == 3:
            c.at(3).ask("AddOffsetsToTxn", 3, **each.who, group_id=group)
        entry = {
            "partition_index": partition,
            "committed_offset": 5,
            "committed_leader_epoch": 7,
            "committed_metadata": "m",
        }
        too_much = {
            "partition_index": 1 - partition,
            "committed_offset": 5,
            "committed_metadata": "x" * 4097,
        }
        c.at(3).ask(
            "TxnOffsetCommit",
            version,
            **each.who,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=[{"name": name, "partitions": [entry]}],
        )
        c.at(3).ask(
            "TxnOffsetCommit",
            version,
            **each.who,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=[{"name": name, "partitions": [too_much]}],
        )
    c.stop(3)
    for topic in (OFFSETS, TRANSACTIONS):
        c.until(topic, 2, leader_id=1)
    coordinated(c, group, 1)
    _moved(c, one, 1)
    fetched(c, group, 1)
    one.finish(1)
    other.end(1, committed=False)
    ends(c, one, 1)
    ends(c, other, 1, "CompleteAbort")
    told(c, group, 1, 5)
    fetched(c, group, 1)
    c.at(1).ask(
        "OffsetFetch",
        7,
        group_id=group,
        topics=[{"name": name, "partition_indexes": [0, 1]}],
        require_stable=True,
    )


@scenario
def deletions_at_the_next_coordinator(c: Cluster) -> None:
    """OffsetDelete and DeleteGroups of groups in each state: subscribed topics, members, none, and
    groups that are not there."""
    name, other = _topic(c, 1), c.topic("other", [1, 2])
    named = {
        label: c.name(label, 3)
        for label in ("classic", "subscribed", "consumer", "simple", "nobody")
    }
    one = _settled(c, named["classic"], "one", 3)
    join: Plain = {
        "session_timeout_ms": 60_000,
        "rebalance_timeout_ms": 120_000,
        "protocol_type": "consumer",
        "group_instance_id": "i",
    }
    two = c.at(3).ask(
        "JoinGroup",
        9,
        group_id=named["subscribed"],
        member_id="",
        **join,
        protocols=protocols("range", metadata=subscription(name)),
    )["member_id"]
    c.at(3).ask(
        "SyncGroup",
        5,
        group_id=named["subscribed"],
        generation_id=1,
        member_id=two,
        group_instance_id="i",
        protocol_type="consumer",
        protocol_name="range",
        assignments=[],
    )
    three = Consumer(c, "three", named["consumer"])
    three.join(3, name)
    three.ack(3)
    for label, member in (
        ("classic", {"member_id": one.member_id, "generation_id_or_member_epoch": 1}),
        (
            "subscribed",
            {"member_id": two, "generation_id_or_member_epoch": 1, "group_instance_id": "i"},
        ),
        ("consumer", {"member_id": "member-three", "generation_id_or_member_epoch": three.epoch}),
        ("simple", {}),
    ):
        for topic in (name, other):
            commit(c, named[label], topic, 5, 3, **member)
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=1)
    for label in ("classic", "subscribed", "consumer", "simple"):
        told(c, named[label], 1, 5, 5)
    for label, group in named.items():
        for topic in (name, other, c.s.name("nope")):
            partitions = [{"partition_index": 0}, {"partition_index": 5}]
            c.at(1).ask(
                "OffsetDelete",
                0,
                group_id=group,
                topics=[{"name": topic, "partitions": partitions}],
            )
        c.s.say("group", label)
        fetched(c, group, 1)
    c.at(1).ask("DeleteGroups", 2, groups_names=list(named.values()), shuffled="results")
    for group in named.values():
        fetched(c, group, 1)
    c.at(1).ask("ListGroups", 5, only="groups")


@scenario
def groups_by_state_and_type(c: Cluster) -> None:
    """LST rules: the filters of ListGroups at the next coordinator, with groups of both types."""
    name = _topic(c, 1)
    stable, simple, left, consumer, empty = (
        c.name(label, 3) for label in ("stable", "simple", "left", "consumer", "empty")
    )
    _settled(c, stable, "one", 3)
    commit(c, simple, name, 5, 3)
    gone = _settled(c, left, "gone", 3)
    commit(c, left, name, 5, 3, member_id=gone.member_id, generation_id_or_member_epoch=1)
    c.at(3).ask(
        "LeaveGroup",
        5,
        group_id=left,
        members=[{"member_id": gone.member_id, "group_instance_id": None}],
    )
    for group in (consumer, empty):
        member = Consumer(c, "c", group)
        member.join(3, name)
        member.ack(3)
        if group == empty:
            member.commit(3, name, 5)
            member.beat(3, member_epoch=-1)
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=1)

    def known() -> bool:
        found = {
            one["group_id"]: one["group_state"] for one in c.quietly("ListGroups", 5, 1)["groups"]
        }
        return (
            all(found.get(group) == "Empty" for group in (simple, left, empty))
            and {stable, consumer} <= found.keys()
        )

    c.s.until(known, "1 never had them as they were")
    for version in (0, 3, 4, 5):
        c.at(1).ask("ListGroups", version, only="groups")
    for states in (
        ["Stable"],
        ["empty"],
        ["Dead"],
        ["Stable", "Empty"],
        ["Nonsense"],
        ["preparingrebalance"],
    ):
        c.at(1).ask("ListGroups", 4, only="groups", states_filter=states)
        c.at(1).ask("ListGroups", 5, only="groups", states_filter=states, types_filter=["consumer"])
    for types in (
        ["classic"],
        ["Consumer"],
        ["CLASSIC", "consumer"],
        ["nonsense"],
        ["share"],
        [""],
    ):
        c.at(1).ask("ListGroups", 5, only="groups", types_filter=types)
    c.at(2).ask("ListGroups", 5, only="groups", states_filter=["Stable"])
