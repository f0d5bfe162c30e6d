"""Who calls a coordinator in these tests: clients, and what became of each of their requests."""

from __future__ import annotations

from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from coordinator.wire.consumer_protocol import Subscription
from coordinator.wire.messages.join_group import JoinGroupRequest


def subscribe(*topics: str) -> bytes:
    """The metadata of a consumer that wants these topics."""
    return Subscription(topics).encode(0)


class Call:
    """One request and, once it came, its answer. Fields of the answer can be read from the call
    itself."""

    def __init__(self, client: str, version: int, message: Any) -> None:
        self.client = client
        self.version = version
        self.message = message
        self.reply: Any = None
        self.at: int | None = None
        self.events: list[ev.Event] = []
        """What happened while it was served."""

    @property
    def parked(self) -> bool:
        """Not answered yet."""
        return self.reply is None

    @property
    def error(self) -> int:
        """The error code at the top of the answer."""
        assert self.reply is not None, f"{self!r} is parked"
        return int(self.reply.error_code)

    @property
    def ok(self) -> bool:
        """Answered, and without error."""
        return self.reply is not None and self.error == ErrorCode.NONE

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        assert self.reply is not None, f"{self!r} is parked"
        return getattr(self.reply, name)

    def __repr__(self) -> str:
        return f"<{type(self.message).__name__} v{self.version} of {self.client}: {self.reply or 'parked'}>"


class Client:
    """What a client remembers of the answers it got."""

    def __init__(self) -> None:
        self.member_id = ""
        self.generation = -1
        self.leader = ""
        self.instance: str | None = None

    def learn(self, call: Call) -> None:
        """Take over id and generation from an answered JoinGroup."""
        reply = call.reply
        if type(call.message) is not JoinGroupRequest:
            return
        if reply.error_code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            self.member_id = reply.member_id
        if reply.error_code == ErrorCode.NONE:
            self.generation, self.leader = reply.generation_id, reply.leader
