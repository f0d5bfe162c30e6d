"""Share groups (KIP-932) in scenarios: what files may say, what happens to records, and judges that see
planted bugs."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from coordinator.cli import main
from coordinator.events import EventLog
from coordinator.events.line import Line
from coordinator.events.line import lines_of as typed
from coordinator.events.vocabulary import named
from coordinator.lab.simulator.comparing.share_measures import measure_shares
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.model import Scenario
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts
from coordinator.lab.simulator.swarm.one_seed import run_text
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from coordinator.lab.simulator.world import World
from tests.lab.simulator.kit import kinds, lines_of
from tests.lab.simulator.planted import BUGS
from tests.lab.simulator.planted_in_sharing import SCENARIOS
from tests.lines import line_from

GOOD = """duration = "1m"
[topics]
jobs = 2
[[groups]]
name = "workers"
config = { "share.auto.offset.reset" = "earliest" }
[[members]]
name = "worker"
protocol = "share"
group = "workers"
topics = "jobs"
count = 2
"""
MOVED = """duration = "100s"
[topics]
jobs = 1
[brokers]
count = 3
config = { "default.replication.factor" = 3 }
[[groups]]
name = "workers"
config = { "share.auto.offset.reset" = "earliest" }
[[producers]]
name = "shop"
topics = "jobs"
rate = 10
batch = 1
config = { "linger.ms" = 1000 }
[[members]]
name = "worker"
protocol = "share"
group = "workers"
topics = "jobs"
processing = "40ms"
release = 0.2
repeats = 3
config = { "max.poll.records" = 10 }
[[members]]
name = "slow"
protocol = "share"
group = "workers"
topics = "jobs"
processing = "700ms"
config = { "max.poll.records" = 10 }
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 0
to = 1
at = "30s"
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 0
to = 2
at = "45s"
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 0
to = 3
at = "60s"
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("count = 2", "static = true", "line 12: members worker: static is not of protocol"),
        ("count = 2", 'commit = "record"', "line 12: members worker: commit is not of protocol"),
        ("count = 2", 'assignor = "range"', "line 12: members worker: assignor is not of protocol"),
        ("count = 2", "release = 2", "line 12: release = 2: give a number from 0 to 1"),
        ("count = 2", "renew = -1", "line 12: renew = -1: give a duration"),
        ("count = 2", "release = true", "line 12: release = true: give a number from 0 to 1"),
        ("count = 2", "release = 0.6\nreject = 0.6", "together no more than 1"),
        (
            "count = 2",
            'release = 0.1\nconfig = { "share.acknowledgement.mode" = "implicit" }',
            "release, reject, poison and renew need share.acknowledgement.mode=explicit",
        ),
        ("count = 2", 'config = { "group.id" = "g" }', "line 12: members worker: group.id is not"),
        ("count = 2", 'config = { "fetch.mim.bytes" = 1 }', "fetch.mim.bytes"),
        ('topics = "jobs"', 'topics = "orders"', "line 11: members worker subscribe to orders"),
        ('protocol = "share"', 'renew = "1s"', 'line 9: members worker: renew needs protocol = "share"'),
        ('protocol = "share"', "reject = 0.5", 'line 9: members worker: reject needs protocol = "share"'),
        ('name = "workers"', 'name = "others"', "line 5: groups others: no members have group"),
        ("share.auto.offset.reset", "share.offset.reset", "line 6: groups workers: share.offset.reset is no configuration"),
        ('"earliest"', '"sometimes"', "line 6: groups workers: "),
        (
            '"share.auto.offset.reset" = "earliest"',
            '"share.record.lock.duration.ms" = 5',
            "share.record.lock.duration.ms",
        ),
        (
            "count = 2\n",
            'count = 2\n[brokers]\nkafka_version = "4.1"\n',
            'line 9: members worker: protocol = "share": brokers of 4.1.2 do not serve it',
        ),
        (
            "count = 2\n",
            'count = 2\n[[members]]\nname = "x"\ngroup = "workers"\ntopics = "jobs"\n',
            "group 'workers' is a share group for some of its members, and none for others",
        ),
    ],
)  # fmt: skip
def test_what_a_file_may_not_say(old: str, new: str, told: str) -> None:
    assert old in GOOD
    with pytest.raises(ScenarioError) as caught:
        read_scenario(GOOD.replace(old, new, 1), "s.toml")
    assert told in str(caught.value)


def test_settings_of_a_group_can_be_overruled() -> None:
    path = "groups.workers.config.share.delivery.count.limit=3"
    scenario = read_scenario(GOOD, "s.toml", (path, "members.worker.poison=4"))
    assert scenario.groups == {
        "workers": {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": "3"}
    }
    (kind,) = scenario.share_members
    assert kind.work.poison == 4
    assert not kind.config("worker-1").implicit


def test_who_dies_with_records_gives_them_back_at_once() -> None:
    """SH-SES-3: the session ends with the connection."""
    lines = lines_of("share_workers_crash")
    crashes = [line["at_ms"] for line in kinds(lines, "MemberCrashed")]
    lost = kinds(lines, "RecordsReleased", reason="the connection was lost")
    assert len(crashes) == 4
    assert lost
    assert all(any(0 <= line["at_ms"] - at <= 10 for at in crashes) for line in lost)
    assert not kinds(lines, "RecordsReleased", reason="the lock ended")
    counts = {
        of["delivery_count"] for line in kinds(lines, "RecordsAcquired") for of in line["records"]
    }
    assert counts == {1, 2}


def test_a_lock_ends_at_its_time_and_its_holder_is_refused() -> None:
    """SH-ACK-4: 15 s after they were given, to the millisecond."""
    lines = lines_of("share_lock_expiry")
    ended = kinds(lines, "RecordsReleased", reason="the lock ended")
    given = {line["at_ms"] for line in kinds(lines, "RecordsAcquired")}
    assert len(ended) >= 5
    assert all(line["at_ms"] - 15_000 in given for line in ended)
    assert kinds(lines, "AcknowledgementsEnded", failed="INVALID_RECORD_STATE", client="slow-1")
    path = "members.slow.config.max.poll.records=10"
    fewer = kinds(lines_of("share_lock_expiry", 1, path), "RecordsReleased")
    assert len(fewer) == 1


def test_who_renews_its_locks_keeps_what_it_works_on() -> None:
    """SH-ACK-2: `slow` takes longer than a lock lasts, and no record of it comes again. Each renewal
    lasts as long as a lock from then on."""
    settings = ("duration=100s", "members.slow.renew=10s")
    lines = lines_of("share_lock_expiry", 1, *settings)
    (slow,) = {line["member"] for line in kinds(lines, "MemberStarted", client="slow-1")}
    renewals = [
        line for line in kinds(lines, "RecordsAcknowledged", member=slow) if line["deadline_ms"]
    ]
    assert len(renewals) >= 4
    assert {line["deadline_ms"] - line["at_ms"] for line in renewals} == {15_000}
    assert any(
        of["acknowledgement"] == "renew" and of["last_offset"] - of["first_offset"] > 20
        for line in renewals
        for of in line["records"]
    )
    ended = kinds(lines, "RecordsReleased", reason="the lock ended")
    assert slow not in {line["member"] for line in ended}
    told = kinds(lines, "AcknowledgementsEnded", client="slow-1")
    assert {line["failed"] for line in told} == {None}
    of_both = lines_of("share_lock_expiry", 1, *settings[:1])
    assert kinds(of_both, "AcknowledgementsEnded", client="slow-1", failed="INVALID_RECORD_STATE")


def test_a_poison_record_is_given_up_and_takes_no_other_with_it() -> None:
    """SH-ACK-5, SH-DLQ-1."""
    lines = lines_of("share_poison_record")
    letters = kinds(lines, "DeadLettersWritten", letter_topic="dlq.jobs")
    assert letters
    assert all(of["first_offset"] == of["last_offset"] for of in letters)
    assert all((of["first_offset"] + 1) % 50 == 0 for of in letters)
    deliveries = Counter[tuple[int, int]]()
    for line in kinds(lines, "RecordsAcquired"):
        for of in line["records"]:
            for offset in range(of["first_offset"], of["last_offset"] + 1):
                deliveries[line["partition"], offset] += 1
    poison = {place for place, _ in deliveries.items() if (place[1] + 1) % 50 == 0}
    assert {deliveries[place] for place in poison} == {5}
    assert {count for place, count in deliveries.items() if place not in poison} == {1}


def test_a_group_begins_at_the_end_unless_it_is_told_otherwise() -> None:
    """SH-OFF-2: share.auto.offset.reset is latest."""
    path = "groups.workers.config.share.auto.offset.reset=latest"
    lines = lines_of("share_lock_expiry", 1, path)
    first = [line["start_offset"] for line in kinds(lines, "SharePartitionOpened")]
    assert first
    assert all(offset > 0 for offset in first)


def test_a_request_that_arrives_twice_is_refused_the_second_time() -> None:
    """SH-SES-1: and it changes nothing."""
    lines = _lines(read_scenario(MOVED, "m.toml"))
    assert {line["failed"] for line in kinds(lines, "RequestRepeated")} <= {
        "INVALID_SHARE_SESSION_EPOCH",
        "SHARE_SESSION_NOT_FOUND",
    }
    assert len(kinds(lines, "RequestRepeated", api="ShareFetch")) > 10


def test_the_world_is_the_same_each_time() -> None:
    scenario = read_scenario(MOVED, "m.toml")
    logs = [EventLog(seed=4), EventLog(seed=4)]
    for log in logs:
        run_scenario(scenario, 4, log)
    assert logs[0].lines == logs[1].lines


def test_who_is_stalled_closed_or_reset_goes_on() -> None:
    """A worker that stalls keeps its records until their locks end; one that is closed says no more;
    one whose connections are reset begins a new session."""
    text = MOVED.partition("[[faults]]")[0] + "".join(
        f'[[churn]]\nkind = "{kind}"\nmembers = "worker-1"\nat = "{at}s"\n{more}'
        for kind, at, more in (("stall", 20, 'lasts = "40s"\n'), ("restart", 70, 'down = "1s"\n'))
    )
    text += '[[faults]]\nverb = "ResetMember"\nmember = "worker-1"\nat = "65s"\n'
    lines = _lines(read_scenario(text, "s.toml"))
    assert kinds(lines, "ApplicationStalled")
    assert kinds(lines, "ApplicationResumed")
    assert kinds(lines, "RecordsReleased", reason="the lock ended")
    assert [line["client"] for line in kinds(lines, "MemberClosed")] == ["worker-1"]
    assert kinds(lines, "ShareMemberRemoved")[0]["at_ms"] >= 70_000


def _lines(scenario: Scenario) -> list[dict[str, object]]:
    log = EventLog(seed=1)
    run_scenario(scenario, 1, log)
    lines = list(log.events())
    assert not [of for of in verdicts(scenario, typed(lines)) if of.findings]
    return lines


def test_a_partition_that_goes_to_another_leader_leaves_the_session_with_the_old_one() -> None:
    """The session with broker 2 goes on for partition 1 after partition 0 has gone to broker 1: it is
    told to forget partition 0 (SH-SES-2), or would refuse it with every fetch."""
    scenario = read_scenario(
        GOOD.replace("count = 2", "count = 1").replace(
            "[[groups]]",
            '[brokers]\ncount = 2\nconfig = { "default.replication.factor" = 2 }\n[[groups]]',
        )
        + """
[[producers]]
name = "shop"
topics = "jobs"
rate = 10
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 0
to = 2
at = "20s"
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 1
to = 2
at = "20s"
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 0
to = 1
at = "40s"
""",
        "moved.toml",
    )
    log = EventLog(seed=1)
    run_scenario(scenario, 1, log)
    refused = [
        line
        for line in log.events()
        if line["type"] == "RequestRefused" and "NOT_LEADER_OR_FOLLOWER" in line["errors"]
    ]
    assert refused and max(line["at_ms"] for line in refused) < 41_000


def test_a_member_that_is_refused_for_good_ends() -> None:
    """The fault that its poll raises is told, and it leaves."""
    fault = """[[faults]]
action = "fail"
api = "ShareGroupHeartbeat"
error = "GROUP_AUTHORIZATION_FAILED"
client_id = "worker-1"
times = 1
"""
    text = GOOD + fault
    log = EventLog(seed=1)
    worlds: list[World] = []
    run_scenario(read_scenario(text, "s.toml"), 1, log, worlds.append)
    (failed,) = kinds(list(log.events()), "MemberFailed")
    assert "GROUP_AUTHORIZATION_FAILED" in failed["why"]
    assert list(worlds[0].members) == ["worker-2"]


def test_a_swarm_draws_them(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = [seed for seed in range(1, 101) if 'protocol = "share"' in scenario_text(seed)]
    assert drawn
    for seed in drawn[:3]:
        result = run_text(scenario_text(seed, 1), seed)
        assert (result.broken, result.failure) == ((), "")
    assert main(["simulate", "share_poison_record", "--set", "duration=45s"]) == 0
    assert "dead_letters_complete" in capsys.readouterr().out


def test_what_records_cost_by_hand() -> None:
    """Three of four records are accepted, one after its lock ended; one is given up."""

    def line(kind: str, at_ms: int, **fields: object) -> Line:
        (of,) = named(kind)
        place = {"stream": of.stream, "group": "g", "topic": "jobs", "partition": 0}
        return line_from({"type": kind, "at_ms": at_ms, **place, **fields})

    def of(first: int, last: int, **fields: object) -> dict[str, object]:
        return {"first_offset": first, "last_offset": last, **fields}

    taken = {"acknowledgement": "accept", "state": "Acknowledged"}
    refused = {"acknowledgement": "reject", "state": "Archived"}
    back = [of(2, 3, state="Available")]
    lines = [
        line("RecordsAppended", 0, offset=0),
        line("RecordsAppended", 1_000, offset=2),
        line("RecordsAcquired", 1_000, records=[of(0, 3, delivery_count=1)]),
        line("RecordsAcknowledged", 2_000, records=[of(0, 1, **taken)]),
        line("RecordsReleased", 31_000, reason="the lock ended", records=back),
        line("RecordsAcquired", 31_000, records=[of(2, 3, delivery_count=2)]),
        line("RecordsAcknowledged", 32_000, records=[of(2, 2, **taken), of(3, 3, **refused)]),
    ]
    found = measure_shares(lines)
    assert found == (3, 0.1, 2, 1, 2, pytest.approx((2 + 2 + 31) / 3), 31)


def test_variants_of_a_share_group_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """Fewer records a poll, and no lock of the slow worker ends."""
    vary = "members.slow.config.max.poll.records=60,10"
    assert main(["ab", "share_lock_expiry", "--vary", vary, "--seeds", "2"]) == 0
    told = capsys.readouterr().out
    assert "locks ended" in told
    assert "rebalances" not in told
    assert measure_shares(typed(lines_of("share_lock_expiry"))).locks_ended > 300


LASTS = {"the_limit_is_forgotten": "20s"}
"""How long a shipped scenario is played for a bug, if not 70 s: each delivery too many comes again."""


@cache
def broken_without_a_bug(text: str, seed: int, settings: tuple[str, ...]) -> tuple[str, ...]:
    """Promises that a run does not keep; several bugs are planted in one scenario."""
    return run_text(text, seed, settings).broken


@pytest.mark.parametrize(
    ("bug", "scenario", "seed", "judges"),
    [
        ("locks_never_end", "share_lock_expiry", 1, "locks_last"),
        ("renewed_locks_end_as_if_they_were_not", "", 1, "locks_last"),
        ("the_limit_is_forgotten", "share_poison_record", 1, "deliveries_are_counted"),
        ("dead_letters_are_forgotten", "share_poison_record", 1, "dead_letters_complete"),
        ("anybody_acknowledges", "share_lock_expiry", 1, "one_holder"),
        ("share_session_epochs_are_not_checked", "", 1, "session_epochs_count"),
        ("the_start_goes_back", "share_lock_expiry", 1, "nothing_before_start"),
        ("releases_are_taken_for_acceptances", "", 1, "acknowledgements_are_stored"),
        ("accepted_records_come_again_after_a_leader_change", "", 1, "done_stays_done"),
        ("delivery_counts_are_lost_at_load", "", 4, "deliveries_are_counted"),
    ],
)
@pytest.mark.unjudged
def test_a_planted_bug_is_found(
    bug: str, scenario: str, seed: int, judges: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those that the swarm finds only after many seeds; without them all is well."""
    text = catalogue.text(scenario) if scenario else SCENARIOS.get(bug, MOVED)
    settings = (f"duration={LASTS.get(bug, '70s')}",) if scenario else ()
    assert broken_without_a_bug(text, seed, settings) == ()
    BUGS[bug](monkeypatch)
    assert judges in run_text(text, seed, settings).broken
