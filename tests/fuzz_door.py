"""Mutated frames against a whole broker, without sockets. Part of `python -m tests.fuzz`.

Whatever a client sends, the broker answers, waits or closes that one connection; never does a
handler fail, and a client beside it is served all along. Cases share a broker in blocks of `BLOCK`,
so a failure repeats from its block's first case.
"""

from __future__ import annotations

from random import Random

from coordinator.wire.framing import frame, request_header
from coordinator.wire.messages import request_type
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from coordinator.wire.schema import Message
from tests.server.broker.driver import Client, Driver, join, new_member
from tests.wire.samples import SERVED, Vector, tame, wild

BLOCK = 100


class Door:
    """A broker with two topics, a group with a member that must not suffer, and strangers."""

    def __init__(self) -> None:
        self.driver = Driver(["orders:3", "a:1"])
        self.bystander = self.driver.client("127.0.0.1:1")
        self.member = new_member(self.bystander, "bystanders")
        self.bystander.send(join("bystanders", self.member), 9)

    def receive(self, data: bytes) -> Client:
        """A new connection sends this and goes."""
        stranger = self.driver.client("127.0.0.1:2")
        stranger.feed(data)
        if stranger.fault is not None:
            raise AssertionError(stranger.closed) from stranger.fault
        stranger.connection.lost()
        self.driver.settle()
        return stranger

    def check(self) -> None:
        """The bystander is as well as before."""
        assert self.bystander.closed is None
        beat = HeartbeatRequest(group_id="bystanders", member_id=self.member, generation_id=1)
        self.bystander.answers()
        answer = self.bystander.ask(beat, 4)
        assert isinstance(answer, HeartbeatResponse)
        assert answer.error_code in (0, 27)


def request_bytes(random: Random, requests: list[Vector]) -> bytes:
    """A request as a frame without its size: of the vectors, of extremes, or one that means
    something."""
    kind = random.randrange(3)
    if kind == 0:
        sample = random.choice(requests)
        return request_header(sample.message.api_key, sample.version, 1, "c") + sample.body
    key = random.choice(SERVED)
    message = request_type(key)
    version = random.randint(*message.versions)
    drawn: Message = (wild if kind == 1 else tame)(message, version, random)
    if isinstance(drawn, JoinGroupRequest) and random.random() < 0.8:
        drawn.session_timeout_ms = drawn.rebalance_timeout_ms = 10_000
        drawn.protocol_type = "consumer"
        drawn.protocols = [JoinGroupRequestProtocol(name="range", metadata=b"\0\0")]
    return request_header(key, version, 1, "c") + drawn.encode(version)


def frame_of(data: bytes) -> bytes:
    """With the size it has."""
    return frame(b"", data)
