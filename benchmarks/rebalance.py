"""A rebalance of bare members: from the first JoinGroup sent to the last SyncGroup answered.

Every member has its own connection and sends two requests, prepared beforehand: a JoinGroup with
changed metadata as soon as the round begins, a SyncGroup as soon as its JoinGroup is answered; the
leader's brings an assignment for everybody. The client, one process on the other core, is part of
the time. Given are the best and the median of several rounds.
"""

from __future__ import annotations

import time
from select import EPOLLIN, epoll
from statistics import median
from struct import Struct
from typing import NamedTuple

from benchmarks.process import (
    Client,
    Row,
    ServerProcess,
    encoded,
    join_request,
    server,
    sync_request,
)
from coordinator.wire.messages.join_group import JoinGroupResponse

_ROUNDS = 9
_SIZE = Struct(">i")
_ERROR = slice(13, 15)  # after size, correlation id, no tagged fields, throttle time
_GENERATION = slice(15, 19)
_TARGETS_MS = {3: 1, 100: 8, 1000: 80}


class _Member:
    """One member's connection and its requests for the round."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.client = Client(address)
        told = self.client.ask(join_request("bench", ""), 9)
        assert isinstance(told, JoinGroupResponse)
        self.member_id = told.member_id
        self.socket = self.client.socket
        self.join = self.sync = b""
        self.generation = -1
        self.syncs = False
        self.answer = bytearray()

    def prepare(self, generation: int, assigned: list[str]) -> None:
        """Encode the requests that lead to `generation`."""
        request = join_request("bench", self.member_id)
        request.protocols[0].metadata = generation.to_bytes(20, "big")
        self.join = encoded(request, 9)
        self.sync = encoded(
            sync_request(
                "bench",
                JoinGroupResponse(generation_id=generation, member_id=self.member_id),
                assigned,
            ),
            5,
        )

    def receive(self) -> bytes | None:
        """The answer, when it is there as a whole."""
        self.answer += self.socket.recv(1 << 20)
        if len(self.answer) < 4 or len(self.answer) < 4 + _SIZE.unpack_from(self.answer)[0]:
            return None
        whole = bytes(self.answer)
        self.answer.clear()
        return whole


def _round(members: dict[int, _Member], poll: epoll, generation: int) -> float:
    """Rebalance once; seconds."""
    began = time.perf_counter()
    for member in members.values():
        member.socket.sendall(member.join)
    joined: set[int] = set()
    synced = 0
    while synced < len(members):
        for descriptor, _ in poll.poll():
            member = members[descriptor]
            answer = member.receive()
            if answer is None:
                continue
            assert answer[_ERROR] == b"\0\0", answer[:40]
            if descriptor in joined:
                synced += 1
            else:
                assert int.from_bytes(answer[_GENERATION], "big") == generation
                joined.add(descriptor)
                member.socket.sendall(member.sync)
    return time.perf_counter() - began


def _gather(members: dict[int, _Member], poll: epoll) -> tuple[int, str]:
    """Let all join until one generation has all of them, and sync; the generation and who leads.
    Where a server has no initial delay, the first who join make generations of their own."""
    generation, leader = -1, ""
    for member in members.values():
        member.socket.sendall(member.join)
    synced: set[int] = set()
    while len(synced) < len(members):
        for descriptor, _ in poll.poll():
            member = members[descriptor]
            answer = member.receive()
            if answer is None:
                continue
            if member.syncs:
                member.syncs = False
                if answer[_ERROR] == b"\0\0" and member.generation == generation:
                    synced.add(descriptor)
                else:
                    member.socket.sendall(member.join)
                continue
            joined = JoinGroupResponse.decode(9, answer, 9)
            assert joined.error_code == 0, joined
            if len(joined.members) == len(members):
                generation, leader = joined.generation_id, joined.member_id
            assigned = [each.member_id for each in joined.members]
            member.generation, member.syncs = joined.generation_id, True
            member.socket.sendall(encoded(sync_request("bench", joined, assigned), 5))
    return generation, leader


class Measured(NamedTuple):
    """Rebalances at one server: seconds of each, and the server's processor time for all."""

    took_s: list[float]
    cpu_s: float


def measure(serving: ServerProcess, size: int, rounds: int) -> Measured:
    """So many rebalances of so many members, at a server that has no group."""
    joining = [_Member(serving.address) for _ in range(size)]
    members = {member.socket.fileno(): member for member in joining}
    with epoll() as poll:
        for descriptor in members:
            poll.register(descriptor, EPOLLIN)
        for member in joining:
            member.prepare(0, [])
        first, leader = _gather(members, poll)
        everybody = [member.member_id for member in joining]
        took = []
        cpu_s = serving.threads_cpu_s()
        for generation in range(first + 1, first + rounds + 1):
            for member in joining:
                member.prepare(generation, everybody if member.member_id == leader else [])
            took.append(_round(members, poll, generation))
        cpu_s = serving.threads_cpu_s() - cpu_s
    for member in joining:
        member.client.close()
    return Measured(took, cpu_s)


def _measure(size: int, rounds: int, loop: str) -> list[float]:
    with server("--config", "group.initial.rebalance.delay.ms=500", loop=loop) as serving:
        return measure(serving, size, rounds).took_s


def run(
    rounds: int = _ROUNDS, sizes: tuple[int, ...] = (3, 100, 1000), loop: str = "auto"
) -> list[Row]:
    """Measure each size."""
    rows = []
    for size in sizes:
        took = _measure(size, rounds, loop)
        rows.append(
            Row(
                f"rebalance of {size} members, best of {rounds}",
                min(took) * 1000,
                "ms",
                f"<= {_TARGETS_MS.get(size, '')}",
            )
        )
        rows.append(Row(f"rebalance of {size} members, median", median(took) * 1000, "ms"))
    return rows


if __name__ == "__main__":
    print(*run(), sep="\n")
