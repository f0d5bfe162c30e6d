"""The facts of lessons in which a whole group moves, to another protocol or to another broker, and of
what is to be tried in them.

As in `answers` and `trying`, whose tables have these functions by lesson.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coordinator.events.cluster import BrokerFenced, ControllerElected
from coordinator.events.faults import FaultInjected
from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    GroupLoaded,
    MemberRemoved,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupUpgraded,
    ConsumerMemberSubscribed,
    GroupEpochBumped,
)
from coordinator.events.members import (
    MemberClosed,
    MemberCrashed,
    MemberFailed,
    PartitionsAssigned,
    PartitionsRevoked,
)
from coordinator.events.wire import RequestAnswered, RequestRefused
from coordinator.history.explain.formatting import duration, listed
from coordinator.verbs.brokers import StartBroker, StopBroker

from .runs import s, seen, summed

if TYPE_CHECKING:
    from .runs import Run

Facts = dict[str, Any]


# -- to KIP-848, in place


def migration_in_place(run: Run) -> Facts:
    upgraded = run.first(ConsumerGroupUpgraded)
    subscribed = run.all(ConsumerMemberSubscribed)
    joined = next(one for one in subscribed if one.event.client_id == "new-1")
    begun = upgraded.at_ms
    bumped = run.first(GroupEpochBumped, after_ms=begun - 1)
    told = run.refused("REBALANCE_IN_PROGRESS", client="app-1")[0]
    joins = [
        line
        for line in run.all(RequestAnswered, api="join_group")
        if begun < line.at_ms < run.window_ms[1]
    ]
    waited = max(line.event.waited_ms for line in joins)
    gave_up = run.first(PartitionsRevoked, after_ms=begun)
    assigned = next(
        line for line in run.all(PartitionsAssigned, client="new-1") if line.event.partitions
    )
    stayed = not [line for line in run.all(MemberRemoved) if line.at_ms < assigned.at_ms]
    return {
        "answer": "stay" if stayed and joins else "out",
        **seen(gave_up, "hands over to C", gave_up.event.client),
        "joined": s(joined.at_ms),
        "upgraded": s(begun),
        "epoch": bumped.event.group_epoch,
        "error": told.event.errors[0],
        "told": s(told.at_ms),
        "waited": f"after {duration(waited)}" if waited else "at once",
        "gave_up": s(gave_up.at_ms),
        "share": len(assigned.event.partitions),
        "assigned": s(assigned.at_ms),
        "lost": summed(run.lost_ms()),
    }


def not_allowed(run: Run, base: Run) -> Facts:
    failed = run.first(MemberFailed, client="new-1")
    refused = run.all(RequestRefused, api="consumer_group_heartbeat", client="new-1")[0]
    (generation,) = {line.generation for line in run.all(GenerationStored)[:1]}
    closed = run.all(MemberClosed)[-1]
    return {
        **seen(refused, "C is refused", "new-1"),
        "last": s(closed.at_ms),
        "lost": summed(run.lost_ms()),
        "error": refused.event.errors[0],
        "refused": s(refused.at_ms),
        "generation": generation,
        "ended": failed.at_ms >= refused.at_ms,
        "upgrades": len(run.all(ConsumerGroupUpgraded)),
    }


def eager_members(run: Run, base: Run) -> Facts:
    low, high = run.window_ms
    stops = {
        name: [span for span in run.activity(name, "stopped") if low < span[0] < high]
        for name in ("app-1", "app-2")
    }
    begin, end = max((span for spans in stops.values() for span in spans), key=_length)
    name = next(name for name, spans in stops.items() if (begin, end) in spans)
    revoked = run.first(PartitionsRevoked, client=name, after_ms=begin - 1)
    who = listed([name for name, spans in stops.items() if spans])
    return {
        **seen(revoked, "stops", name),
        "begin": s(begin),
        "stopped": f"No, {who} stop for up to {duration(end - begin)}",
        "stops": sum(map(len, stops.values())),
        "lost": summed(run.lost_ms()),
        "before": summed(base.lost_ms()),
    }


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


# -- to another broker, after a crash


def broker_crashes(run: Run) -> Facts:
    stopped = run.first(StopBroker)
    fenced = next(one for one in run.all(BrokerFenced) if one.broker == stopped.broker)
    loaded = run.first(GroupLoaded, after_ms=stopped.at_ms)
    back = run.first(StartBroker, after_ms=stopped.at_ms)
    elected = next(one for one in run.all(ControllerElected) if one.at_ms > stopped.at_ms)
    (group,) = run.plain["groups"]
    without_leader = [
        f"{row['topic']}-{row['partition']}"
        for row in group["raster"]
        for begin, end, owners, still in row["spans"]
        if still and owners and begin <= stopped.at_ms < end
    ]
    generations = [line.generation for line in run.all(GenerationStarted)]
    found = [
        line.at_ms for line in run.all(FaultInjected, api="Heartbeat") if line.at_ms > loaded.at_ms
    ]
    return {
        "answer": "same" if generations == [1] else "rebalance",
        **seen(loaded, f"broker {loaded.broker} has it"),
        "first_broker": stopped.broker,
        "to_broker": loaded.broker,
        "stopped": s(stopped.at_ms),
        "returned": s(back.at_ms),
        "fenced": s(fenced.at_ms),
        "noticed": duration(fenced.at_ms - stopped.at_ms),
        "controller": elected.broker,
        "elected": s(elected.at_ms),
        "broker_session": duration(fenced.at_ms - elected.at_ms),
        "without_leader": listed(without_leader),
        "state": loaded.event.state,
        "generation": loaded.generation,
        "found": s(found[1]),
        "lost": summed(run.lost_ms()),
    }


def one_replica(run: Run, base: Run) -> Facts:
    stopped = run.first(StopBroker)
    loaded = run.first(GroupLoaded, after_ms=stopped.at_ms)
    return {
        **seen(loaded, f"broker {loaded.broker} has it"),
        "first_broker": stopped.broker,
        "by": loaded.broker,
        "back": s(loaded.at_ms),
        "loaded": s(loaded.at_ms),
        "without": duration(loaded.at_ms - stopped.at_ms),
    }


def dies_meanwhile(run: Run, base: Run) -> Facts:
    died = run.first(MemberCrashed, client="app-2")
    removed = run.first(MemberRemoved, client="app-2")
    loaded = run.first(GroupLoaded, after_ms=run.first(StopBroker).at_ms)
    return {
        **seen(removed, "B is removed", "app-2"),
        "removed": s(removed.at_ms),
        "noticed": duration(removed.at_ms - died.at_ms),
        "to_broker": loaded.broker,
        "loaded": s(loaded.at_ms),
        "session_began_anew": removed.at_ms - loaded.at_ms,
    }
