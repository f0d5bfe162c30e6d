"""What the picture of each shipped incident shows: its window, what is named above it, and what a reader
who does not see it is told."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple


class Happens(NamedTuple):
    """Something that is named above the picture. It begins with the first line of the log that has
    the fields of `begins`, and ends with the next one that has those of `ends`; it happens `again`
    until the last such line."""

    says: str
    begins: dict[str, Any]
    ends: dict[str, Any] | None = None
    again: bool = False


class View(NamedTuple):
    """One picture."""

    from_s: int
    to_s: int
    alt: str
    """In one sentence, what is to be seen."""
    happens: tuple[Happens, ...] = ()
    open: tuple[str, ...] | None = None
    """The lanes that are drawn in full; the others are folded. None: all."""
    curve: Literal["", "lag", "commits"] = ""
    """What is drawn above the axis: records that wait, or how long a commit takes."""


def _broker(number: int, says: str) -> Happens:
    return Happens(
        says,
        {"type": "StopBroker", "broker": number},
        {"type": "StartBroker", "broker": number},
    )


def _restart(client: str, says: str, ends: str = "MemberClosing") -> Happens:
    return Happens(
        says, {"type": ends, "client": client}, {"type": "MemberStarted", "client": client}
    )


VIEWS: Final[dict[str, View]] = {
    "bad_readiness_probe": View(
        110,
        330,
        "After one member is restarted a probe kills all three again and again, and for more than three minutes nobody owns a partition.",
        (
            _restart("app-1", "app-1 is deployed"),
            Happens(
                "the probe kills who is not ready in 10 s",
                {"type": "MemberCrashed"},
                {"type": "MemberCrashed"},
                again=True,
            ),
        ),
    ),
    "brokers_overloaded": View(
        85,
        125,
        "Twelve members work on a busy broker and restart at once; the curve of their commits shows how long each waits for its answer.",
        (_restart("app-1", "all restart"),),
        ("app-1", "app-2", "app-3"),
        curve="commits",
    ),
    "brokers_restart_one_by_one": View(
        50,
        200,
        "Three brokers restart one by one; the coordinator moves, the generation stays, and all members go on working.",
        (
            _broker(1, "broker 1 restarts"),
            _broker(2, "broker 2 restarts"),
            _broker(3, "broker 3 restarts"),
            Happens("broker 3 loads the group", {"type": "GroupLoaded", "broker": 3}),
            Happens("broker 2 loads the group", {"type": "GroupLoaded", "broker": 2}),
        ),
    ),
    "coordinator_crashes_in_deploy": View(
        50,
        200,
        "The coordinator crashes in a deployment; the next one waits for the sessions of members that are gone, and nobody works.",
        (
            _restart("app-1", "app-1 restarts", "MemberCrashed"),
            _restart("app-2", "app-2 restarts", "MemberCrashed"),
            _restart("app-3", "app-3 restarts", "MemberCrashed"),
            _broker(2, "broker 2, the coordinator, is down"),
            Happens("broker 3 loads the group", {"type": "GroupLoaded", "broker": 3}),
        ),
    ),
    "coordinator_paused": View(
        80,
        130,
        "While the coordinator stands still another broker takes the group over, and all members go on working in the same generation.",
        (
            _broker(2, "broker 2, the coordinator, stands still"),
            Happens("broker 3 loads the group", {"type": "GroupLoaded", "broker": 3}),
        ),
    ),
    "everything_restarts_at_once": View(
        85,
        115,
        "All members stop at once, come back together eight seconds later, and wait for one join phase before they own partitions again.",
        (_restart("app-1", "all are away"),),
    ),
    "hot_key": View(
        0,
        180,
        "Six more members come in three steps, and the lag grows all the same.",
        (
            Happens("two more", {"type": "MemberStarted", "client": "app-3"}),
            Happens("two more", {"type": "MemberStarted", "client": "app-5"}),
            Happens("two more", {"type": "MemberStarted", "client": "app-7"}),
        ),
        ("app-1", "app-2", "app-3", "app-4", "app-5", "app-6", "app-7", "app-8"),
        curve="lag",
    ),
    "lag_autoscaler_flaps": View(
        0,
        150,
        "An autoscaler adds members as the lag grows and takes one away as it falls, and each step stops the group.",
        (
            Happens("one more", {"type": "MemberStarted", "client": "app-3"}),
            Happens("one more", {"type": "MemberStarted", "client": "app-4"}),
            Happens("one more", {"type": "MemberStarted", "client": "app-5"}),
            Happens("one more", {"type": "MemberStarted", "client": "app-6"}),
            Happens("one fewer", {"type": "MemberClosing", "client": "app-6"}),
            Happens("one more", {"type": "MemberStarted", "client": "app-7"}),
        ),
        ("app-1", "app-2", "app-3", "app-4", "app-5", "app-6", "app-7"),
        curve="lag",
    ),
    "liveness_probe_kills_the_busy": View(
        0,
        230,
        "Both members are killed while they work on a batch, nobody owns anything until their sessions end, and it begins anew.",
        (
            Happens(
                "the probe kills who has not polled for 20 s",
                {"type": "MemberCrashed"},
                {"type": "MemberCrashed"},
                again=True,
            ),
        ),
    ),
    "many_stop_at_once": View(
        80,
        160,
        "Two members stand still, the others get their partitions after a session, and the two go on with them when they wake up.",
        (
            Happens(
                "app-1 and app-2 stand still",
                {"type": "PauseMember"},
                {"type": "MemberResumed"},
            ),
        ),
    ),
    "network_blip": View(
        80,
        120,
        "For ten seconds no request reaches a broker, and then all members go on in the same generation, with the same partitions.",
        (Happens("nothing passes", {"type": "CutMember"}, {"type": "MemberHealed"}),),
    ),
    "one_slow_partition": View(
        110,
        330,
        "At each step of a deployment everybody waits until the member with the slow partition polls again.",
        (
            _restart("app-1", "app-1 restarts"),
            _restart("app-2", "app-2 restarts"),
            _restart("app-3", "app-3 restarts"),
        ),
    ),
    "one_transactional_id_twice": View(
        10,
        135,
        "Each producer that begins fences the other one, which ends with an error, while the group that reads goes on undisturbed.",
        (
            Happens("billing-1 begins", {"type": "ProducerStarted", "client": "billing-1"}),
            Happens(
                "billing-2 begins and fences billing-1",
                {"type": "ProducerStarted", "client": "billing-2"},
                {"type": "ProducerFailed", "client": "billing-2"},
            ),
            Happens(
                "billing-1 fences it",
                {"type": "ProducerFailed", "client": "billing-2"},
            ),
        ),
    ),
    "partitions_added_under_load": View(
        90,
        150,
        "Four new partitions are nobody's until the members' metadata are refreshed and the group joins again.",
        (Happens("orders gets 8 partitions", {"type": "CreatePartitions"}),),
    ),
    "poison_record_and_max_poll": View(
        90,
        310,
        "One member after the other commits no more and is out after max.poll.interval.ms, until the group is empty.",
        tuple(
            Happens(f"{client} is out", {"type": "MemberRemoved", "member": client})
            for client in ("app-1", "app-2", "app-3")
        ),
        curve="lag",
    ),
    "poison_record_crash_loop": View(
        95,
        345,
        "One record kills whoever gets its partition, and each time the partition waits for a session before the next member dies of it.",
        (
            Happens(
                "the record kills whoever reads it",
                {"type": "MemberCrashed"},
                {"type": "MemberCrashed"},
                again=True,
            ),
        ),
    ),
    "scaled_from_two_to_twelve": View(
        88,
        114,
        "Ten members come within twenty seconds, and the group rebalances six times, each time with a short stop of all members.",
        (
            Happens(
                "ten more members come",
                {"type": "MemberStarted", "client": "more-5"},
                {"type": "MemberStarted", "client": "more-4"},
            ),
        ),
        ("app-1", "app-2", "more-1", "more-2"),
    ),
    "slow_assignor": View(
        80,
        280,
        "In a deployment each plan takes twenty seconds and is often begun anew; nobody owns anything for almost three minutes.",
        (
            _restart("app-1", "app-1 restarts"),
            _restart("app-2", "app-2 restarts"),
            _restart("app-3", "app-3 restarts"),
            _restart("app-4", "app-4 restarts"),
        ),
    ),
    "static_restarts_overlap": View(
        86,
        98,
        "New processes take the old ones' identities without a rebalance; for a moment two own each partition, then the old ones fail.",
        (
            Happens(
                "new processes with the same group.instance.id",
                {"type": "MemberStarted", "client": "app-4"},
            ),
        ),
    ),
    "stopped_leader": View(
        84,
        162,
        "The leader stands still in the sync phase; its partitions and those of a restarted member wait until its session ends.",
        (
            _restart("app-3", "app-3 restarts"),
            Happens("the leader stands still", {"type": "PauseMember"}, {"type": "MemberResumed"}),
        ),
    ),
    "zone_lost": View(
        80,
        165,
        "Members of the lost zone keep their partitions for a session, others take them over, and all join when the zone is back.",
        (Happens("zone a is cut off", {"type": "CutLink"}, {"type": "HealLink"}),),
    ),
}
"""By name of the incident."""
