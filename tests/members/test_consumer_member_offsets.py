"""A KIP-848 member's commits and fetched offsets, older versions, configurations and ids
(K8-CL-*)."""

from __future__ import annotations

import re

import pytest

from coordinator.members import ConsumerMember, Member, MemberConfig, MemberConfigError, make_member
from coordinator.members.consumer_protocol.membership import new_member_id
from coordinator.members.faults import CommitFailed
from coordinator.members.requests import Unsupported, choose, fit
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)
from tests.members.consumer_kit import ConsumerSolo
from tests.members.kit import topic_id
from tests.members.test_consumer_member import E, committed


def test_commits_name_the_epoch_and_their_errors_do_not_touch_the_membership() -> None:
    """K8-OFF-1: a stale epoch or an unknown member is the application's to know; the heartbeat
    decides what becomes of the member."""
    s = ConsumerSolo()
    s.enter("orders-0", orders_0=1)
    for error in (E.STALE_MEMBER_EPOCH, E.UNKNOWN_MEMBER_ID):
        s.member.commit(s.now)
        s.gather()
        request = s.sent(OffsetCommitRequest)
        assert (request.generation_id_or_member_epoch, request.member_id) == (2, "m1")
        s.answer(committed(error))
        assert isinstance(s.committed[-1].fault, CommitFailed) and s.member.settled


def test_fetching_offsets_names_the_epoch_and_waits_for_the_next_one() -> None:
    """K8-OFF-2: STALE_MEMBER_EPOCH is asked again, with what the heartbeat brought."""
    s = ConsumerSolo()
    s.begin()
    s.beaten(2, "orders-0")
    fetch = s.sent(OffsetFetchRequest)
    assert (fetch.groups[0].member_id, fetch.groups[0].member_epoch) == ("m1", 2)
    s.answer(
        OffsetFetchResponse(
            groups=[OffsetFetchResponseGroup(group_id="g", error_code=E.STALE_MEMBER_EPOCH)]
        )
    )
    s.beaten(3)
    s.advance(200)
    assert s.sent(OffsetFetchRequest).groups[0].member_epoch == 3 and s.faults == []


def test_older_versions_carry_less() -> None:
    """VER-6: OffsetFetch has member and epoch from 9 on; ConsumerGroupHeartbeat has patterns from 1
    on."""
    fetch = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id="g", member_id="m", member_epoch=3)]
    )
    fitted = fit(fetch, 8)
    assert isinstance(fitted, OffsetFetchRequest) and fitted.groups[0].member_id is None
    with pytest.raises(Unsupported, match="pattern"):
        choose(ConsumerGroupHeartbeatRequest(subscribed_topic_regex="a"), {68: (0, 0)})
    assert choose(ConsumerGroupHeartbeatRequest(), {68: (0, 0)}) == 0


def test_configurations() -> None:
    """K8-CFG-1: what the coordinator decides cannot be set; a classic member has no assignor of the
    coordinator."""
    for name in ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"):
        with pytest.raises(
            MemberConfigError, match=f"{re.escape(name)} cannot be set with group.protocol=consumer"
        ):
            MemberConfig.from_properties(
                {"group.id": "g", "group.protocol": "consumer", name: "3000"}
            )
    with pytest.raises(MemberConfigError, match=r"group\.remote\.assignor"):
        MemberConfig(group_id="g", group_remote_assignor="uniform")
    with pytest.raises(MemberConfigError, match="is none of classic, consumer"):
        MemberConfig(group_id="g", group_protocol="new")
    with pytest.raises(MemberConfigError, match="ConsumerMember"):
        ConsumerMember(MemberConfig(group_id="g"))
    assert (
        type(make_member(MemberConfig(group_id="g", group_protocol="Consumer"), chance=lambda: 0.5))
        is ConsumerMember
    )
    assert type(make_member(MemberConfig(group_id="g"), chance=lambda: 0.5)) is Member


def test_member_ids_are_uuids_as_kafka_writes_them() -> None:
    """KIP-1082: 22 characters of URL-safe base64, no minus in front."""
    draws = iter([0.98] * 16 + [0.1] * 16)  # the first would begin with "-" or "_"
    text = new_member_id(lambda: next(draws))
    assert len(text) == 22 and not text.startswith("-")
    assert len(topic_id("orders")) == 16
