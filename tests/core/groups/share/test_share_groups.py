"""Share groups: joining, epochs, topics, sessions, limits, other types of groups (SH-HB, SH-EP,
SH-CFG, SH-TYP, SH-LST, SH-DEL, SH-DSC)."""

from __future__ import annotations

import random

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.events.groups import share as sev
from coordinator.events.groups.consumer import AssignmentFailed
from coordinator.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from tests.core.groups.share.kit import ShareWorld, error_of

_REJOIN = "The member must abandon all its partitions and rejoin."


def test_partitions_are_given_once_their_state_is_initialized() -> None:
    """SH-HB-2: the first join makes the epoch 2 and gives nothing; the heartbeat after the share
    coordinator's answer makes it 3 and gives all."""
    w = ShareWorld(jobs=3, manual=True)
    joined = w.hello("a", "jobs")
    assert (joined.member_epoch, joined.assignment.topic_partitions) == (2, [])
    [asked] = w.asked
    assert (asked.group_id, asked.state_epoch) == ("g", 2)
    assert [(of.topic, of.partitions) for of in asked.topics] == [("jobs", (0, 1, 2))]
    waiting = w.beat("a")
    assert (waiting.member_epoch, waiting.assignment, len(w.asked)) == (2, None, 1)
    w.initialize()
    given = w.beat("a")
    assert (given.member_epoch, w.owned("a")) == (3, {"jobs": [0, 1, 2]})
    quiet = w.beat("a")
    assert (quiet.member_epoch, quiet.assignment) == (3, None)  # SH-HB-3


def test_what_is_not_answered_is_asked_again_after_the_retry_interval() -> None:
    w = ShareWorld(jobs=1, manual=True)
    w.hello("a", "jobs")
    w.asked.clear()  # the share coordinator never hears of it
    w.advance(29_999)
    w.beat("a")
    assert w.asked == []
    w.advance(1)
    w.beat("a")
    assert [of.partitions for of in w.asked[0].topics] == [(0,)]


def test_what_the_share_coordinator_refuses_is_asked_again_with_the_next_heartbeat() -> None:
    w = ShareWorld(jobs=1, manual=True)
    w.hello("a", "jobs")
    w.initialize(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    assert (w.sharers.initializing, w.sharers.initialized) == ({}, {})
    assert w.beat("a").member_epoch == 2
    w.initialize()
    assert w.beat("a").member_epoch == 3


def test_a_full_request_is_told_its_assignment_and_others_only_what_changed() -> None:
    """SH-HB-3."""
    w = ShareWorld(jobs=4)
    w.hello("a", "jobs")
    w.beat("a")
    assert w.beat("a", subscribed_topic_names=["jobs"]).assignment is not None
    w.hello("b", "jobs")
    assert w.beat("a").assignment is not None
    assert sorted(w.owned("a")["jobs"] + w.owned("b")["jobs"]) == [0, 1, 2, 3]
    assert w.beat("a").assignment is None
    left = w.bye("b")
    assert (left.member_epoch, left.heartbeat_interval_ms, left.assignment) == (-1, 0, None)
    assert w.epochs_of_group == (5, 4)
    w.beat("a")
    assert (w.owned("a"), w.epochs_of_group) == ({"jobs": [0, 1, 2, 3]}, (5, 5))
    w.bye("a")
    assert (w.epochs_of_group, w.state_of()) == ((6, 6), "Empty")


def test_epochs() -> None:
    """SH-EP-1: the current epoch, the one before, and 0."""
    w = ShareWorld(jobs=1)
    w.hello("a", "jobs")
    w.beat("a")
    assert w.beat("a", member_epoch=2).member_epoch == 3
    before = w.snapshot()
    behind, ahead = w.beat("a", member_epoch=1), w.beat("a", member_epoch=4)
    assert {error_of(behind), error_of(ahead)} == {ErrorCode.FENCED_MEMBER_EPOCH}
    assert behind.error_message == (
        "The share group member has a smaller member epoch (1) than the one known by the group coordinator (3), and it "
        f"does not match the previous member epoch (2). {_REJOIN}"
    )
    assert ahead.error_message == (
        "The share group member has a greater member epoch (4) than the one known by the group coordinator (3). "
        + _REJOIN
    )
    assert w.snapshot() == before
    assert w.hello("a", "jobs").member_epoch == 3
    assert error_of(w.beat("b", member_epoch=3)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error_of(w.beat("b", member_epoch=-1)) is ErrorCode.UNKNOWN_MEMBER_ID
    w.group_id = "other"
    stays, leaves = w.beat("a"), w.bye("a")
    assert {error_of(stays), error_of(leaves)} == {ErrorCode.GROUP_ID_NOT_FOUND}
    assert (stays.error_message, leaves.error_message) == (
        "Share group other not found.",
        "Group other not found.",
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"member_id": ""}, None),
        ({"member_id": " "}, "MemberId can't be empty."),
        ({"member_id": "x" * 37}, None),
        ({"rack_id": " "}, "RackId can't be empty."),
        ({"member_epoch": -2}, "MemberEpoch is invalid."),
        ({"subscribed_topic_names": None}, "SubscribedTopicNames must be set in first request."),
        ({"subscribed_topic_names": []}, "SubscribedTopicNames must be set in first request."),
    ],
)
def test_requests_that_are_none(fields: dict[str, object], message: str | None) -> None:
    """SH-HB-1."""
    w = ShareWorld(jobs=1)
    refused = w.hello("a", "jobs", **fields)
    assert (error_of(refused), refused.error_message) == (ErrorCode.INVALID_REQUEST, message)
    assert w.coordinator.groups == {}


def test_a_member_that_stays_may_name_nothing_and_a_longest_id_is_taken() -> None:
    """SH-HB-1."""
    w = ShareWorld(jobs=1)
    w.hello("x" * 36, "jobs", "jobs")
    w.beat("x" * 36)
    assert w.sharers.subscribers == {"jobs": 1}
    assert w.beat("x" * 36, subscribed_topic_names=[]).member_epoch == 4
    assert w.owned("x" * 36) == {}


def test_a_session_ends() -> None:
    """SH-HB-4."""
    w = ShareWorld(jobs=1, session_ms=10_000)
    w.hello("a", "jobs")
    w.beat("a")
    w.hello("b", "jobs")
    w.advance(9_999)
    w.beat("b")
    w.advance(1)
    assert list(w.sharers.members) == ["b"]
    assert w.happened(sev.ShareMemberRemoved) == [
        sev.ShareMemberRemoved("a", "session expired", "10000 ms")
    ]
    assert w.epochs_of_group == (5, 4)
    w.advance(9_999)
    assert (w.sharers.members, w.epochs_of_group) == ({}, (6, 6))


def test_the_short_way_of_a_heartbeat_renews_the_session_and_knows_when_to_leave() -> None:
    w = ShareWorld(jobs=1, session_ms=10_000)
    w.hello("a", "jobs")
    w.beat("a")
    seen = len(w.log)
    for _ in range(3):
        w.advance(9_000)
        assert w.beat("a").member_epoch == 3
    assert len(w.log) == seen
    w.topics.set("jobs", 2)
    assert w.beat("a").member_epoch == 4
    assert (w.beat("a").member_epoch, w.owned("a")) == (5, {"jobs": [0, 1]})


def test_topics_that_come_grow_and_go() -> None:
    """SH-HB-2: what is new costs two epochs."""
    w = ShareWorld()
    w.hello("a", "jobs")
    assert w.beat("a").member_epoch == 2
    w.topics.set("jobs", 1)
    assert [w.beat("a").member_epoch for _ in range(3)] == [3, 4, 4]
    assert w.owned("a") == {"jobs": [0]}
    w.topics.set("jobs", 2)
    assert [w.beat("a").member_epoch for _ in range(3)] == [5, 6, 6]
    assert w.owned("a") == {"jobs": [0, 1]}
    w.topics.set("jobs", None)
    w.delete_partitions(("jobs", 0), ("jobs", 1))
    assert [w.beat("a").member_epoch for _ in range(2)] == [7, 7]
    assert (w.owned("a"), w.sharers.initialized) == ({}, {})
    w.topics.set("jobs", 1)  # another topic of that name
    assert [w.beat("a").member_epoch for _ in range(2)] == [8, 9]
    assert w.owned("a") == {"jobs": [0]}


def test_a_group_that_is_emptied_keeps_what_is_initialized() -> None:
    w = ShareWorld(jobs=2)
    w.hello("a", "jobs")
    w.bye("a")
    assert w.hello("b", "jobs").member_epoch == 4
    assert w.owned("b") == {"jobs": [0, 1]}


def test_members_of_different_subscriptions_have_partitions_of_their_own_topics() -> None:
    w = ShareWorld(jobs=2, mail=2)
    w.hello("a", "jobs")
    w.beat("a")
    w.hello("b", "mail")
    w.beat("b")
    assert (w.owned("a"), w.owned("b")) == ({"jobs": [0, 1]}, {"mail": [0, 1]})


def test_within_the_assignment_interval_a_member_only_loses_what_it_left() -> None:
    """KIP-1263: the epochs of both changes become one assignment."""
    w = ShareWorld(jobs=3, mail=1, interval_ms=1_000)
    w.hello("a", "jobs")
    assert [w.beat("a").member_epoch for _ in range(2)] == [2, 2]
    assert w.epochs_of_group == (3, 2)
    w.advance(1_000)
    assert (w.beat("a").member_epoch, w.owned("a")) == (3, {"jobs": [0, 1, 2]})
    assert w.beat("a", subscribed_topic_names=["mail"]).member_epoch == 3
    assert (w.owned("a"), w.epochs_of_group) == ({}, (4, 3))
    w.advance(1_000)
    assert (w.beat("a").member_epoch, w.owned("a")) == (4, {"mail": [0]})


def test_no_more_members_than_there_may_be() -> None:
    """SH-CFG-1."""
    w = ShareWorld(jobs=1, max_size=1)
    w.hello("a", "jobs")
    refused = w.hello("b", "jobs")
    assert error_of(refused) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert refused.error_message == "The share group has reached its maximum capacity of 1 members."
    assert w.hello("a", "jobs").ok
    w.bye("a")
    assert w.hello("b", "jobs").ok


def test_an_assignor_that_fails_changes_nothing() -> None:
    w = ShareWorld(jobs=1)
    w.hello("a", "jobs")
    w.assignor.failing = "no idea"
    before = w.snapshot()
    assert error_of(w.hello("b", "jobs")) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert w.snapshot() == before
    assert w.happened(AssignmentFailed)[-1].failure == "no idea"


def test_other_protocols_at_a_share_group() -> None:
    """SH-TYP-1: with members and emptied."""
    w = ShareWorld(jobs=1)
    w.hello("a", "jobs")
    for _ in range(2):
        joins = w.join("c", protocols={"range": b""})
        assert joins.error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert w.ask("c", HeartbeatRequest(group_id="g", member_id="c"), 4).error == 25
        committed = w.admin_commit({("jobs", 0): 1}).reply.topics[0].partitions[0]
        assert committed.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        assert w.delete_offsets([("jobs", 0)]).error == ErrorCode.GROUP_ID_NOT_FOUND
        assert w.describe(version=6).error_message == "Group g is not a classic group."
        w.bye("a")
    assert w.state_of() == "Empty"


def test_a_share_member_at_other_groups() -> None:
    """SH-TYP-1: emptied ones too."""
    w = ShareWorld(jobs=1)
    w.enter("c")
    for _ in range(2):
        for refused in (w.hello("a", "jobs"), w.beat("a", member_epoch=1), w.bye("a")):
            assert error_of(refused) is ErrorCode.GROUP_ID_NOT_FOUND
            assert refused.error_message == "Group g is not a share group."
        w.leave("c")


def test_listed_described_and_deleted() -> None:
    """SH-LST-1, SH-DEL-1, SH-DSC-1."""
    w = ShareWorld(jobs=1)
    w.hello("a", "jobs", rack_id="r")
    assert w.list(types=["SHARE"]) == {"g": "Stable"} and w.list(types=["consumer"]) == {}
    assert w.list(states=["stable"]) == {"g": "Stable"} and w.list(states=["Empty"]) == {}
    unknown, nameless, twice, again = w.describe_sharers("nowhere", "", "g", "g")[:4]
    rows = {row.group_id: row for row in (unknown, nameless, twice, again)}
    assert rows["nowhere"].error_message == "Group nowhere not found."
    assert rows[""].error_code == ErrorCode.INVALID_GROUP_ID
    described = rows["g"]
    assert (described.group_state, described.assignor_name) == ("Stable", "simple")
    assert [(m.member_id, m.rack_id, m.subscribed_topic_names) for m in described.members] == [
        ("a", "r", ["jobs"])
    ]
    assert w.delete("g") == {"g": ErrorCode.NON_EMPTY_GROUP}
    w.bye("a")
    assert w.delete("g") == {"g": ErrorCode.NONE} and w.delete("g") == {"g": 69}
    assert w.hello("a", "jobs").member_epoch == 2


def test_an_empty_share_group_stays_until_somebody_deletes_it() -> None:
    w = ShareWorld(jobs=1)
    w.hello("a", "jobs")
    w.bye("a")
    w.advance(w.config.offsets_retention_check_interval_ms * 3)
    assert w.list() == {"g": "Empty"}


def test_a_coordinator_that_loads_the_group_has_all_of_it_and_new_sessions() -> None:
    """ERR-7 for share groups."""
    w = ShareWorld(jobs=2, mail=1, session_ms=10_000)
    w.hello("a", "jobs")
    w.beat("a")
    w.hello("b", "jobs", "mail")
    w.beat("b")
    before = w.snapshot()
    w.advance(9_000)
    w.unload()
    w.finish_load()
    assert w.snapshot() == before
    w.advance(9_000)
    assert w.beat("a").ok
    w.advance(1_000)
    assert list(w.sharers.members) == ["a"]


def test_random_lives_are_what_their_events_say() -> None:
    """Live, replayed and loaded groups are equal, whatever happens."""
    for seed in range(12):
        rng = random.Random(seed)
        w = ShareWorld(jobs=3, mail=2, manual=True, interval_ms=rng.choice((0, 500)))
        for _ in range(60):
            who = rng.choice("abcde")
            match rng.randrange(8):
                case 0 | 1:
                    w.hello(who, *rng.choice((("jobs",), ("mail",), ("jobs", "mail"))))
                case 2:
                    w.bye(who)
                case 3:
                    w.initialize(rng.choice((ErrorCode.NONE, ErrorCode.NOT_COORDINATOR)))
                case 4:
                    w.advance(rng.choice((100, 1_000, 46_000)))
                case 5:
                    w.topics.set("jobs", w.topics.sizes["jobs"] + 1)
                case _:
                    w.beat(who)
        replayed = GroupCoordinator.replay(w.config, w.log, w.now)
        assert replayed.groups["g"].snapshot() == w.whole.snapshot()


def test_a_consumer_member_is_refused_and_the_group_is_no_consumer_group() -> None:
    """SH-TYP-1."""
    from tests.core.groups.consumer.kit import ConsumerWorld

    w, other = ShareWorld(jobs=1), ConsumerWorld(jobs=1)
    w.config.consumer = other.environment
    w.hello("a", "jobs")
    for _ in range(2):
        for epoch in (0, 1, -1):
            request = ConsumerGroupHeartbeatRequest(
                group_id="g",
                member_id="c",
                member_epoch=epoch,
                rebalance_timeout_ms=1,
                subscribed_topic_names=["jobs"],
                topic_partitions=[],
            )
            refused = w.ask("c", request, 1)
            assert refused.error == ErrorCode.GROUP_ID_NOT_FOUND
            assert refused.error_message == "Group g is not a consumer group."
        [row] = w.ask("c", ConsumerGroupDescribeRequest(group_ids=["g"]), 1).reply.groups
        assert row.error_message == "Group g is not a consumer group."
        w.bye("a")
