"""The facts of each lesson, computed from the log of its own run: the right option, instants,
numbers, names.

Every function takes a `Run` and answers a dictionary for the lesson's texts. `answer` is the right
option's id; `truth_ms` and `truth` are what is drawn on the picture when the answer is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from coordinator.events.cluster import PartitionChange
from coordinator.events.faults import FaultInjected, MemberResumed
from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    GroupLoaded,
    MemberJoined,
    MemberRemoved,
    OffsetsCommitted,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import GroupEpochBumped, TargetAssigned
from coordinator.events.members import (
    ApplicationStalled,
    MemberClosing,
    MemberCrashed,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from coordinator.events.wire import RequestAnswered, RequestRefused
from coordinator.history.explain.formatting import duration
from coordinator.verbs.brokers import MoveCoordinator
from coordinator.verbs.members import PauseMember

from . import moving, queueing
from .runs import s, seen, summed

if TYPE_CHECKING:
    from .runs import Run

Facts = dict[str, Any]


def when_does_a_know(run: Run) -> Facts:
    joined = run.first(MemberJoined, client="c-1")
    told = run.all(RequestRefused, api="heartbeat", client="app-1")[0]
    delay = told.at_ms - joined.at_ms
    beats = [line.at_ms for line in run.all(FaultInjected, client="app-1")]
    before = max(at for at in beats if at < told.at_ms)
    return {
        "answer": "heartbeat" if told.at_ms in beats else "at-once",
        **seen(told, "A is told", "app-1"),
        "joined": s(joined.at_ms),
        "told": s(told.at_ms),
        "delay": duration(delay),
        "before": s(before),
        "latest": s(before + _interval(beats)),
        "stopped": s(run.activity("app-1", "stopped")[0][0]),
    }


def _interval(beats: list[int]) -> int:
    """How far heartbeats are apart while nothing happens."""
    return min(after - before for before, after in pairwise(beats))


def three_clocks(run: Run) -> Facts:
    begun = {
        "app-2": run.first(MemberClosing, client="app-2").at_ms,
        "app-3": run.first(MemberCrashed, client="app-3").at_ms,
        "app-4": run.first(PauseMember, client="app-4").at_ms,
        "app-5": run.first(ApplicationStalled, client="app-5").at_ms,
    }
    out = {name: run.first(MemberRemoved, client=name).at_ms - at for name, at in begun.items()}
    order = sorted(out, key=lambda name: out[name])
    return {
        "answer": {"app-5": "poll", "app-3": "kill", "app-4": "freeze", "app-2": "close"}[
            order[-1]
        ],
        **seen(run.first(MemberRemoved, client="app-5"), "E leaves by itself", "app-5"),
        "close": duration(out["app-2"]),
        "kill": duration(out["app-3"]),
        "freeze": duration(out["app-4"]),
        "poll": duration(out["app-5"]),
        "reason": run.first(MemberRemoved, client="app-5").event.detail,
    }


def frozen_wakes(run: Run) -> Facts:
    resumed = run.first(MemberResumed).at_ms
    removed = run.first(MemberRemoved, client="app-2").at_ms
    refused = [line for line in run.all(RequestRefused, client="app-2") if line.at_ms > resumed]
    lost = run.first(PartitionsLost, client="app-2").at_ms
    commit = next(line for line in refused if line.event.api == "offset_commit")
    accepted = [
        line for line in run.all(OffsetsCommitted, client="app-2") if resumed < line.at_ms <= lost
    ]
    return {
        "answer": "accepted" if accepted else "refused",
        **seen(commit, "commit refused", "app-2"),
        "removed": s(removed),
        "woke": s(resumed),
        "error": commit.event.errors[0],
        "lost": s(lost),
        "window": duration(lost - resumed),
        "other": run.owner(2, resumed),
    }


def commit_in_each_half(run: Run) -> Facts:
    begun = run.first(RebalanceStarted, after_ms=10_000).at_ms
    generation = run.first(GenerationStarted, generation=2).at_ms
    stored = run.first(GenerationStored, generation=2).at_ms
    accepted = run.all(RequestAnswered, api="offset_commit")
    refused = run.all(RequestRefused, api="offset_commit")
    first = [line for line in accepted if begun < line.at_ms < generation]
    second = [line for line in accepted if generation < line.at_ms < stored]
    wrongly = [line for line in refused if not generation < line.at_ms < stored]
    return {
        "answer": "first-only" if first and refused and not second and not wrongly else "both",
        **seen(refused[0], "a commit is refused", "app-2"),
        "begun": s(begun),
        "generation": s(generation),
        "stored": s(stored),
        "accepted": len(first),
        "refused_at": s(refused[0].at_ms),
        "refused_generation": refused[0].generation,
        "error": refused[0].event.errors[0],
        "length": duration(stored - generation),
        "next": s(next(line.at_ms for line in accepted if line.at_ms > stored)),
    }


def cooperative_one_more(run: Run) -> Facts:
    joined = run.first(MemberJoined, client="d-1").at_ms
    later = [line for line in run.all(GenerationStarted) if line.at_ms > joined]
    revoked = [
        row
        for line in run.all(PartitionsRevoked)
        if line.at_ms > joined
        for row in line.event.partitions
    ]
    assigned = next(
        line for line in run.all(PartitionsAssigned, client="d-1") if line.event.partitions
    )
    gave_up = run.first(PartitionsRevoked, after_ms=joined).at_ms
    return {
        "answer": f"{len(later)}-{'moved' if len(revoked) < 12 else 'all'}",
        **seen(assigned, "D has its share", "d-1"),
        "joined": s(joined),
        "stayed": len(run.group["raster"]) - len(revoked),
        "generations": len(later),
        "revoked": len(revoked),
        "gap": duration(assigned.at_ms - gave_up),
        "first": s(later[0].at_ms),
        "second": s(later[-1].at_ms),
        "gave_up": s(gave_up),
        "assigned": s(assigned.at_ms),
        "lost": summed(run.lost_ms()),
    }


def rolling_switch(run: Run) -> Facts:
    generations = run.all(GenerationStarted)
    two = max((line for line in generations if line.at_ms < 69_000), key=lambda line: line.at_ms)
    last = generations[-1]
    first = next(line for line in generations if line.event.protocol_name == "cooperative-sticky")
    return {
        "answer": two.event.protocol_name,
        **seen(two, f"{two.event.protocol_name}: all offer it"),
        "two": two.event.protocol_name,
        "last": last.event.protocol_name,
        "first": s(first.at_ms),
        "generations": len(generations),
    }


def no_barrier(run: Run) -> Facts:
    joined = next(line for line in run.all(GroupEpochBumped) if line.at_ms > 10_000)
    target = run.first(TargetAssigned, after_ms=joined.at_ms - 1)
    gave_up = run.first(PartitionsRevoked, after_ms=joined.at_ms)
    assigned = next(
        line for line in run.all(PartitionsAssigned, client="c-1") if line.event.partitions
    )
    stops = [
        span
        for name in ("app-1", "app-2")
        for span in run.activity(name, "stopped")
        if span[1] > joined.at_ms
    ]
    return {
        "answer": "c-waits" if not stops and assigned.at_ms > gave_up.at_ms else "barrier",
        **seen(assigned, "C has its two", "c-1"),
        "joined": s(joined.at_ms),
        "epoch": target.event.assignment_epoch,
        "assignor": target.event.assignor,
        "gave_up": s(gave_up.at_ms),
        "assigned": s(assigned.at_ms),
        "waited": duration(assigned.at_ms - joined.at_ms),
        "gap": duration(assigned.at_ms - gave_up.at_ms),
        "lost": summed(run.lost_ms()),
    }


def coordinator_moves(run: Run) -> Facts:
    moved = run.first(MoveCoordinator).at_ms
    loaded = run.first(GroupLoaded, after_ms=moved - 1)
    refused = [line for line in run.all(RequestRefused) if "NOT_COORDINATOR" in line.event.errors]
    generations = [line.generation for line in run.all(GenerationStarted)]
    return {
        "answer": "same" if generations == [1] else "rebalance",
        **seen(refused[0], "NOT_COORDINATOR", run.who(refused[0])),
        "first_broker": run.first(GenerationStored).broker,
        "to_broker": loaded.broker,
        "moved": s(moved),
        "state": loaded.event.state,
        "generation": loaded.generation,
        "refused": s(refused[0].at_ms),
        "lost": summed(run.lost_ms()),
        "how_many": len(refused),
        **_reassigned(run),
    }


def _reassigned(run: Run) -> Facts:
    """A partition on its way, in the controller's words (KIP-455): all replicas, the original ones,
    the target."""
    begun, *_ = run.changed(PartitionChange.REASSIGNMENT_STARTED)
    done, *_ = run.changed(PartitionChange.REASSIGNMENT_COMPLETED)
    original = [broker for broker in begun.event.replicas if broker not in begun.event.adding]
    target = [broker for broker in begun.event.replicas if broker not in begun.event.removing]
    return {
        "partition": f"{begun.event.topic}-{begun.event.partition}",
        "begun": s(begun.at_ms),
        "done": s(done.at_ms),
        "took": duration(done.at_ms - begun.at_ms),
        "ar": _brokers(begun.event.replicas),
        "oar": _brokers(original),
        "rar": _brokers(target),
        "after": _brokers(done.event.replicas),
        "in_sync": _brokers(done.event.isr),
        "old_leader": begun.event.leader,
        "new_leader": done.event.leader,
        "last": begun.event.adding[-1],
    }


def _brokers(ids: list[int]) -> str:
    return ", ".join(map(str, ids))


ANSWERS: Final[dict[str, Callable[[Run], Facts]]] = {
    "03_when_does_a_know": when_does_a_know,
    "05_three_clocks": three_clocks,
    "06_frozen_wakes": frozen_wakes,
    "07_commit_in_each_half": commit_in_each_half,
    "09_cooperative_one_more": cooperative_one_more,
    "12_rolling_switch": rolling_switch,
    "13_no_barrier": no_barrier,
    "14_coordinator_moves": coordinator_moves,
    "15_migration_in_place": moving.migration_in_place,
    "16_broker_crashes": moving.broker_crashes,
    "17_queue_on_a_log": queueing.queue_on_a_log,
}
