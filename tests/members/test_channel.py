"""Versions, and the bytes of one connection."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.members.connections.channel import Channel
from coordinator.members.requests import OURS, Unsupported, choose, fit, lift, plain_versions
from coordinator.wire.framing import frame, parse_request_header, response_header
from coordinator.wire.messages import request_type, response_type
from coordinator.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from coordinator.wire.messages.fetch import FetchRequest, FetchResponse
from coordinator.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Request, Response


def test_the_highest_common_version_is_taken() -> None:
    """VER-1 to VER-7: ours are the Java consumer's; topic names, so no OffsetCommit or OffsetFetch
    10."""
    records = {0: 11, 1: 12, 2: 11, 22: 5, 24: 3, 25: 4, 26: 4, 28: 4, 76: 1, 78: 2, 79: 2}
    assert {key: high for key, (_, high) in OURS.items()} == {
        3: 13,
        8: 9,
        9: 9,
        10: 6,
        11: 9,
        12: 4,
        13: 5,
        14: 5,
        68: 1,
    } | records
    assert choose(JoinGroupRequest(), {11: (2, 99)}) == 9
    assert choose(JoinGroupRequest(), {11: (0, 4)}) == 4
    assert choose(OffsetCommitRequest(), {8: (2, 10)}) == 9


@pytest.mark.parametrize(
    ("message", "theirs"),
    [
        (JoinGroupRequest(), {}),
        (JoinGroupRequest(), {11: (10, 12)}),
        (JoinGroupRequest(group_instance_id="i"), {11: (0, 4)}),
        (HeartbeatRequest(group_instance_id="i"), {12: (0, 2)}),
        (OffsetFetchRequest(require_stable=True), {9: (1, 6)}),
    ],
)
def test_what_a_broker_cannot_be_told_is_not_sent(
    message: Request, theirs: dict[int, tuple[int, int]]
) -> None:
    """VER-18."""
    with pytest.raises(Unsupported):
        choose(message, theirs)


def test_older_shapes_say_the_same() -> None:
    """VER-4, VER-6, VER-7: one key, one member, one group."""
    assert fit(FindCoordinatorRequest(coordinator_keys=["g"]), 3) == FindCoordinatorRequest(key="g")
    leave = LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id="m")])
    assert fit(leave, 2) == LeaveGroupRequest(group_id="g", member_id="m")
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[1])]
    old = fit(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=topics)]), 5)
    assert isinstance(old, OffsetFetchRequest) and (
        old.group_id,
        old.topics[0].name,
        old.groups,
    ) == ("g", "t", [])  # type: ignore[index]


def test_older_answers_are_lifted() -> None:
    """VER-4, VER-6, VER-7."""
    found = lift(FindCoordinatorResponse(node_id=3, host="h", port=9), 2)
    assert isinstance(found, FindCoordinatorResponse) and found.coordinators[0].node_id == 3
    left = lift(LeaveGroupResponse(error_code=25), 1)
    assert isinstance(left, LeaveGroupResponse) and left.members[0].error_code == 25
    rows = [OffsetFetchResponsePartition(partition_index=1, committed_offset=7)]
    fetched = lift(
        OffsetFetchResponse(
            topics=[OffsetFetchResponseTopic(name="t", partitions=rows)], error_code=0
        ),
        5,
    )
    assert (
        isinstance(fetched, OffsetFetchResponse)
        and fetched.groups[0].topics[0].partitions[0].committed_offset == 7
    )


class Broker:
    """The other end: reads what the channel wrote, answers what the test says."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.asked: list[tuple[int, int, int, Request]] = []

    def read(self) -> list[tuple[int, int, int, Request]]:
        data = b"".join(self.channel.output)
        self.channel.output.clear()
        asked, pos = [], 0
        while pos < len(data):
            size = int.from_bytes(data[pos : pos + 4], "big")
            header, start = parse_request_header(data[pos + 4 : pos + 4 + size])
            body = request_type(header.api_key).decode(
                header.api_version, data[pos + 4 : pos + 4 + size], start
            )
            asked.append((header.api_key, header.api_version, header.correlation_id, body))
            pos += 4 + size
        self.asked += asked
        return asked

    def say(self, key: int, version: int, correlation: int, response: Response) -> bytes:
        return frame(response_header(key, version, correlation), response.encode(version))


ALL = ApiVersionsResponse(
    api_keys=[
        ApiVersion(api_key=key, min_version=low, max_version=high)
        for key, (low, high) in OURS.items()
    ]
)


def greeted() -> tuple[Channel, Broker]:
    channel = Channel("c", "1")
    broker = Broker(channel)
    ((key, version, correlation, _),) = broker.read()
    channel.receive(broker.say(key, version, correlation, ALL))
    return channel, broker


def test_nothing_is_asked_before_the_versions_are_known() -> None:
    channel = Channel("c", "1")
    broker = Broker(channel)
    channel.ask(HeartbeatRequest(group_id="g"), "first")
    ((key, version, correlation, hello),) = broker.read()
    assert (
        (key, version) == (18, 4)
        and isinstance(hello, ApiVersionsRequest)
        and hello.client_software_name
    )
    assert channel.receive(broker.say(key, version, correlation, ALL)) == []
    ((key, version, correlation, _),) = broker.read()
    assert (key, version) == (12, 4)
    answer = HeartbeatResponse(error_code=27)
    assert channel.receive(broker.say(key, version, correlation, answer)) == [("first", answer)]


def test_an_old_broker_is_asked_again() -> None:
    """KIP-511: error 35 in version 0 says what it knows."""
    channel = Channel("c", "1")
    broker = Broker(channel)
    ((key, _, correlation, _),) = broker.read()
    known = ApiVersionsResponse(
        error_code=35, api_keys=[ApiVersion(api_key=18, min_version=0, max_version=2)]
    )
    channel.receive(broker.say(key, 0, correlation, known))
    ((key, version, correlation, _),) = broker.read()
    assert version == 2
    channel.receive(
        broker.say(
            key,
            2,
            correlation,
            ApiVersionsResponse(api_keys=[ApiVersion(api_key=12, min_version=0, max_version=1)]),
        )
    )
    channel.ask(HeartbeatRequest(), None)
    assert broker.read()[0][1] == 1


def test_answers_come_one_byte_at_a_time_or_all_at_once() -> None:
    channel, broker = greeted()
    for i in range(3):
        channel.ask(HeartbeatRequest(), i)
    data = b"".join(
        broker.say(key, version, correlation, HeartbeatResponse())
        for key, version, correlation, _ in broker.read()
    )
    answers = [answer for i in range(len(data)) for answer in channel.receive(data[i : i + 1])]
    assert [context for context, _ in answers] == [0, 1, 2]


def test_what_waited_and_cannot_be_sent_is_told() -> None:
    """VER-18, found out after the greeting."""
    channel = Channel("c", "1")
    broker = Broker(channel)
    channel.ask(JoinGroupRequest(), "join")
    ((key, version, correlation, _),) = broker.read()
    ((context, fault),) = channel.receive(
        broker.say(key, version, correlation, ApiVersionsResponse())
    )
    assert context == "join" and isinstance(fault, Unsupported)


@pytest.mark.parametrize(
    "data", [b"\0\0\0\1x", b"\xff\xff\xff\xff", b"\x7f\0\0\0", b"\0\0\0\4\0\0\0\x63"]
)
def test_bytes_that_are_no_answer(data: bytes) -> None:
    channel, _ = greeted()
    with pytest.raises(WireError):
        channel.receive(data)


def test_what_is_left_unanswered() -> None:
    channel, broker = greeted()
    channel.ask(HeartbeatRequest(), "a")
    broker.read()
    assert channel.unanswered() == ["a"]


def test_a_fetch_that_is_asked_again_goes_out_as_the_bytes_that_it_was() -> None:
    """Each under a number of its own, and in the version of the connection; what is answered in the
    same bytes is read once."""
    channel, _ = greeted()
    channel.output.clear()
    fetch, other = FetchRequest(max_wait_ms=500), FetchRequest(max_wait_ms=7)
    for message in (fetch, fetch, other, fetch):
        channel.ask(message, message.max_wait_ms)
    sent = [bytes(each) for each in channel.output]
    heads = [parse_request_header(each[4:])[0].correlation_id for each in sent]
    assert heads == sorted(set(heads))
    at = sent[0].index(fetch.encode(12))
    assert [each[at:] for each in sent] == [
        message.encode(12) for message in (fetch, fetch, other, fetch)
    ]
    bodies = [FetchResponse(session_id=number).encode(12) for number in (0, 0, 5, 0)]
    answered = channel.receive(
        b"".join(
            frame(response_header(1, 12, number), body)
            for number, body in zip(heads, bodies, strict=True)
        )
    )
    first, second, third, last = (answer for _, answer in answered)
    assert first is second
    assert [each.session_id for each in (first, third, last)] == [0, 5, 0]  # type: ignore[union-attr]


def _requests(key: int) -> list[Request]:
    """Requests of an API that say nothing, and more than old versions can carry."""
    kind: Any = request_type(key)
    fields = ("group_instance_id", "require_stable", "subscribed_topic_regex", "is_renew_ack")
    return [kind(), *(kind(**{field: "1"}) for field in fields if hasattr(kind(), field))]


@settings(max_examples=100, deadline=None, database=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted(OURS)), st.tuples(st.integers(0, 4), st.integers(0, 15)), min_size=5
    )
)
def test_requests_in_a_plain_version_go_out_as_they_are(theirs: dict[int, tuple[int, int]]) -> None:
    """Whatever they say: then nobody has to choose a version for each of them."""
    for key, version in plain_versions(theirs).items():
        for message in _requests(key):
            assert choose(message, theirs) == version
            assert fit(message, version) is message
        response = response_type(key)()
        assert lift(response, version) is response


def test_what_is_asked_most_has_a_plain_version_at_a_new_broker() -> None:
    plain = plain_versions(OURS)
    assert {
        FetchRequest.api_key,
        HeartbeatRequest.api_key,
        JoinGroupRequest.api_key,
    } <= plain.keys()
    assert OffsetFetchRequest.api_key not in plain, "an old broker cannot be told require_stable"
