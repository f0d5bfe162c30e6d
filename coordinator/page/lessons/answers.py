"""The facts of each lesson, computed from the log of its own run: the right option, instants,
numbers, names.

Every function takes a `Run` and answers a dictionary for the lesson's texts. `answer` is the right
option's id; `truth_ms` and `truth` are what is drawn on the picture when the answer is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...explain.words import duration

if TYPE_CHECKING:
    from . import Run

Facts = dict[str, Any]


def _s(ms: int) -> str:
    return f"{ms / 1000:g} s"


def _client(member_id: str) -> str:
    return member_id[:-37]


def leader_dies(run: Run) -> Facts:
    crash = run.first("MemberCrashed")
    removed = run.first("MemberRemoved")
    second = run.first("GenerationStarted", after_ms=removed["at_ms"])
    stored = run.first("GenerationStored")
    leader = _client(second["leader"])
    synced = run.all("MemberSynced", generation=1)
    return {
        "answer": "new-leader"
        if stored["generation"] == 2 and stored["leader"] == second["leader"]
        else "broker",
        "truth_ms": stored["at_ms"],
        "truth": f"{leader} assigns",
        "crash": _s(crash["at_ms"]),
        "removed": _s(removed["at_ms"]),
        "waited": duration(removed["at_ms"] - synced[0]["at_ms"]),
        "leader": leader,
        "stored": _s(stored["at_ms"]),
        "owner": run.owner(7, run.lines[-1]["at_ms"] - 1),
        "old": _client(run.first("GenerationStarted")["leader"]),
    }


def which_number(run: Run) -> Facts:
    again = [
        line
        for line in run.all("RequestAnswered", api="join_group", client="app-2")
        if line["waited_ms"] == 0
    ]
    emptied = run.first("GroupEmptied")
    left = [line for line in run.all("MemberRemoved") if line["reason"] == "left"]
    return {
        "answer": f"{again[0]['generation']}-{emptied['generation']}",
        "truth_ms": emptied["at_ms"],
        "truth": f"Empty, generation {emptied['generation']}",
        "again": _s(again[0]["at_ms"]),
        "kept": again[0]["generation"],
        "empty": emptied["generation"],
        "first_left": _s(left[0]["at_ms"]),
        "last_left": _s(left[-1]["at_ms"]),
        "after_first": left[0]["generation"] + 1,
    }


def when_does_a_know(run: Run) -> Facts:
    joined = run.first("MemberJoined", client="c-1")
    told = run.first("RequestRefused", api="heartbeat", client="app-1")
    delay = told["at_ms"] - joined["at_ms"]
    beats = [line["at_ms"] for line in run.all("FaultInjected", client="app-1")]
    before = max(at for at in beats if at < told["at_ms"])
    return {
        "answer": "heartbeat" if told["at_ms"] in beats else "at-once",
        "truth_ms": told["at_ms"],
        "truth": "A is told",
        "joined": _s(joined["at_ms"]),
        "told": _s(told["at_ms"]),
        "delay": duration(delay),
        "before": _s(before),
        "latest": _s(before + 3000),
        "stopped": _s(run.activity("app-1", "stopped")[0][0]),
    }


def slowest_decides(run: Run) -> Facts:
    stops = {name: run.activity(name, "stopped")[0] for name in ("app-1", "app-2", "app-3")}
    resumed = run.first("ApplicationResumed", client="app-2")
    started = run.first("GenerationStarted", generation=2)
    longest = max(stops, key=lambda name: stops[name][1] - stops[name][0])
    everybody = all(end > begin for begin, end in stops.values())
    lost = run.plain["groups"][0]["lost_partition_ms"]
    return {
        "answer": "everyone" if everybody and longest != "app-2" else "slow-one",
        "truth_ms": started["at_ms"],
        "truth": "all go on",
        "stopped": _s(stops["app-1"][0]),
        "went_on": _s(stops["app-1"][1]),
        "length": duration(stops["app-1"][1] - stops["app-1"][0]),
        "slow_length": duration(stops["app-2"][1] - stops["app-2"][0]),
        "resumed": _s(resumed["at_ms"]),
        "lost": _s(lost),
        "same": (
            run.owner(0, 10_000) == run.owner(0, 35_000)
            and "app-1 has orders-0 and orders-1 before and after"
        )
        or "app-1 has others after",
    }


def three_clocks(run: Run) -> Facts:
    begun = {
        "app-2": run.first("MemberClosing", client="app-2")["at_ms"],
        "app-3": run.first("MemberCrashed", client="app-3")["at_ms"],
        "app-4": run.first("PauseMember", client="app-4")["at_ms"],
        "app-5": run.first("ApplicationStalled", client="app-5")["at_ms"],
    }
    out = {
        name: run.first("MemberRemoved", client=name)["at_ms"] - at for name, at in begun.items()
    }
    order = sorted(out, key=lambda name: out[name])
    return {
        "answer": {"app-5": "poll", "app-3": "kill", "app-4": "freeze", "app-2": "close"}[
            order[-1]
        ],
        "truth_ms": begun["app-5"] + out["app-5"],
        "truth": "E leaves by itself",
        "close": duration(out["app-2"]),
        "kill": duration(out["app-3"]),
        "freeze": duration(out["app-4"]),
        "poll": duration(out["app-5"]),
        "reason": run.first("MemberRemoved", client="app-5")["detail"],
    }


def frozen_wakes(run: Run) -> Facts:
    resumed = run.first("MemberResumed")["at_ms"]
    removed = run.first("MemberRemoved", client="app-2")["at_ms"]
    refused = [
        line for line in run.all("RequestRefused", client="app-2") if line["at_ms"] > resumed
    ]
    lost = run.first("PartitionsLost", client="app-2")["at_ms"]
    commit = next(line for line in refused if line["api"] == "offset_commit")
    accepted = [
        line
        for line in run.all("OffsetsCommitted", client="app-2")
        if resumed < line["at_ms"] <= lost
    ]
    return {
        "answer": "refused" if not accepted and commit else "accepted",
        "truth_ms": commit["at_ms"],
        "truth": "commit refused",
        "removed": _s(removed),
        "woke": _s(resumed),
        "error": commit["errors"][0],
        "lost": _s(lost),
        "window": duration(lost - resumed),
        "other": run.owner(2, resumed),
    }


def commit_in_each_half(run: Run) -> Facts:
    begun = run.first("RebalanceStarted", after_ms=10_000)["at_ms"]
    generation = run.first("GenerationStarted", generation=2)["at_ms"]
    stored = run.first("GenerationStored", generation=2)["at_ms"]
    accepted = run.all("RequestAnswered", api="offset_commit")
    refused = run.all("RequestRefused", api="offset_commit")
    first = [line for line in accepted if begun < line["at_ms"] < generation]
    second = [line for line in accepted if generation < line["at_ms"] < stored]
    wrongly = [line for line in refused if not generation < line["at_ms"] < stored]
    return {
        "answer": "first-only" if first and refused and not second and not wrongly else "both",
        "truth_ms": refused[0]["at_ms"],
        "truth": "a commit is refused",
        "begun": _s(begun),
        "generation": _s(generation),
        "stored": _s(stored),
        "accepted": len(first),
        "refused_at": _s(refused[0]["at_ms"]),
        "refused_generation": refused[0]["generation"],
        "error": refused[0]["errors"][0],
        "length": duration(stored - generation),
        "next": _s(next(line["at_ms"] for line in accepted if line["at_ms"] > stored)),
    }


def leader_leaves(run: Run) -> Facts:
    end = run.lines[-1]["at_ms"] - 1
    kept = sum(run.owner(number, 15_000) == run.owner(number, end) for number in range(9))
    stops = run.activity("app-2", "stopped")[0]
    second = run.first("GenerationStarted", generation=2)
    return {
        "answer": str(kept),
        "truth_ms": run.first("GenerationStored", generation=2)["at_ms"],
        "truth": f"{kept} of 9 stay",
        "kept": kept,
        "leader": _client(second["leader"]),
        "stopped": duration(stops[1] - stops[0]),
        "lost": _s(run.plain["groups"][0]["lost_partition_ms"]),
    }


def cooperative_one_more(run: Run) -> Facts:
    joined = run.first("MemberJoined", client="d-1")["at_ms"]
    later = [line for line in run.all("GenerationStarted") if line["at_ms"] > joined]
    revoked = [
        row
        for line in run.all("PartitionsRevoked")
        if line["at_ms"] > joined
        for row in line["partitions"]
    ]
    assigned = next(
        line for line in run.all("PartitionsAssigned", client="d-1") if line["partitions"]
    )
    gave_up = run.first("PartitionsRevoked", after_ms=joined)["at_ms"]
    return {
        "answer": f"{len(later)}-{'moved' if len(revoked) < 12 else 'all'}",
        "truth_ms": assigned["at_ms"],
        "truth": "D has its share",
        "generations": len(later),
        "revoked": len(revoked),
        "gap": duration(assigned["at_ms"] - gave_up),
        "first": _s(later[0]["at_ms"]),
        "second": _s(later[-1]["at_ms"]),
        "gave_up": _s(gave_up),
        "assigned": _s(assigned["at_ms"]),
        "lost": _s(run.plain["groups"][0]["lost_partition_ms"]),
    }


def static_restart(run: Run) -> Facts:
    generations = list(run.all("GenerationStarted"))
    replaced = run.all("MemberReplaced")
    removed = run.first("MemberRemoved", client="app-2")
    fenced = run.first("MemberFailed", client="app-3")
    refused = next(
        line
        for line in run.all("RequestRefused", client="app-3")
        if "FENCED_INSTANCE_ID" in line["errors"]
    )
    return {
        "answer": str(len(generations) - 1),
        "truth_ms": fenced["at_ms"],
        "truth": "app-3 is fenced",
        "more": len(generations) - 1,
        "within": _s(replaced[0]["at_ms"]),
        "removed": _s(removed["at_ms"]),
        "back": _s(generations[-1]["at_ms"]),
        "twin": _s(replaced[-1]["at_ms"]),
        "fenced": _s(refused["at_ms"]),
        "both": duration(
            fenced["at_ms"] - run.first("PartitionsAssigned", client="twin-1")["at_ms"]
        ),
    }


def ghost_id(run: Run) -> Facts:
    ghost = run.first("MemberPending", client="b-1")
    joined = run.first("MemberJoined", client="b-1")
    gone = run.first("PendingMemberRemoved")
    assigned = run.first("PartitionsAssigned", client="b-1")
    stopped = run.activity("app-1", "stopped")[0]
    return {
        "answer": "ghost"
        if gone["at_ms"] == ghost["deadline_ms"] and assigned["at_ms"] > gone["at_ms"]
        else "at-once",
        "truth_ms": assigned["at_ms"],
        "truth": "B is in",
        "minted": _s(ghost["at_ms"]),
        "joined": _s(joined["at_ms"]),
        "gone": _s(gone["at_ms"]),
        "assigned": _s(assigned["at_ms"]),
        "waited": duration(assigned["at_ms"] - joined["at_ms"]),
        "stopped": duration(stopped[1] - stopped[0]),
    }


def rolling_switch(run: Run) -> Facts:
    generations = run.all("GenerationStarted")
    two = max(
        (line for line in generations if line["at_ms"] < 69_000), key=lambda line: line["at_ms"]
    )
    last = generations[-1]
    first = next(line for line in generations if line["protocol_name"] == "cooperative-sticky")
    return {
        "answer": two["protocol_name"],
        "truth_ms": first["at_ms"],
        "truth": "cooperative-sticky wins",
        "two": two["protocol_name"],
        "last": last["protocol_name"],
        "first": _s(first["at_ms"]),
        "generations": len(generations),
    }


def no_barrier(run: Run) -> Facts:
    joined = next(line for line in run.all("GroupEpochBumped") if line["at_ms"] > 10_000)
    target = run.first("TargetAssigned", after_ms=joined["at_ms"] - 1)
    gave_up = run.first("PartitionsRevoked", after_ms=joined["at_ms"])
    assigned = next(
        line for line in run.all("PartitionsAssigned", client="c-1") if line["partitions"]
    )
    stops = [
        span
        for name in ("app-1", "app-2")
        for span in run.activity(name, "stopped")
        if span[1] > joined["at_ms"]
    ]
    return {
        "answer": "c-waits" if not stops and assigned["at_ms"] > gave_up["at_ms"] else "barrier",
        "truth_ms": assigned["at_ms"],
        "truth": "C has its two",
        "joined": _s(joined["at_ms"]),
        "epoch": target["assignment_epoch"],
        "assignor": target["assignor"],
        "gave_up": _s(gave_up["at_ms"]),
        "assigned": _s(assigned["at_ms"]),
        "waited": duration(assigned["at_ms"] - joined["at_ms"]),
        "gap": duration(assigned["at_ms"] - gave_up["at_ms"]),
        "lost": _s(run.plain["groups"][0]["lost_partition_ms"]),
    }


def coordinator_moves(run: Run) -> Facts:
    moved = run.first("MoveCoordinator")["at_ms"]
    loaded = run.first("GroupLoaded", after_ms=moved - 1)
    refused = [line for line in run.all("RequestRefused") if "NOT_COORDINATOR" in line["errors"]]
    generations = [line["generation"] for line in run.all("GenerationStarted")]
    return {
        "answer": "same" if generations == [1] else "rebalance",
        "truth_ms": refused[0]["at_ms"],
        "truth": "NOT_COORDINATOR",
        "moved": _s(moved),
        "state": loaded["state"],
        "generation": loaded["generation"],
        "refused": _s(refused[0]["at_ms"]),
        "lost": _s(run.plain["groups"][0]["lost_partition_ms"]),
        "how_many": len(refused),
        **_reassigned(run),
    }


def _reassigned(run: Run) -> Facts:
    """A partition on its way, in the controller's words (KIP-455): all replicas, the original ones,
    the target."""
    begun, done = run.first("ReassignmentStarted"), run.first("ReassignmentCompleted")
    original = [broker for broker in begun["replicas"] if broker not in begun["adding"]]
    target = [broker for broker in begun["replicas"] if broker not in begun["removing"]]
    return {
        "partition": f"{begun['topic']}-{begun['partition']}",
        "begun": _s(begun["at_ms"]),
        "done": _s(done["at_ms"]),
        "took": duration(done["at_ms"] - begun["at_ms"]),
        "ar": _brokers(begun["replicas"]),
        "oar": _brokers(original),
        "rar": _brokers(target),
        "after": _brokers(done["replicas"]),
        "in_sync": _brokers(done["isr"]),
        "old_leader": begun["leader_id"],
        "new_leader": done["leader_id"],
        "last": begun["adding"][-1],
    }


def _brokers(ids: list[int]) -> str:
    return ", ".join(map(str, ids))


ANSWERS: Final[dict[str, Callable[[Run], Facts]]] = {
    "01_leader_dies": leader_dies,
    "02_which_number": which_number,
    "03_when_does_a_know": when_does_a_know,
    "04_slowest_decides": slowest_decides,
    "05_three_clocks": three_clocks,
    "06_frozen_wakes": frozen_wakes,
    "07_commit_in_each_half": commit_in_each_half,
    "08_leader_leaves": leader_leaves,
    "09_cooperative_one_more": cooperative_one_more,
    "10_static_restart": static_restart,
    "11_ghost_id": ghost_id,
    "12_rolling_switch": rolling_switch,
    "13_no_barrier": no_barrier,
    "14_coordinator_moves": coordinator_moves,
}
