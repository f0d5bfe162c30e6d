"""The facts of lessons in which a whole group moves, to another protocol or to another broker, and of
what is to be tried in them.

As in `answers` and `trying`, whose tables have these functions by lesson.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...explain.words import duration, listed
from .runs import s, summed

if TYPE_CHECKING:
    from .runs import Run

Facts = dict[str, Any]


# -- to KIP-848, in place


def migration_in_place(run: Run) -> Facts:
    upgraded = run.first("ConsumerGroupUpgraded")
    begun = upgraded["at_ms"]
    bumped = run.first("GroupEpochBumped", after_ms=begun - 1)
    told = run.refused("REBALANCE_IN_PROGRESS", client="app-1")[0]
    joins = [
        line
        for line in run.all("RequestAnswered", api="join_group")
        if begun < line["at_ms"] < run.window_ms[1]
    ]
    waited = max(line["waited_ms"] for line in joins)
    gave_up = run.first("PartitionsRevoked", after_ms=begun)
    assigned = next(
        line for line in run.all("PartitionsAssigned", client="new-1") if line["partitions"]
    )
    stayed = not [line for line in run.all("MemberRemoved") if line["at_ms"] < assigned["at_ms"]]
    return {
        "answer": "stay" if stayed and joins else "out",
        "truth_ms": gave_up["at_ms"],
        "truth_seq": gave_up["seq"],
        "truth": "A hands over",
        "joined": s(run.first("ConsumerMemberSubscribed", client_id="new-1")["at_ms"]),
        "upgraded": s(begun),
        "epoch": bumped["group_epoch"],
        "error": told["errors"][0],
        "told": s(told["at_ms"]),
        "waited": f"after {duration(waited)}" if waited else "at once",
        "gave_up": s(gave_up["at_ms"]),
        "share": len(assigned["partitions"]),
        "assigned": s(assigned["at_ms"]),
        "lost": summed(run.lost_ms()),
    }


def not_allowed(run: Run, base: Run) -> Facts:
    failed = run.first("MemberFailed", client="new-1")
    refused = run.all("RequestRefused", api="consumer_group_heartbeat", client="new-1")[0]
    (generation,) = {line["generation"] for line in run.all("GenerationStored")[:1]}
    return {
        "error": refused["errors"][0],
        "refused": s(refused["at_ms"]),
        "generation": generation,
        "ended": failed["at_ms"] >= refused["at_ms"],
        "upgrades": len(run.all("ConsumerGroupUpgraded")),
    }


def eager_members(run: Run, base: Run) -> Facts:
    low, high = run.window_ms
    stops = {
        name: [span for span in run.activity(name, "stopped") if low < span[0] < high]
        for name in ("app-1", "app-2")
    }
    longest = max(end - begin for spans in stops.values() for begin, end in spans)
    who = listed([name for name, spans in stops.items() if spans])
    return {
        "stopped": f"No, {who} stop for up to {duration(longest)}",
        "stops": sum(map(len, stops.values())),
        "lost": summed(run.lost_ms()),
        "before": summed(base.lost_ms()),
    }


# -- to another broker, after a crash


def broker_crashes(run: Run) -> Facts:
    stopped = run.first("StopBroker")
    fenced = run.first("BrokerFenced", broker=stopped["broker"])
    loaded = run.first("GroupLoaded", after_ms=stopped["at_ms"])
    back = run.first("StartBroker", after_ms=stopped["at_ms"])
    generations = [line["generation"] for line in run.all("GenerationStarted")]
    found = [
        line["at_ms"]
        for line in run.all("FaultInjected", api="Heartbeat")
        if line["at_ms"] > loaded["at_ms"]
    ]
    return {
        "answer": "same" if generations == [1] else "rebalance",
        "truth_ms": loaded["at_ms"],
        "truth_seq": loaded["seq"],
        "truth": f"broker {loaded['broker']} has it",
        "first_broker": stopped["broker"],
        "to_broker": loaded["broker"],
        "stopped": s(stopped["at_ms"]),
        "returned": s(back["at_ms"]),
        "fenced": s(fenced["at_ms"]),
        "noticed": duration(fenced["at_ms"] - stopped["at_ms"]),
        "state": loaded["state"],
        "generation": loaded["generation"],
        "found": s(found[1]),
        "lost": summed(run.lost_ms()),
    }


def one_replica(run: Run, base: Run) -> Facts:
    stopped = run.first("StopBroker")
    loaded = run.first("GroupLoaded", after_ms=stopped["at_ms"])
    return {
        "first_broker": stopped["broker"],
        "by": loaded["broker"],
        "loaded": s(loaded["at_ms"]),
        "without": duration(loaded["at_ms"] - stopped["at_ms"]),
    }


def dies_meanwhile(run: Run, base: Run) -> Facts:
    died = run.first("MemberCrashed", client="app-2")
    removed = run.first("MemberRemoved", client="app-2")
    loaded = run.first("GroupLoaded", after_ms=run.first("StopBroker")["at_ms"])
    return {
        "removed": s(removed["at_ms"]),
        "noticed": duration(removed["at_ms"] - died["at_ms"]),
        "to_broker": loaded["broker"],
        "loaded": s(loaded["at_ms"]),
        "session_began_anew": removed["at_ms"] - loaded["at_ms"],
    }
