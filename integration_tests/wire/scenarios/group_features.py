"""What the cluster's features switch off: share and streams groups, consumer groups at group.version
0, and transactions of the second version."""

from __future__ import annotations

from functools import partial

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.transacting import BEFORE_V2, Transactor

ID = "ab" * 16
SAFE_DOWNGRADE, UNSAFE_DOWNGRADE, UPGRADE = 2, 3, 1


def level(link: Link, name: str, to: int, kind: int, *, quietly: bool = False) -> None:
    """Set a feature's level."""
    updates = [{"feature": name, "max_version_level": to, "upgrade_type": kind}]
    ask = link.ask_quietly if quietly else link.ask
    ask("UpdateFeatures", 1, timeout_ms=30_000, feature_updates=updates, validate_only=False)


@scenario("features_off", alone=True)
def share_groups(s: Session) -> None:
    """Every request of share groups and of the state behind them."""
    level(s.stage(), "share.version", 0, UNSAFE_DOWNGRADE, quietly=True)
    s.wait(1_500)
    a, group = s.connect(), s.name("g")
    a.ask(
        "ShareGroupHeartbeat",
        1,
        group_id=group,
        member_id="m",
        member_epoch=0,
        subscribed_topic_names=["t"],
    )
    a.ask("ShareGroupDescribe", 1, group_ids=[group, ""])
    for version in (1, 2):
        a.ask(
            "ShareFetch",
            version,
            group_id=group,
            member_id="m",
            share_session_epoch=0,
            topics=[{"topic_id": ID, "partitions": [{"partition_index": 0}]}],
        )
        a.ask(
            "ShareAcknowledge",
            version,
            group_id=group,
            member_id="m",
            share_session_epoch=0,
            topics=[{"topic_id": ID, "partitions": [{"partition_index": 0}]}],
        )
    states: Plain = {
        "group_id": group,
        "topics": [{"topic_id": ID, "partitions": [{"partition": 0}]}],
    }
    for api in (
        "InitializeShareGroupState",
        "ReadShareGroupState",
        "WriteShareGroupState",
        "DeleteShareGroupState",
        "ReadShareGroupStateSummary",
    ):
        a.ask(api, 0, **states)
        a.ask(api, 0, group_id=group, topics=[])
    for version in (0, 1):
        wanted = [
            {"group_id": group, "topics": [{"topic_name": "t", "partitions": [0]}]},
            {"group_id": "x", "topics": None},
        ]
        a.ask("DescribeShareGroupOffsets", version, groups=wanted)
    partitions = [{"partition_index": 0, "start_offset": 0}]
    a.ask(
        "AlterShareGroupOffsets",
        0,
        group_id=group,
        topics=[{"topic_name": "t", "partitions": partitions}],
    )
    a.ask("DeleteShareGroupOffsets", 0, group_id=group, topics=[{"topic_name": "t"}])


@scenario("features_off", alone=True)
def streams_groups(s: Session) -> None:
    """Both requests of streams groups."""
    level(s.stage(), "streams.version", 0, UNSAFE_DOWNGRADE, quietly=True)
    s.wait(1_500)
    a, group = s.connect(), s.name("g")
    a.ask("StreamsGroupHeartbeat", 0, group_id=group, member_id="m", member_epoch=0)
    a.ask("StreamsGroupDescribe", 0, group_ids=[group, ""])


@scenario("features_off", alone=True)
def consumer_groups_switched_off(s: Session) -> None:
    """At group.version 0 their requests are refused; at 1 they are served again, the groups as they
    were."""
    (t,) = topics(s, 1)
    a = Consumer(s, "a", s.name("g"))
    a.join(t)
    level(a.link, "group.version", 0, UPGRADE)
    level(a.link, "group.version", 0, SAFE_DOWNGRADE)
    s.wait(1_500)
    found = a.link.ask_quietly(
        "ApiVersions", 4, client_software_name="x", client_software_version="1"
    )
    s.say("group.version", [f for f in found["finalized_features"] if f["name"] == "group.version"])
    s.say("keys", [k for k in found["api_keys"] if k["api_key"] in (68, 69)])
    a.beat()
    a.leave()
    describe(a.link, a.group)
    describe(a.link, "")
    a.link.ask("ListGroups", 5, only="groups")
    a.commit(t)
    level(a.link, "group.version", 0, SAFE_DOWNGRADE)
    level(a.link, "group.version", 1, SAFE_DOWNGRADE)
    level(a.link, "group.version", 1, UPGRADE)
    s.wait(1_500)
    a.beat()
    describe(a.link, a.group)


@scenario("features_off", alone=True, since="4.3")
def transactions_at_each_level(s: Session) -> None:
    """TXN-12: at transaction.version 1 both versions of transactions go on; at 0 partitions are
    not added by Produce and epochs do not rise (35)."""
    a = s.connect()
    (name,) = topics(s, 1)

    def settle(to: int) -> None:
        level(a, "transaction.version", to, SAFE_DOWNGRADE if to < 2 else UPGRADE)
        s.until(
            partial(_is_at, a, "transaction.version", to), f"transaction.version never was {to}"
        )

    for to in (1, 0, 2):
        settle(to)
        adding = Transactor(s, a, f"adding-{to}")
        adding.init(5)
        adding.produce(name, b"a")
        ending = Transactor(s, a, f"ending-{to}")
        ending.init(5)
        ending.add((name, [0]))
        ending.produce(name, b"b", version=BEFORE_V2)
        ending.end(commit=True, version=5)
        first = Transactor(s, a, f"first-{to}")
        first.init(4)
        first.add((name, [0]))
        first.produce(name, b"c", version=BEFORE_V2)
        first.end(commit=True, version=4)


def _is_at(link: Link, name: str, to: int) -> bool:
    found = link.ask_quietly(
        "ApiVersions", 4, client_software_name="x", client_software_version="1"
    )
    levels = {of["name"]: of["max_version_level"] for of in found["finalized_features"]}
    return bool(levels.get(name, 0) == to)
