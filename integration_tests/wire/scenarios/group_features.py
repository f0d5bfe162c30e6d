"""Group protocols that the cluster's features switch off: share and streams groups, and consumer
groups at group.version 0."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario

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
