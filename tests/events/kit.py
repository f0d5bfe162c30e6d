"""The virtual world of tests/core/groups, with an event log: every request is logged as seen and is the
cause of what it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.core.groups.requests import Request, RequestContext
from coordinator.events import EventLog
from coordinator.events.wire import RequestSeen
from coordinator.history.explain.output import as_text, timeline_of
from coordinator.history.world.lost_time.rebalances import Cost
from coordinator.history.world.timeline import Timeline
from coordinator.history.world.views import GroupView, Rebalance
from coordinator.wire.consumer_protocol import Assignment, Subscription, TopicPartitions
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest
from tests.core.groups.callers import Call
from tests.core.groups.kit import World

Owned = Mapping[str, Sequence[int]]


def wants(*topics: str, owned: Owned | None = None) -> dict[str, bytes]:
    """The one protocol of a consumer that wants these topics."""
    held = tuple(TopicPartitions(topic, tuple(numbers)) for topic, numbers in (owned or {}).items())
    return {"range": Subscription(topics, owned_partitions=held).encode(1)}


class LoggedWorld(World):
    """A world whose coordinator writes a log in memory. Member ids have uuids that look like
    some."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self.log_file = EventLog(
            run="test", seed=1, epoch_ms=1_700_000_000_000, config={"group.max.size": 10}
        )
        self.coordinator = GroupCoordinator(self.config, self.log_file)

    def ask(self, client: str, message: Any, version: int) -> Call:
        call = Call(client, version, message)
        self.fresh += type(message) is JoinGroupRequest and not message.member_id
        self.calls.append(call)
        cause = None
        if type(message) is not HeartbeatRequest:
            places = {
                "group": getattr(message, "group_id", "") or None,
                "member": getattr(message, "member_id", "") or None,
            }
            api = type(message).__name__.removesuffix("Request")
            api = "".join("_" + c.lower() if c.isupper() else c for c in api).strip("_")
            cause = self.log_file.append(
                RequestSeen(api, version, client, "-"), at_ms=self.now, **places
            )
        fresh_id = f"{self.fresh * 0x9E3779B1 % (1 << 32):08x}-0000-4000-8000-{self.fresh:012x}"
        context = RequestContext(version, client, "/127.0.0.1", fresh_id, call, cause)
        self._take(self.coordinator.handle(Request(context, message), self.now))
        return call

    def share(self, **shares: Owned) -> None:
        """Everybody whose turn it is syncs; the leader gives each client these partitions."""
        while self.group.join_deadline is not None:
            self.advance(self.group.join_deadline - self.now)
        blobs = {name: Assignment.of(owned).encode(1) for name, owned in shares.items()}
        for name in sorted(
            self.names(), key=lambda name: (self.id(name) == self.group.leader, name)
        ):
            self.sync(name, blobs, protocol=self.group.protocol_name)
        assert self.state == "Stable", self.group

    def timeline(self) -> Timeline:
        """What explain makes of the log so far."""
        return timeline_of(self.log_file.read())

    def view(self) -> GroupView:
        """The group as explain sees it."""
        return self.timeline().groups[self.group_id]

    def last(self) -> Rebalance:
        """The last rebalance as explain sees it."""
        rebalance = self.view().current
        assert rebalance is not None
        return rebalance

    def cost(self) -> Cost:
        """What the last rebalance cost, as explain tells it."""
        timeline = self.timeline()
        group = timeline.groups[self.group_id]
        return timeline.lost_time.costs(group, timeline.end_ms)[self.last().seq]

    def text(self, generation: int | None = None) -> str:
        """What explain prints."""
        timeline = self.timeline()
        return "\n".join(as_text(timeline, timeline.groups.values(), generation))


def a_long_story() -> LoggedWorld:
    """One group through everything that can happen to a group: each type of event occurs."""
    w = LoggedWorld(initial_rebalance_delay_ms=3000)
    session = {"session_ms": 6000, "rebalance_ms": 10_000}
    w.admin_commit({("orders", 9): 1})
    w.enter("a", protocols=wants("orders"), **session)
    w.advance(1000)
    w.enter("b", protocols=wants("orders"), **session)  # the initial delay runs once more (DLY-2)
    w.join(
        "ghost", protocols=wants("orders"), session_ms=7000
    )  # never comes back with its id (MID-5)
    w.share(a={"orders": (0, 1)}, b={"orders": (2, 3)})
    w.commit("a", {("orders", 0): 5, ("orders", 1): 7})
    w.advance(2000)
    for name in "ab":
        w.heartbeat(name)
    w.advance(2000)
    w.enter("s", instance="box", protocols=wants("orders", "payments"), **session)
    for name in "ab":
        w.heartbeat(name)
        w.join(name, protocols=wants("orders"), **session)
    w.share(a={"orders": (0,)}, b={"orders": (1,)}, s={"orders": (2, 3)})
    w.client("s").member_id = ""
    w.enter(
        "s", protocols=wants("orders", "payments"), **session
    )  # a static member restarts: no rebalance (STA-3)
    w.sync("s")
    w.advance(4000)
    for name in "as":
        w.heartbeat(name)
    w.advance(3000)  # b expires (SES-2)
    w.leave("a", reason="the application closed")
    w.advance(2500)
    w.heartbeat("s")
    w.advance(5000)
    w.heartbeat(
        "s"
    )  # alive, but does not rejoin: static, so the join phase waits once more (REB-5)
    w.advance(4000)
    w.enter("c", protocols=wants("orders"), **session)
    w.heartbeat("s")
    w.advance(5000)
    w.heartbeat("s")
    w.advance(4000)  # c leads now: s did not rejoin (LEAD-3)
    w.config.append_error = 10
    w.sync("c", {})  # cannot be stored (SYNC-3, ERR-2)
    w.config.append_error = 0
    w.join("c", protocols=wants("orders"), **session)
    w.join("s", protocols=wants("orders"), **session)
    w.sync("c", {})
    w.advance(3000)
    for name in "cs":
        w.heartbeat(name)
    w.advance(5000)
    for name in "cs":
        w.heartbeat(name)
    w.advance(3000)  # s did not sync in time (SYNC-6)
    w.join("c", protocols=wants("orders"), **session)
    w.share(c={"orders": (0, 1, 2, 3)})
    w.delete_partitions(("orders", 9))
    w.pend(7, {("orders", 0): 9, ("orders", 1): 9})
    w.commit("c", {("orders", 1): 11})  # overtakes what is pending (TXN-5)
    w.end_transaction(7, commit=True)
    w.unload()
    w.finish_load()
    w.leave("c")
    w.delete()
    return w
