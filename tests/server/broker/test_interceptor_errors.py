"""What interceptors do wrong is told to the embedder; what nobody serves is told once for each
client."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.base.errors import ErrorCode
from coordinator.server.interceptors import Answer, Handle, Hold, InterceptorError, Verdict
from coordinator.server.requests.call import Call
from coordinator.wire.framing import frame, request_header
from coordinator.wire.messages.api_versions import ApiVersionsRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupResponse
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.server.broker.driver import Driver
from tests.server.broker.test_wire_log import LoggedDriver

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def fail(call: Call) -> Verdict:
    raise KeyError("planted")


def gives(value: Any) -> Callable[[Call], Any]:
    return lambda call: value


def fail_after(response: object) -> Any:
    raise KeyError("planted")


@pytest.mark.parametrize(
    ("interceptor", "told"),
    [
        (fail, "raised KeyError: 'planted'"),
        (gives(HeartbeatResponse(error_code=27)), "would be right"),
        (gives(27), "gave 27"),
        (gives(Answer(JoinGroupResponse())), "a HeartbeatResponse would be right"),
        (gives(Answer(HeartbeatRequest())), "a HeartbeatResponse would be right"),
        (gives(Answer(HeartbeatResponse(error_code=1 << 40))), "what v4 cannot say"),
        (gives(Hold(5, gives)), "would be right"),
        (
            gives(Handle(ApiVersionsRequest(), lambda response: HeartbeatResponse())),
            "a HeartbeatRequest would be right",
        ),
        (gives(Handle(HEARTBEAT, fail_after)), "raised KeyError: 'planted'"),
        (gives(Handle(HEARTBEAT, lambda response: None)), "answered None"),  # type: ignore[arg-type, return-value]
    ],
)
def test_an_interceptor_that_fails_is_the_embedders_to_know(interceptor: Any, told: str) -> None:
    driver = LoggedDriver()
    driver.broker.interceptors.append(interceptor)
    client, other = driver.client(), driver.client()
    client.send(HEARTBEAT, 4)
    assert (
        client.closed is not None
        and told in client.closed
        and isinstance(client.fault, InterceptorError)
    )
    [error] = driver.broker.interceptor_errors
    assert told in str(error) and "HeartbeatRequest" in str(error)
    assert told in driver.lines("wire")[-1]["why"]
    driver.broker.interceptors.clear()
    other.send(HEARTBEAT, 4)
    assert other.answers(), "its own connection only"


def test_leaving_the_emulator_raises_what_an_interceptor_did() -> None:
    import socket

    data = frame(request_header(18, 0, 1, "c"), b"")
    with pytest.raises(InterceptorError, match="planted") as raised, Emulator() as kafka:
        kafka.run(lambda: kafka.broker.interceptors.append(fail))
        for _ in range(2):
            host, port = kafka.bootstrap_servers.split(":")
            with socket.create_connection((host, int(port)), timeout=60) as client:
                client.sendall(data)
                assert client.recv(1) == b"", "the client sees a closed connection"
    assert raised.value.__notes__ == [
        "1 more interceptor errors followed: see `interceptor_errors`"
    ]
    assert isinstance(raised.value.__cause__, KeyError)
    with pytest.raises(ZeroDivisionError) as other, Emulator() as kafka:
        kafka.run(lambda: kafka.broker.interceptors.append(fail))
        host, port = kafka.bootstrap_servers.split(":")
        with socket.create_connection((host, int(port)), timeout=60) as client:
            client.sendall(data)
            client.recv(1)
        raise ZeroDivisionError
    assert "planted" in other.value.__notes__[0], "what the test itself raised goes first"


def test_a_client_that_asks_for_what_is_not_served_is_named_once() -> None:
    driver = LoggedDriver()
    ask = pack(">ihhih", 11, 53, 0, 1, 1) + b"c"
    closed = []
    for peer in ("10.0.0.1:5", "10.0.0.1:6", "10.0.0.2:5"):
        client = driver.client(peer)
        client.feed(ask)
        closed.append(client.closed)
    assert closed == [
        "BeginQuorumEpoch (key 53) is not served: the client 'c' at 10.0.0.1 asks for it",
        "",
        "BeginQuorumEpoch (key 53) is not served: the client 'c' at 10.0.0.2 asks for it",
    ]
    named = [line for line in driver.lines("wire") if line["type"] == "ApiNotServed"]
    assert [(line["key"], line["client"], line["peer"]) for line in named] == [
        (53, "c", "10.0.0.1:5"),
        (53, "c", "10.0.0.2:5"),
    ]
    assert all(line["why"] for line in driver.lines("wire") if line["type"] == "ConnectionRefused")


def test_the_names_of_endless_clients_are_not_kept() -> None:
    driver = Driver()
    for number in range(1_100):
        driver.client(f"10.0.{number >> 8}.{number & 255}:1").feed(pack(">ihhih", 10, 53, 0, 1, 0))
    last = driver.client("10.9.9.9:1")
    last.feed(pack(">ihhih", 10, 53, 0, 1, 0))
    assert last.closed == ""


def test_a_client_of_a_switched_off_feature_is_named_once() -> None:
    """A share consumer is refused as Kafka refuses it with share.version 0, and people are told who
    it was."""
    driver = LoggedDriver()
    driver.broker.cluster.set_feature("share.version", 0)
    told: list[str] = []
    driver.broker.unserved.tell = told.append
    for _ in range(2):
        client = driver.client()
        client.send(ShareGroupHeartbeatRequest(group_id="s", member_id="m"), 1)
        assert (
            client.answers()[0].error_code == ErrorCode.UNSUPPORTED_VERSION
            and client.closed is None
        )
    [sentence] = told
    assert sentence.startswith("ShareGroupHeartbeat (key 76) is refused")
    assert sentence.endswith("the client 'test' at 127.0.0.1 asks for it")
    assert [line["api"] for line in driver.lines("wire") if line["type"] == "ApiNotServed"] == [
        "ShareGroupHeartbeat"
    ]
