"""The facts of each thing to try, computed from the log of the changed run beside the lesson's own.

Every function takes the changed run and the lesson's, and answers a dictionary for the texts of
that try. Rows are found by the lesson's name and the try's id.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from coordinator.events.cluster import PartitionChange, PartitionsAdded
from coordinator.events.data import ConnectionClosed
from coordinator.events.faults import FaultInjected, MemberResumed
from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    GroupLoaded,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    OffsetsCommitted,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import ConsumerMemberRemoved
from coordinator.events.members import MemberCrashed, PartitionsAssigned
from coordinator.events.wire import RequestAnswered, RequestRefused
from coordinator.history.explain.formatting import duration, listed
from coordinator.verbs.brokers import MoveCoordinator
from coordinator.verbs.members import PauseMember

from . import moving, queueing
from .runs import client_of, s, seen, summed

if TYPE_CHECKING:
    from .runs import Happened, Run

Facts = dict[str, Any]


def _at(
    run: Run,
    kind: type[Any],
    *,
    after_ms: int = -1,
    client: str | None = None,
    generation: int | None = None,
) -> str:
    return s(run.first(kind, after_ms=after_ms, client=client, generation=generation).at_ms)


def _rows(told: Happened[PartitionsAssigned]) -> list[str]:
    return [f"{topic}-{number}" for topic, number in told.event.partitions]


def beats_faster(run: Run, base: Run) -> Facts:
    joined = run.first(MemberJoined, client="c-1").at_ms
    line = run.refused("REBALANCE_IN_PROGRESS", api="heartbeat", client="app-1")[0]
    told = line.at_ms
    beats = [line.at_ms for line in run.all(FaultInjected, client="app-1")]
    interval = min(after - before for before, after in pairwise(beats))
    return {
        **seen(line, "A is told", "app-1"),
        "told": s(told),
        "delay": duration(told - joined),
        "act_heartbeat": duration(interval),
    }


def answer_is_lost(run: Run, base: Run) -> Facts:
    faults = run.all(FaultInjected)
    lost = next(one.at_ms for one in faults if one.event.action == "lose_answer")
    told = next(line for line in run.all(RequestRefused, client="app-1") if line.at_ms > lost)
    return {
        **seen(told, "A is told", "app-1"),
        "beat": s(lost),
        "gave_up": _at(run, ConnectionClosed, client="app-1", after_ms=lost),
        "told": s(told.at_ms),
        "error": told.event.errors[0],
    }


def killed_elsewhen(run: Run, base: Run) -> Facts:
    def noticed(of: Run, client: str) -> int:
        died: int = of.first(MemberCrashed, client=client).at_ms
        removed: int = of.first(MemberRemoved, client=client).at_ms
        return removed - died

    return {
        **seen(run.first(MemberRemoved, client="app-1"), "A is removed", "app-1"),
        "removed": _at(run, MemberRemoved, client="app-1"),
        "noticed": duration(noticed(run, "app-1")),
        "before": duration(noticed(base, "app-3")),
    }


def sleeps_short(run: Run, base: Run) -> Facts:
    resumed = run.first(MemberResumed)
    woke = resumed.at_ms
    committed = run.first(OffsetsCommitted, client="app-2", after_ms=woke)
    return {
        **seen(resumed, "B wakes up", "app-2"),
        "woke": s(woke),
        "still": summed(run.lost_ms(still=True)),
        "partitions_b": len(run.held("app-2", woke - 1)),
        "committed": s(committed.at_ms),
        "removals": len(run.all(MemberRemoved)),
    }


def is_static(run: Run, base: Run) -> Facts:
    woke = run.first(MemberResumed).at_ms
    commit = next(
        line
        for line in run.all(RequestRefused, client="app-2", api="offset_commit")
        if line.at_ms > woke
    )
    return {
        **seen(commit, "commit refused", "app-2"),
        "removed": _at(run, MemberRemoved, client="app-2"),
        "refused": s(commit.at_ms),
        "error": commit.event.errors[0],
    }


def assigns_quickly(run: Run, base: Run) -> Facts:
    begun = run.first(GenerationStarted, generation=2).at_ms
    stored = run.first(GenerationStored, generation=2).at_ms
    committed = next(
        line
        for line in run.all(RequestAnswered, api="offset_commit", client="app-2")
        if line.at_ms > run.actions[-1]["at_ms"]
    )
    return {
        **seen(committed, "accepted", "app-2"),
        "accepted": s(committed.at_ms),
        "stored": s(stored),
        "length": duration(stored - begun),
        "refused": len(run.all(RequestRefused, api="offset_commit")),
    }


def commits_again(run: Run, base: Run) -> Facts:
    refused = run.all(RequestRefused, api="offset_commit")
    at_ms = refused[0].at_ms
    return {
        **seen(refused[0], "refused", run.who(refused[0])),
        "first": refused[0].event.errors[0],
        "refused_at": s(at_ms),
        "refused": len(refused),
        "generation": run.first(GenerationStored, after_ms=at_ms).generation,
    }


def is_eager(run: Run, base: Run) -> Facts:
    joined = run.first(MemberJoined, client="d-1").at_ms
    later = [line for line in run.all(GenerationStarted) if line.at_ms > joined]
    assigned = run.given("d-1", joined)
    return {
        **seen(assigned, "D has its share", "d-1"),
        "assigned": s(assigned.at_ms),
        "generations": len(later),
        "lost": summed(run.lost_ms()),
        "before": f"{base.lost_ms() / 1000:g}",
    }


def grows(run: Run, base: Run) -> Facts:
    added = next(one for one in run.all(PartitionsAdded) if one.event.topic == "orders")
    began = run.first(RebalanceStarted, after_ms=added.at_ms)
    later = [line for line in run.all(GenerationStarted) if line.at_ms > added.at_ms]
    given = run.given("app-1", added.at_ms)
    who = client_of(later[0].event.leader)
    rejoined = run.first(MemberRejoined, client=who, after_ms=added.at_ms)
    return {
        **seen(rejoined, "joins again", who),
        "more": len(added.event.replicas),
        "who": who,
        "began": s(began.at_ms),
        "generations": len(later),
        "waited": duration(given.at_ms - added.at_ms),
    }


def an_old_one_joins(run: Run, base: Run) -> Facts:
    last = run.all(GenerationStarted)[-1]
    name = last.event.protocol_name
    return {**seen(last, f"{name}: all offer it"), "last": name, "began": s(last.at_ms)}


def an_old_one_stays(run: Run, base: Run) -> Facts:
    last = run.all(GenerationStarted)[-1]
    return {
        **seen(last, f"{last.event.protocol_name}: all offer it"),
        "last": last.event.protocol_name,
        "began": s(last.at_ms),
        "members": len([each for each in last.event.members if each.startswith("new")]),
        "members_all": len(last.event.members),
        "preferred": base.all(GenerationStarted)[-1].event.protocol_name,
    }


def holder_freezes(run: Run, base: Run) -> Facts:
    told = [line for line in run.all(PartitionsAssigned, client="c-1") if line.event.partitions]
    soon, late = ((line.at_ms, _rows(line)) for line in (told[0], told[-1]))
    frozen = run.first(PauseMember, client="app-1").at_ms
    return {
        **seen(told[-1], "C has it", "c-1"),
        "soon": listed(soon[1]),
        "soon_at": s(soon[0]),
        "late": listed(late[1]),
        "late_at": s(late[0]),
        "held": len(run.held("app-1", frozen)),
        "stopped": len(run.activity("app-2", "stopped")),
        "lost": summed(run.lost_ms()),
    }


def owner_is_killed(run: Run, base: Run) -> Facts:
    gone = run.first(ConsumerMemberRemoved)
    removed = gone.at_ms
    given = {name: run.given(name, removed) for name in ("app-1", "c-1")}
    first, second = sorted(given.items(), key=lambda each: each[1].at_ms)
    heard = max(
        line.at_ms for line in run.all(FaultInjected, client="app-2") if line.at_ms < removed
    )
    return {
        **seen(gone, "app-2 is removed", "app-2"),
        "first_at": s(first[1].at_ms),
        "first": f"{first[0]} gets {listed(_rows(first[1]))}",
        "second_at": s(second[1].at_ms),
        "second": f"{second[0]} gets {listed(_rows(second[1]))}",
        "removed": s(removed),
        "session": duration(removed - heard),
    }


def dies_before_the_move(run: Run, base: Run) -> Facts:
    gone = run.first(MemberRemoved)
    died, removed = run.first(MemberCrashed).at_ms, gone.at_ms
    loaded = run.first(GroupLoaded, after_ms=died)
    return {
        **seen(gone, "app-2 is removed", "app-2"),
        "removed": s(removed),
        "noticed": duration(removed - died),
        "loaded": s(loaded.at_ms),
        "to_broker": loaded.broker,
        "session_began_anew": removed - loaded.at_ms,
    }


def moves_back(run: Run, base: Run) -> Facts:
    moved = run.all(MoveCoordinator)[-1].at_ms
    loaded = run.all(GroupLoaded)[-1]
    refused = [line for line in run.refused("NOT_COORDINATOR") if line.at_ms > moved]
    return {
        **seen(loaded, f"broker {loaded.broker} has it"),
        "back_to": loaded.broker,
        "loaded": s(loaded.at_ms),
        "generation": loaded.generation,
        "refused": s(refused[0].at_ms),
        "how_many": len(refused),
        "rebalances": len(run.all(RebalanceStarted)),
    }


def reassigned_again(run: Run, base: Run) -> Facts:
    again = run.changed(PartitionChange.REASSIGNMENT_STARTED)[-1]

    def brokers(ids: list[int]) -> str:
        return ", ".join(map(str, ids))

    (moved,) = run.plain["replicas"]
    during = next(span[2] for span in moved["spans"] if span[0] == again.at_ms)
    return {
        **seen(again, "reassigned again"),
        "at": s(again.at_ms),
        "partition": moved["name"],
        "ar": brokers(during["all"]),
        "oar": brokers(during["original"]),
        "rar": brokers(during["target"]),
    }


TRIES: Final[dict[tuple[str, str], Callable[[Run, Run], Facts]]] = {
    ("03_when_does_a_know", "faster"): beats_faster,
    ("03_when_does_a_know", "lost-answer"): answer_is_lost,
    ("05_three_clocks", "kill"): killed_elsewhen,
    ("06_frozen_wakes", "short"): sleeps_short,
    ("06_frozen_wakes", "static"): is_static,
    ("07_commit_in_each_half", "quick"): assigns_quickly,
    ("07_commit_in_each_half", "again"): commits_again,
    ("09_cooperative_one_more", "eager"): is_eager,
    ("09_cooperative_one_more", "grow"): grows,
    ("12_rolling_switch", "one-more"): an_old_one_joins,
    ("12_rolling_switch", "stays"): an_old_one_stays,
    ("13_no_barrier", "freeze"): holder_freezes,
    ("13_no_barrier", "kill"): owner_is_killed,
    ("14_coordinator_moves", "kill"): dies_before_the_move,
    ("14_coordinator_moves", "back"): moves_back,
    ("14_coordinator_moves", "reassign"): reassigned_again,
    ("15_migration_in_place", "disabled"): moving.not_allowed,
    ("15_migration_in_place", "eager"): moving.eager_members,
    ("16_broker_crashes", "one-replica"): moving.one_replica,
    ("16_broker_crashes", "kill"): moving.dies_meanwhile,
    ("17_queue_on_a_log", "kill"): queueing.dies_with_records,
    ("17_queue_on_a_log", "longer"): queueing.longer_lock,
    ("17_queue_on_a_log", "release"): queueing.nobody_accepts,
    ("17_queue_on_a_log", "reject"): queueing.nobody_accepts,
}
