"""Several members beside each other, with one coordinator played by the test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.core.groups.config import GroupConfig
from coordinator.core.groups.requests import Request as HeartRequest
from coordinator.core.groups.requests import RequestContext
from coordinator.members.effects import Send
from coordinator.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.schema import Response
from tests.members.kit import Host, Topics, view


class Crowd:
    """Several members and a real GroupCoordinator, in one process and virtual time. Requests and
    answers take no time."""

    def __init__(self, topics: Topics, **config: Any) -> None:
        self.now = 0
        self.cluster = dict(topics)
        self.coordinator = GroupCoordinator(
            GroupConfig(**{"initial_rebalance_delay_ms": 0, **config})
        )
        self.hosts: dict[str, Host] = {}
        self.tokens: dict[tuple[str, int], Host] = {}
        self.joins = 0
        self.story: list[str] = []
        """Requests by kind and client, in order, heartbeats left out."""

    def add(self, name: str, topics: Iterable[str] = ("orders",), **config: Any) -> Host:
        """A new member on its way in."""
        host = Host(topics, now=self.now, client_id=name, **config)
        self.hosts[name] = host
        host.pause_ms = 100
        host.turn()
        self.settle()
        return host

    def settle(self) -> None:
        """Carry out everything that takes no time."""
        for _ in range(10_000):
            served = [self._serve(host) for host in list(self.hosts.values())]
            if not any(served):
                return
        raise AssertionError("no end")

    def _serve(self, host: Host) -> bool:
        host.gather()
        todo, host.todo = host.todo, []
        questions, host.questions = host.questions, []
        for question in questions:
            known = {
                n: c
                for n, c in self.cluster.items()
                if question.topics is None or n in question.topics
            }
            missing = {
                n: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                for n in (question.topics or ())
                if n not in known
            }
            host.member.metadata(view(known, question.topics, missing), self.now)
            host.turn()
        for send in todo:
            self._ask(host, send)
        return bool(todo or questions)

    def _ask(self, host: Host, send: Send) -> None:
        name = type(send.message).__name__.removesuffix("Request")
        if name != "Heartbeat":
            self.story.append(f"{name} {host.member.config.client_id}")
        if isinstance(send.message, FindCoordinatorRequest):
            self._give(
                host,
                send.number,
                FindCoordinatorResponse(coordinators=[Coordinator(node_id=1, host="h", port=1)]),
            )
            return
        self.joins += isinstance(send.message, JoinGroupRequest)
        version = {8: 9, 9: 9, 11: 9, 12: 4, 13: 5, 14: 5}[send.message.api_key]
        token = (host.member.config.client_id, send.number)
        self.tokens[token] = host
        context = RequestContext(
            version, host.member.config.client_id, "/127.0.0.1", f"uuid-{self.joins}", token
        )
        self._replies(
            self.coordinator.handle(HeartRequest(context, send.message), self.now).replies
        )

    def _replies(self, replies: Any) -> None:
        for token, message in replies:
            host = self.tokens.pop(token)
            if host in self.hosts.values():
                self._give(host, token[1], message)

    def _give(self, host: Host, number: int, response: Response) -> None:
        host.now = self.now
        host.member.receive(number, response, self.now)
        host.turn()

    def advance(self, ms: int) -> None:
        """Let time pass for all."""
        end = self.now + ms
        for _ in range(100_000):
            due = [
                self.coordinator.next_deadline(),
                *(host.deadline() for host in self.hosts.values()),
            ]
            at = min((instant for instant in due if instant is not None), default=None)
            if at is None or at > end:
                self.now = end
                for host in self.hosts.values():
                    host.now = end
                return
            self.now = max(self.now, at)
            self._replies(self.coordinator.tick(self.now).replies)
            for host in list(self.hosts.values()):
                host.now = self.now
                deadline = host.deadline()
                if deadline is not None and deadline <= self.now:
                    host.member.tick(self.now)
                    host.turn()
            self.settle()
        raise AssertionError("no end")

    def leave(self, name: str) -> None:
        """One closes and is forgotten."""
        host = self.hosts[name]
        host.member.close(self.now)
        self.settle()
        host.gather()
        assert host.closed is not None
        del self.hosts[name]

    def crash(self, name: str) -> None:
        """One is never heard of again."""
        del self.hosts[name]

    def stable(self) -> bool:
        """Are all settled in the group's generation?"""
        group = self.coordinator.groups["g"]
        return all(
            h.member.settled and h.member.generation.generation_id == group.generation
            for h in self.hosts.values()
        )

    def owned(self) -> dict[str, str]:
        """Who has what; no partition twice."""
        shares = {name: host.member.owned for name, host in self.hosts.items()}
        everything = [partition for share in shares.values() for partition in share]
        assert len(everything) == len(set(everything)), shares
        return {name: " ".join(map(str, share)) for name, share in shares.items()}
