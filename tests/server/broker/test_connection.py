"""A connection: frames in, answers out in order, one request at a time; what closes it and what
does not."""

from __future__ import annotations

import struct

import pytest

from coordinator.base.releases import NEWEST
from coordinator.server import apis
from coordinator.server.broker import Broker
from coordinator.server.interceptors import Answer, Drop, Hold, Verdict
from coordinator.server.requests.call import Call, Result
from coordinator.wire.framing import frame, request_header
from coordinator.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupResponse
from coordinator.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from coordinator.wire.messages.list_groups import ListGroupsRequest
from coordinator.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from coordinator.wire.primitives import WireError
from tests.server.broker.driver import Client, Driver, join, new_member


def heartbeat(member: str, generation: int = 1) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=generation, member_id=member)


def two_members(driver: Driver) -> tuple[Client, str, Client, str]:
    """Two members of a Stable group in generation 2; the first leads."""
    a, b = driver.client(), driver.client()
    first = new_member(a)
    a.send(join("g", first), 9)
    second = new_member(b)
    b.send(join("g", second), 9)
    a.answers()
    a.send(join("g", first), 9)
    (joined,) = a.answers()
    assert isinstance(joined, JoinGroupResponse)
    assert joined.generation_id == 2
    b.answers()
    b.send(sync(second, []), 5)
    a.send(sync(first, [first, second]), 5)
    assert len(a.answers()) == len(b.answers()) == 1
    return a, first, b, second


def sync(member: str, assigned: list[str], generation: int = 2) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id="g",
        generation_id=generation,
        member_id=member,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[
            SyncGroupRequestAssignment(member_id=name, assignment=name.encode())
            for name in assigned
        ],
    )


class TestFrames:
    def test_bytes_one_at_a_time(self) -> None:
        client = Driver().client()
        hello = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        data = client.frame(hello, 4) + client.frame(ListGroupsRequest(), 5)
        for byte in data[:-1]:
            client.feed(bytes((byte,)))
        assert len(client.asked) == 2
        assert len(client.answers()) == 1, "the second request is not whole yet"
        client.feed(data[-1:])
        assert len(client.answers()) == 1

    @pytest.mark.parametrize("cut", range(1, 40))
    def test_any_cut_between_two_reads(self, cut: int) -> None:
        client = Driver().client()
        data = client.frame(heartbeat("m"), 4) + client.frame(heartbeat("m"), 3)
        client.feed(data[:cut])
        client.feed(data[cut:])
        assert len(client.answers()) == 2

    def test_pipelined_answers_leave_in_one_write(self) -> None:
        client = Driver().client()
        client.feed(b"".join(client.frame(heartbeat("m"), 4) for _ in range(200)))
        assert len(client.writes) == 1
        assert len(client.answers()) == 200

    def test_a_large_answer_does_not_wait_for_the_others(self) -> None:
        driver = Driver([f"topic-with-a-long-name-{n}:1" for n in range(300)])
        client = driver.client()
        from coordinator.wire.messages.metadata import MetadataRequest

        client.feed(b"".join(client.frame(MetadataRequest(topics=None), 12) for _ in range(3)))
        assert len(client.writes) == 3, (
            "memory must not grow by the product of requests and answers"
        )

    def test_nothing_more_is_handled_while_the_client_does_not_read(self) -> None:
        client = Driver().client()
        client.connection.pause()
        client.feed(client.frame(heartbeat("m"), 4))
        assert not client.writes
        assert client.connection.wants_bytes
        client.feed(client.frame(heartbeat("m"), 4) * 3000)
        assert not client.connection.wants_bytes, "the driver must stop reading"
        client.connection.unpause(0)
        client.driver.settle()
        assert client.connection.wants_bytes
        assert len(b"".join(client.writes)) == 3001 * 16


class TestParking:
    def test_a_parked_request_holds_up_its_own_connection_only(self) -> None:
        """META-4: a parked JoinGroup mutes its connection; others are served."""
        driver = Driver()
        a, first, b, _ = two_members(driver)
        c = driver.client()
        third = new_member(c)
        c.feed(
            c.frame(join("g", third), 9)
            + c.frame(ListGroupsRequest(), 5)
            + c.frame(heartbeat(third), 4)
        )
        assert not c.writes, "parked, and what follows waits"
        (answer,) = [b.ask(ListGroupsRequest(), 5)]
        assert answer.groups[0].group_state == "PreparingRebalance"  # type: ignore[attr-defined]
        assert a.ask(heartbeat(first, 2), 4) == HeartbeatResponse(error_code=27)
        driver.pass_time(10_000)
        assert [type(answer).__name__ for answer in c.answers()] == [
            "JoinGroupResponse",
            "ListGroupsResponse",
            "HeartbeatResponse",
        ]

    def test_an_answer_is_handed_on_before_the_freed_connection_goes_on(self) -> None:
        """The leader's SyncGroup frees a follower whose next request, a LeaveGroup, waits: every
        sync is answered first."""
        driver = Driver()
        a, first, b, second = two_members(driver)
        a.send(join("g", first), 9)
        b.send(join("g", second), 9)
        a.answers(), b.answers()
        leave = LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=second)])
        b.feed(b.frame(sync(second, [], 3), 5) + b.frame(leave, 5))
        a.send(sync(first, [first, second], 3), 5)
        (synced,) = a.answers()
        assert isinstance(synced, SyncGroupResponse)
        assert synced.assignment == first.encode()
        assert [answer.error_code for answer in b.answers()] == [0, 0]  # type: ignore[attr-defined]
        assert a.ask(heartbeat(first, 3), 4) == HeartbeatResponse(error_code=27)

    def test_a_lost_connection_is_answered_to_nobody(self) -> None:
        driver = Driver()
        _, _, b, _ = two_members(driver)
        c = driver.client()
        c.send(join("g", new_member(c)), 9)
        c.connection.lost()
        driver.pass_time(10_000)
        assert not c.writes
        assert not driver.broker.parked
        assert b.ask(ListGroupsRequest(), 5)

    def test_shutdown_answers_parked_joins_and_syncs_with_16(self) -> None:
        """ERR-6, ENT-5: 16 for what is parked, 15 for what comes after."""
        driver = Driver()
        a, first, _, _ = two_members(driver)
        c = driver.client()
        c.send(join("g", new_member(c)), 9)
        driver.broker.groups.shut_down(driver.now)
        assert [answer.error_code for answer in c.answers()] == [16]  # type: ignore[attr-defined]
        assert a.ask(heartbeat(first, 2), 4) == HeartbeatResponse(error_code=15)

    def test_a_parked_sync_is_answered_16_at_shutdown(self) -> None:
        """ERR-6"""
        driver = Driver()
        a, first, b, second = two_members(driver)
        a.send(join("g", first), 9)
        b.send(join("g", second), 9)
        a.answers(), b.answers()
        b.send(sync(second, [], 3), 5)
        assert not b.answers()
        driver.broker.groups.shut_down(driver.now)
        assert [answer.error_code for answer in b.answers()] == [16]  # type: ignore[attr-defined]


def hello(key: int, version: int, body: bytes = b"", client_id: bytes = b"\xff\xff") -> bytes:
    header = struct.pack(">hhi", key, version, 1) + client_id
    return struct.pack(">i", len(header + body)) + header + body


_GOOD_HEARTBEAT = frame(request_header(12, 3, 1, "c"), heartbeat("m").encode(3))
HOSTILE = {
    "negative length": (struct.pack(">i", -1), "-1 bytes"),
    "tiny length": (struct.pack(">i", 7) + bytes(7), "7 bytes"),
    "oversized length": (struct.pack(">i", 104857601), "socket.request.max.bytes"),
    "unknown API key": (hello(999, 0), "999"),
    "negative API key": (hello(-1, 0), "-1"),
    "an API between brokers": (hello(52, 0, bytes(20)), "Vote"),
    "an API not served": (hello(68, 0, bytes(20)), "ConsumerGroupHeartbeat"),
    "version too high": (hello(12, 99, b"\0"), "Heartbeat v99"),
    "version too low": (hello(1, 0, bytes(50)), "Fetch v0"),
    "negative version": (hello(12, -1), "Heartbeat v-1"),
    "Produce below 3, though advertised": (hello(0, 2, bytes(40)), "Produce v2"),
    "truncated body": (hello(12, 0, b"\0\5gro"), "Heartbeat v0"),
    "truncated header": (struct.pack(">ihhi", 8, 12, 4, 1), "header"),
    "client id longer than the frame": (hello(12, 0, b"", b"\x7f\xff"), "client id"),
    "null where none may be": (hello(12, 0, b"\xff\xff\0\0\0\1\xff\xff"), "Heartbeat v0"),
    "hostile array length": (hello(15, 0, b"\x7f\xff\xff\xff"), "DescribeGroups v0"),
    "hostile compact array length": (hello(15, 5, b"\0\xff\xff\xff\xff\x07"), "DescribeGroups v5"),
    "hostile tag count": (hello(12, 4, b"\xff\xff\xff\xff\x07"), ""),
    "truncated ApiVersions": (hello(18, 3, b"\0"), "ApiVersions v3"),
    "HTTP": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP"),
    "HTTP POST": (b"POST /topics HTTP/1.1\r\n\r\n", "HTTP"),
    "TLS": (bytes.fromhex("16030100c8010000c40303") + bytes(200), "TLS"),
}


class TestHostileInput:
    @pytest.mark.parametrize(("data", "why"), HOSTILE.values(), ids=HOSTILE.keys())
    def test_closes_its_own_connection_and_says_why(self, data: bytes, why: str) -> None:
        """VER-16"""
        driver = Driver()
        other, client = driver.client(), driver.client()
        client.feed(data)
        assert client.closed is not None
        assert why in client.closed
        assert client.fault is None
        assert not client.writes
        assert other.ask(heartbeat("m"), 4) == HeartbeatResponse(error_code=25)
        client.feed(_GOOD_HEARTBEAT)
        assert not client.writes, "nothing is served after that"

    @pytest.mark.parametrize(("data", "why"), HOSTILE.values(), ids=HOSTILE.keys())
    def test_one_byte_at_a_time_too(self, data: bytes, why: str) -> None:
        client = Driver().client()
        for byte in data:
            client.feed(bytes((byte,)))
        assert client.closed is not None

    def test_answers_before_the_bad_frame_go_out_first(self) -> None:
        client = Driver().client()
        client.feed(client.frame(heartbeat("m"), 4) + hello(999, 0))
        assert client.closed is not None
        assert len(client.answers()) == 1

    def test_no_allocation_follows_a_length(self) -> None:
        client = Driver().client()
        client.feed(struct.pack(">i", 104857600) + bytes(10))
        assert client.closed is None
        assert client.connection.kept is not None
        assert len(client.connection.kept) == 14

    def test_the_limit_is_configurable(self) -> None:
        client = Driver(config={"socket.request.max.bytes": "1000"}).client()
        client.feed(struct.pack(">i", 1001))
        assert client.closed is not None
        assert "1000" in client.closed

    def test_a_fault_of_ours_closes_one_connection_and_is_shown(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(broker: Broker, call: Call) -> Result:
            raise RuntimeError("planted")

        driver = Driver()
        served = apis.apis_of(NEWEST)[16]
        assert served is not None
        monkeypatch.setattr(served, "handle", fail)
        client, other = driver.client(), driver.client()
        client.send(ListGroupsRequest(), 5)
        assert client.closed is not None
        assert isinstance(client.fault, RuntimeError)
        assert other.ask(heartbeat("m"), 4) == HeartbeatResponse(error_code=25)

    def test_an_answer_that_cannot_be_encoded_is_a_fault_of_ours(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        driver = Driver()
        served = apis.apis_of(NEWEST)[12]
        assert served is not None
        monkeypatch.setattr(
            served, "handle", lambda broker, call: HeartbeatResponse(error_code=1 << 20)
        )
        client = driver.client()
        client.send(heartbeat("m"), 4)
        assert client.closed is not None
        assert "cannot be encoded" in client.closed
        assert isinstance(client.fault, WireError)


class TestForgiven:
    def test_trailing_bytes(self) -> None:
        client = Driver().client()
        body = heartbeat("m").encode(3) + b"trailing"
        client.asked.append((7, 12, 3))
        client.feed(frame(request_header(12, 3, 7, "c"), body))
        assert client.answers() == [HeartbeatResponse(error_code=25)]

    @pytest.mark.parametrize(
        "client_id",
        [b"\xff\xff", b"\xff\xfe", b"\x80\x00", b"\0\0", b"\0\2\xff\xfe", b"\0\4a\0b\n"],
    )
    def test_odd_client_ids(self, client_id: bytes) -> None:
        """ENT-8: null is "", and so is any negative length; what is not UTF-8 is served too."""
        client = Driver().client()
        client.asked.append((1, 12, 3))
        client.feed(hello(12, 3, heartbeat("m").encode(3), client_id))
        assert client.answers() == [HeartbeatResponse(error_code=25)]

    def test_unknown_tagged_fields(self) -> None:
        client = Driver().client()
        body = heartbeat("m").encode(4)
        assert body.endswith(b"\0")
        client.asked.append((1, 12, 4))
        header = request_header(12, 4, 1, "c")
        assert header.endswith(b"\0")
        client.feed(frame(header[:-1] + b"\1\x63\3abc", body[:-1] + b"\1\x62\1x"))
        assert client.answers() == [HeartbeatResponse(error_code=25)]


class TestApiVersions:
    @pytest.mark.parametrize("version", [6, 99, 32767, -1])
    def test_unknown_version_is_answered_in_v0_and_the_connection_stays(self, version: int) -> None:
        """VER-16, KIP-511: error 35 and the one entry a client needs to ask again."""
        client = Driver().client()
        client.feed(hello(18, version, b"\0"))
        client.asked.append((1, 18, 0))
        (answer,) = client.answers()
        assert isinstance(answer, ApiVersionsResponse)
        assert answer.error_code == 35
        assert [(row.api_key, row.min_version, row.max_version) for row in answer.api_keys] == [
            (18, 0, 5)
        ]
        assert client.ask(heartbeat("m"), 4) == HeartbeatResponse(error_code=25)


class TestInterceptors:
    def test_answer_hold_drop_pass(self) -> None:
        driver = Driver()
        client, other = driver.client(), driver.client()
        verdicts: list[Verdict] = [Answer(HeartbeatResponse(error_code=27)), Hold(50), None, Drop()]
        seen: list[Call] = []

        def faults(call: Call) -> Verdict:
            seen.append(call)
            return verdicts.pop(0)

        driver.broker.interceptors.append(faults)
        assert client.ask(heartbeat("m"), 4) == HeartbeatResponse(error_code=27)
        client.send(heartbeat("m"), 4)
        assert not client.answers(), "held"
        driver.pass_time(49)
        assert not client.answers()
        driver.pass_time(1)
        assert client.answers() == [HeartbeatResponse(error_code=25)]
        assert client.ask(heartbeat("m"), 4) == HeartbeatResponse(error_code=25)
        client.feed(client.frame(heartbeat("m"), 4) + client.frame(heartbeat("m"), 4))
        driver.pass_time(100_000)
        assert not client.answers(), "dropped, and the rest of the connection waits with it"
        assert len(seen) == 4
        driver.broker.interceptors.clear()
        assert other.ask(heartbeat("m"), 4) == HeartbeatResponse(error_code=25)

    def test_the_first_verdict_counts_and_a_held_request_may_be_parked_after_it(self) -> None:
        driver = Driver(config={"group.initial.rebalance.delay.ms": "1000"})
        client = driver.client()
        member = new_member(client)
        driver.broker.interceptors += [
            lambda call: None,
            lambda call: Hold(10),
            lambda call: Drop(),
        ]
        client.send(join("g", member), 9)
        driver.broker.interceptors.clear()
        driver.pass_time(1009)
        assert not client.answers()
        driver.pass_time(1)
        (joined,) = client.answers()
        assert isinstance(joined, JoinGroupResponse)
        assert joined.error_code == 0

    def test_a_connection_lost_while_its_request_is_held(self) -> None:
        driver = Driver()
        client = driver.client()
        driver.broker.interceptors.append(lambda call: Hold(10))
        client.send(FindCoordinatorRequest(key="g"), 3)
        client.connection.lost()
        driver.pass_time(20)
        assert not client.writes
        assert driver.broker.next_deadline() != 10
