"""A member that is silent is one no longer than its session lasts: what breaks that, and what Kafka
allows."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from coordinator.history.judges import Judgement
from coordinator.history.judges.grace import REAL_TIME, virtual_time
from coordinator.history.judges.sessions import SessionsEnd
from tests.history.judges.crafted import judge

Line = dict[str, Any]
SESSION_MS = 45_000
LATE = 20_000 + SESSION_MS + REAL_TIME.late_ms + 2_000


def line(at_ms: int, kind: str, stream: str, **fields: Any) -> Line:
    return {
        "seq": at_ms,
        "at_ms": at_ms,
        "run": "1",
        "stream": stream,
        "type": kind,
        "cause": None,
        **fields,
    }


def of_group(at_ms: int, kind: str, **fields: Any) -> Line:
    return line(at_ms, kind, "group", group="g", **fields)


def told(at_ms: int, kind: str, **fields: Any) -> Line:
    return line(at_ms, kind, "member", group="g", member="m-1", client="app-1", **fields)


def fault(at_ms: int, kind: str, **fields: Any) -> Line:
    return line(at_ms, kind, "fault", **fields)


CLASSIC = [
    told(1_000, "PartitionsAssigned", partitions=[]),
    of_group(
        1_000,
        "GenerationStored",
        generation=1,
        leader="m-1",
        members=[
            {"member_id": "m-1", "session_timeout_ms": SESSION_MS},
            {"member_id": "m-2", "session_timeout_ms": SESSION_MS},
        ],
    ),
]
CONSUMER = [
    told(1_000, "PartitionsAssigned", partitions=[]),
    of_group(1_000, "ConsumerMemberSubscribed", member="m-1", group_instance_id=None, classic=None),
]
SHARE = [
    told(900, "MemberStarted"),
    of_group(1_000, "ShareGroupCreated"),
    of_group(1_000, "ShareMemberSubscribed", member="m-1", topics=["t"]),
]
REMOVED = {
    "classic": "MemberRemoved",
    "consumer": "ConsumerMemberRemoved",
    "share": "ShareMemberRemoved",
}
CRASH = told(20_000, "MemberCrashed")
END = fault(LATE, "RunEnded")


def findings(*lines: Line, consumer_session_ms: int = SESSION_MS) -> list[int]:
    (verdict,) = judge(
        lines,
        [partial(SessionsEnd, consumer_session_ms, share_session_ms=SESSION_MS)],
        streams=frozenset({"group", "member"}),
    )
    assert verdict.judgement is (Judgement.BROKEN if verdict.findings else Judgement.KEPT)
    return [each.at_ms for each in verdict.findings]


@pytest.mark.parametrize(
    ("begun", "kind"), [(CLASSIC, "classic"), (CONSUMER, "consumer"), (SHARE, "share")]
)
@pytest.mark.parametrize(
    "silence",
    [
        CRASH,
        told(20_000, "MemberClosed"),
        fault(20_000, "PauseMember", client="app-1"),
        fault(20_000, "CutMember", client="app-1", direction="to_broker"),
    ],
    ids=lambda each: str(each["type"]),
)
def test_who_stays_beyond_its_session_is_found(begun: list[Line], kind: str, silence: Line) -> None:
    """SES-1, K8-LV-5, SH-HB-4: in the midst of a run, and at its end."""
    assert findings(*begun, silence, END) == [20_000]
    removal = of_group(LATE + 3_000, REMOVED[kind], member="m-1")
    assert findings(
        *begun,
        silence,
        told(LATE, "ApplicationResumed"),
        told(LATE + 2_000, "ApplicationResumed"),
        removal,
    ) == [20_000]
    assert findings(*begun, silence, fault(LATE - 2_001, "RunEnded")) == []
    in_time = of_group(LATE - 3_000, REMOVED[kind], member="m-1", reason="session expired")
    assert findings(*begun, silence, in_time, END) == []


def test_a_clock_that_is_set_forward_passes_the_end_before_the_coordinator_acts() -> None:
    assert (
        findings(
            *CLASSIC,
            CRASH,
            told(LATE, "ApplicationResumed"),
            told(LATE, "ApplicationStalled"),
            of_group(LATE, "MemberRemoved", member="m-1"),
            END,
        )
        == []
    )


ALLOWED = {
    "it joins (SES-3)": [of_group(30_000, "RebalanceStarted", generation=1)],
    "a generation was stored": [CLASSIC[1] | {"at_ms": 30_000}],
    "it is not in the next generation": [CLASSIC[1] | {"at_ms": 30_000, "members": []}],
    "the group was loaded (ERR-7)": [of_group(30_000, "GroupLoaded", state="Stable")],
    "the group is not served": [of_group(30_000, "GroupUnloaded")],
    "the group is gone": [of_group(30_000, "GroupDeleted")],
    "it was replaced (STA-2)": [
        of_group(
            30_000, "MemberReplaced", replaced="m-1", member="m-3", session_timeout_ms=SESSION_MS
        )
    ],
    "a broker is down": [fault(10_000, "StopBroker", broker=1)],
    "a broker came back": [
        fault(10_000, "StopBroker", broker=1),
        fault(30_000, "StartBroker", broker=1),
    ],
    "a coordinator was moved": [fault(30_000, "MoveCoordinator", group="g")],
    "its last heartbeat was held back": [
        fault(19_000, "FaultInjected", client="app-1", api="Heartbeat")
    ],
    "its link was slow": [fault(10_000, "SlowMember", client="app-1", bytes_per_second=10)],
    "one of two faults that slow its link is over": [
        *[fault(at, "SlowMember", client="app-1", bytes_per_second=10) for at in (5_000, 6_000)],
        fault(9_000, "MemberSpedUp", client="app-1"),
    ],
    "a pause is over, and its link is slow": [
        fault(5_000, "SlowMember", client="app-1", bytes_per_second=10),
        fault(6_000, "PauseMember", client="app-1"),
        fault(9_000, "MemberResumed", client="app-1"),
    ],
    "one of two partial cuts is over": [
        *[fault(at, "CutMember", client="app-1", direction="from_broker") for at in (5_000, 6_000)],
        fault(9_000, "MemberHealed", client="app-1"),
    ],
}


@pytest.mark.parametrize("why", ALLOWED)
def test_what_may_keep_a_session_from_ending(why: str) -> None:
    lines = sorted([*CLASSIC, CRASH, *ALLOWED[why], END], key=lambda each: int(each["at_ms"]))
    assert findings(*lines) == []


@pytest.mark.parametrize("undone", ["MemberResumed", "MemberHealed"])
def test_who_goes_on_is_silent_no_more(undone: str) -> None:
    began = fault(
        20_000, "PauseMember" if undone == "MemberResumed" else "CutMember", client="app-1"
    )
    assert findings(*CLASSIC, began, fault(30_000, undone, client="app-1"), END) == []
    assert findings(*CLASSIC, began, fault(30_000, undone, client="app-2"), END) == [20_000]


@pytest.mark.parametrize(
    ("begins", "ends"), [("SlowMember", "MemberSpedUp"), ("CutMember", "MemberHealed")]
)
def test_what_is_over_excuses_nobody(begins: str, ends: str) -> None:
    """However often it began, it has ended as often."""
    began = [fault(at, begins, client="app-1", direction="from_broker") for at in (5_000, 6_000)]
    ended = [fault(at, ends, client="app-1") for at in (8_000, 9_000)]
    assert findings(*CLASSIC, *began, *ended, CRASH, END) == [20_000]


def test_what_is_done_to_others_excuses_nobody() -> None:
    others = [
        fault(10_000, "SlowMember", client="app-2", bytes_per_second=10),
        fault(19_000, "FaultInjected", client="app-2", api="Heartbeat"),
    ]
    assert findings(*CLASSIC, *others, CRASH, END) == [20_000]
    assert findings(
        *CLASSIC,
        fault(10_000, "StopBroker", broker=2),
        fault(15_000, "StartBroker", broker=2),
        CRASH,
        END,
    ) == [20_000]


def test_a_partial_cut_is_no_silence() -> None:
    for cut in ({"direction": "from_broker"}, {"direction": "both", "broker": 2}):
        assert findings(*CLASSIC, fault(20_000, "CutMember", client="app-1", **cut), END) == []


def test_sessions_of_consumer_groups_are_those_of_the_brokers() -> None:
    assert findings(*CONSUMER, CRASH, END, consumer_session_ms=60_000) == []
    classic = CONSUMER[1] | {"classic": {"session_timeout_ms": 300_000}}
    assert findings(CONSUMER[0], classic, CRASH, END) == []
    header = line(
        0, "RunStarted", "run", config={"group.consumer.max.session.timeout.ms": "120000"}
    )
    (verdict,) = judge(
        [header, *CONSUMER, CRASH, fault(LATE + 15_000, "RunEnded")],
        [SessionsEnd],
        streams=frozenset({"group", "member"}),
    )
    assert verdict.judgement is Judgement.KEPT


def _set(at_ms: int, timeout_ms: int | None, replace: bool = False, name: str = "g") -> Line:
    text = None if timeout_ms is None else str(timeout_ms)
    changes = [] if replace and text is None else [["share.session.timeout.ms", 0, text]]
    fields = {"resource": "group", "name": name, "replace": replace, "changes": changes}
    return line(at_ms, "ConfigChanged", "cluster", **fields)


@pytest.mark.parametrize(
    ("settings", "shortest_s", "longest_s"),
    [
        ([], 45, 45),
        ([_set(500, 50_000)], 50, 50),
        ([_set(500, 50_000, replace=True)], 50, 50),
        ([_set(500, 50_000, name="h")], 45, 45),
        ([_set(500, 50_000), _set(800, None)], 45, 45),
        ([_set(500, 50_000), _set(800, None, replace=True)], 45, 45),
        ([_set(10_000, 50_000)], 45, 50),
        ([_set(500, 50_000), _set(10_000, 30_000)], 30, 50),
        ([_set(500, 50_000), _set(10_000, None)], 45, 50),
    ],
)
def test_sessions_of_share_groups_are_as_their_groups_are_set(
    settings: list[Line], shortest_s: int, longest_s: int
) -> None:
    """SH-CFG-1: the group's own value, else the brokers'; each that was in force since the member
    was heard of, for its heartbeats are not in the log."""
    begun = sorted([*settings, *SHARE], key=lambda each: int(each["at_ms"]))
    grace_ms = REAL_TIME.late_ms

    def expires(at_ms: int) -> Line:
        return of_group(at_ms, "ShareMemberRemoved", member="m-1", reason="session expired")

    soonest = 1_000 + shortest_s * 1_000 - grace_ms
    assert findings(*begun, expires(soonest)) == []
    assert findings(*begun, expires(soonest - 1)) == [soonest - 1]
    late = 20_000 + longest_s * 1_000 + grace_ms
    assert findings(*begun, CRASH, fault(late + 999, "RunEnded")) == []
    assert findings(*begun, CRASH, fault(late + 1_001, "RunEnded")) == [20_000]


def test_of_share_groups_whose_brokers_are_not_known_the_longest_session_counts() -> None:
    """The log's first line may tell of it, or of the longest one that brokers allow."""

    def judged(config: dict[str, str], *lines: Line) -> list[int]:
        header = line(0, "RunStarted", "run", config=config)
        streams = frozenset({"group", "member"})
        (verdict,) = judge([header, *SHARE, *lines], [SessionsEnd], streams=streams)
        return [each.at_ms for each in verdict.findings]

    soon = of_group(2_000, "ShareMemberRemoved", member="m-1", reason="session expired")
    assert judged({}, soon) == []
    assert judged({}, _set(1_500, 45_000), soon) == []
    told_ms = {"group.share.session.timeout.ms": "45000"}
    assert judged(told_ms, soon) == [2_000]
    longer = {"group.share.max.session.timeout.ms": "70000"}
    for config, longest_s in (({}, 60), (longer, 70), (told_ms, 45)):
        late = 20_000 + longest_s * 1_000 + REAL_TIME.late_ms
        assert judged(config, CRASH, fault(late + 999, "RunEnded")) == []
        assert judged(config, CRASH, fault(late + 1_001, "RunEnded")) == [20_000]


def test_a_heartbeat_that_was_refused_renewed_no_session() -> None:
    """Nothing else excuses a session that ends early, neither another's lack of rights nor an older
    one, nor that of a request that renews none."""

    def ends_early(at_ms: int, client: str, api: str) -> list[int]:
        refused = line(at_ms, "AuthorizationRefused", "wire", client=client, api=api)
        crash = told(100_000, "MemberCrashed")
        ended = of_group(130_000, "MemberRemoved", member="m-1", reason="session expired")
        (verdict,) = judge(
            [*CLASSIC, refused, crash, ended],
            [lambda: SessionsEnd(SESSION_MS, virtual_time(100, 5_000))],
        )
        return [each.at_ms for each in verdict.findings]

    assert ends_early(95_000, "app-1", "heartbeat") == []
    assert ends_early(95_000, "app-1", "find_coordinator") == []
    assert ends_early(95_000, "app-2", "heartbeat") == [130_000]
    assert ends_early(84_000, "app-1", "heartbeat") == [130_000]
    assert ends_early(95_000, "app-1", "metadata") == [130_000]
    assert ends_early(50_000, "app-1", "share_group_heartbeat") == []
    assert ends_early(50_000, "app-2", "share_group_heartbeat") == [130_000]


@pytest.mark.parametrize("lasts", ["CutMember", "PauseMember"])
@pytest.mark.parametrize("ends", ["MemberHealed", "MemberResumed"])
def test_who_is_cut_off_or_paused_twice_speaks_when_both_are_over(lasts: str, ends: str) -> None:
    """A session that began before both ends in time, whatever the member does meanwhile."""
    began = {"MemberHealed": "CutMember", "MemberResumed": "PauseMember"}[ends]

    def ends_early(*faults: tuple[int, str]) -> list[int]:
        (verdict,) = judge(
            [
                *CLASSIC,
                *(fault(at, kind, client="app-1", direction="to_broker") for at, kind in faults),
                told(120_000, "MemberClosed"),
                of_group(121_000, "MemberRemoved", member="m-1", reason="session expired"),
            ],
            [lambda: SessionsEnd(SESSION_MS, virtual_time(100, 5_000))],
        )
        return [each.at_ms for each in verdict.findings]

    once = (40_000, began), (50_000, ends)
    assert ends_early(*once) == [121_000]
    assert ends_early((41_000, lasts), *once) == []
    over = {"CutMember": "MemberHealed", "PauseMember": "MemberResumed"}[lasts]
    assert ends_early((39_000, lasts), *once, (51_000, over)) == [121_000]
