"""Requests that change nothing are skipped: the log, the bytes sent and every state are the same as
if they had been sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.cli import main
from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.shards.timers import TimerKind
from coordinator.events import EventLog
from coordinator.lab.pipeline.curve import curve_settings
from coordinator.lab.simulator.clients.member import SimulatedMember
from coordinator.lab.simulator.clients.skipped_refreshes import Planned
from coordinator.lab.simulator.clients.skipping import Quiet
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.model import Scenario
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from coordinator.lab.simulator.world import World
from coordinator.members.consumer_protocol.membership import ConsumerPulse

pytestmark = pytest.mark.unmeasured

_LONG = frozenset(
    {"broker_crash_acks", "commit_crash", "exactly_once_pipeline", "slow_consumer", "slow_records"}
)
"""Their members consume, and are never quiet: a part of them is enough."""
_EACH_KIND = frozenset(
    {
        "broker_crash_acks",
        "coordinator_crash",
        "exactly_once_pipeline",
        "half_open_partition",
        "long_gc_pause",
        "migration_to_consumer",
        "poisson_churn",
        "rolling_deploy_static",
    }
)
"""Those that `make test` runs: brokers and coordinators that crash, transactions, links that are cut,
members that stall, both protocols, random churn, static members. `make fuzz` runs all others."""


def long_half(*case: Any) -> Any:
    """A case of `make fuzz`: another one stands for its kind in `make test`."""
    return pytest.param(*case, marks=pytest.mark.thorough)


_SESSIONS = int(TimerKind.SESSION), int(TimerKind.CONSUMER_SESSION)

QUIET = """
duration = "5m"
[topics]
orders = 7
[links]
delay = ["{shortest}ms", "{longest}ms"]
[[members]]
name = "app"
count = 4
topics = "orders"
protocol = "{protocol}"
reads = {reads}
start = "0s"
config = {{ "metadata.max.age.ms" = 47000{config} }}
[[churn]]
kind = "restart"
members = "app"
at = "120s"
down = "30s"
how = "crash"
[[churn]]
kind = "stall"
members = "app-2"
at = "200s"
lasts = "5s"
"""


TOPIC_COMES = """
duration = "4m"
[topics]
orders = 7
[links]
delay = ["300ms", "300ms"]
[[members]]
name = "app"
count = 30
topics = ["orders", "later"]
protocol = "{protocol}"
reads = 0
start = "0s"
config = {{ "allow.auto.create.topics" = "false" }}
[[members]]
name = "other"
group = "others"
topics = "later"
config = {{ "metadata.max.age.ms" = 20000 }}
[[faults]]
verb = "DeleteTopic"
topic = "later"
at = "100s"
[[faults]]
verb = "DeleteTopic"
topic = "later"
at = "200s"
[[faults]]
verb = "CreateTopic"
topic = "later"
partitions = 2
at = "220s"
"""
"""A member of another group makes a topic anew by asking for it, while all others are quiet:
nothing else happens at that time."""

SILENT = """
duration = "3m"
[topics]
orders = 7
[[members]]
name = "app"
count = 8
topics = "orders"
protocol = "{protocol}"
reads = 0
start = "0s"
config = {{ "max.poll.interval.ms" = 30000 }}
[[churn]]
kind = "stall"
members = "app-2"
at = "61s"
lasts = "50s"
"""
"""A member leaves by itself, while all others are quiet."""


def quiet(
    shortest: int, longest: int, reads: int, *settings: str, protocol: str = "classic"
) -> Scenario:
    """The scenario QUIET."""
    config = ', "session.timeout.ms" = 10000' if protocol == "classic" else ""
    text = QUIET.format(
        shortest=shortest, longest=longest, reads=reads, protocol=protocol, config=config
    )
    return read_scenario(text, "quiet", settings)


def run(
    scenario: Scenario, seed: int, *, skips: bool, looks: range = range(0)
) -> tuple[list[str], Any, World]:
    """The log; what was found by looking at these instants; the world."""
    log, found = EventLog(seed=seed), []

    def begin(world: World) -> None:
        for instant in looks:
            world.at(instant, lambda: found.append(state(world)))

    world = run_scenario(scenario, seed, log, begin, skips=skips)
    return log.lines, [*found, state(world)], world


def state(world: World) -> Any:
    """Of each member when it beats and expires, here and at its coordinator; of each link what went
    over it and what is drawn next."""
    members = []
    for member in world.members.values():
        if not isinstance(member, SimulatedMember):
            continue
        m = member.member._p
        pulse, identity, group = m.pulse, m.generation.member_id, m.config.group_id
        sessions = []
        for broker in world.brokers.brokers.values():
            shard = broker.coordinator.shard_of(group)
            sessions.append(
                None
                if shard is None
                else [shard.timers.get((kind, group, identity)) for kind in _SESSIONS]
            )
        if isinstance(pulse, ConsumerPulse):
            beats = (
                pulse.beat_at,
                pulse.in_flight is not None,
                pulse.retry_at,
                pulse.poll_expires_at,
                m.member_epoch,
            )
        else:
            beats = (
                pulse.beat_at,
                pulse.in_flight,
                pulse.session_expires_at,
                pulse.poll_expires_at,
                m.generation.generation_id,
            )
        members.append(
            (
                member.name,
                beats,
                dict(member.member.positions),
                m.number,
                sorted(m.in_flight),
                m.metadata_expires_at,
                m.metadata_in_flight,
                m.next_auto_commit_at,
                member.next_deadline(),
                sessions,
            )
        )
    links = [(key, link.sent_bytes, link._draws._counter) for key, link in world._links.items()]
    return world.now, members, links


def assert_same(scenario: Scenario, seed: int, looks: range = range(0)) -> tuple[World, World]:
    """Both ways are the same; answers both worlds."""
    (sent, states, slow), (skipped, same_states, fast) = (
        run(scenario, seed, skips=skips, looks=looks) for skips in (False, True)
    )
    assert skipped == sent
    assert same_states == states
    return slow, fast


@pytest.mark.parametrize(
    "name", [name if name in _EACH_KIND else long_half(name) for name in catalogue.names()]
)
def test_every_shipped_scenario_is_the_same(name: str) -> None:
    settings = ("duration=100s",) if name in _LONG else ()
    assert_same(read_scenario(catalogue.text(name), name, settings), 3)


@pytest.mark.parametrize("seed", [8, 9, 10, *map(long_half, range(11, 16))])
def test_random_scenarios_are_the_same(seed: int) -> None:
    assert_same(read_scenario(scenario_text(seed, 1), "swarm"), seed)


@pytest.mark.parametrize(
    ("shortest", "longest", "reads"),
    [
        (1, 1, 5),
        (2, 60, 0),
        *(long_half(*case) for case in [(1, 1, 0), (0, 3, 0), (900, 1400, 5)]),
    ],
)
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_who_looks_at_any_instant_sees_no_difference(
    shortest: int, longest: int, reads: int, protocol: str
) -> None:
    """Heartbeats on their way and answers on theirs, members that begin, crash and expire at the
    same instants."""
    scenario = quiet(shortest, longest, reads, protocol=protocol)
    slow, fast = assert_same(scenario, 5, range(10_000, 300_000, 1_237))
    assert slow.steps >= fast.steps
    assert_same(scenario, 5, range(20_000, 22_000, 1))
    assert_same(scenario, 5, range(46_900, 47_600, 1))  # metadata are asked for
    assert_same(scenario, 5, range(93_900, 94_700, 1))


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_quiet_group_costs_next_to_nothing(protocol: str) -> None:
    scenario = quiet(1, 9, 0, "duration=2m", protocol=protocol)
    slow, fast = assert_same(scenario, 5)
    assert slow.steps > 3 * fast.steps


@pytest.mark.parametrize("commits", ["true", "false"])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_many_refreshes_in_a_row_are_the_same(
    protocol: str, commits: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members are quiet over several refreshes of their metadata, some of which are on their way when
    somebody looks; brokers look for what has expired meanwhile."""
    passed_over = 0
    pass_over = Quiet._pass_over

    def counted(quiet: Quiet, planned: list[Planned]) -> None:
        nonlocal passed_over
        passed_over += len(planned)
        pass_over(quiet, planned)

    monkeypatch.setattr(Quiet, "_pass_over", counted)
    of_classic = [
        f"members.app.config.{key}"
        for key in ("heartbeat.interval.ms=8000", "session.timeout.ms=40000")
    ]
    scenario = quiet(
        600,
        1100,
        0 if commits == "true" else 5,
        "duration=30m",
        "members.app.count=10",
        f"members.app.config.enable.auto.commit={commits}",
        "brokers.config.offsets.retention.check.interval.ms=60000",
        "brokers.config.group.consumer.heartbeat.interval.ms=8000",
        *(of_classic if protocol == "classic" else ()),
        protocol=protocol,
    )
    slow, fast = assert_same(scenario, 5, range(330_000, 1_800_000, 291_713))
    assert slow.steps > 2 * fast.steps
    assert passed_over > 20


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_topic_that_somebody_else_makes_ends_the_quiet_of_a_consumer_group(protocol: str) -> None:
    """K8-HB-4: its coordinator looks at topics when a member heartbeats."""
    scenario = read_scenario(TOPIC_COMES.format(protocol=protocol), "a topic comes")
    slow, fast = assert_same(scenario, 5, range(99_000, 160_000, 5_500))
    assert fast.steps < slow.steps


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_member_that_loses_one_connection_after_the_other_is_not_quiet(protocol: str) -> None:
    """That to any broker goes first, at the same instant. It has no other before its next heartbeat
    is due."""
    text = f"""
        duration = "5m"
        [topics]
        orders = 7
        [brokers]
        count = 3
        [links]
        delay = ["100ms", "100ms"]
        [[members]]
        name = "app"
        count = 3
        topics = "orders"
        protocol = "{protocol}"
        start = "0s"
        config = {{ "metadata.max.age.ms" = 10000 }}
        """ + "".join(
        f"""
        [[faults]]
        verb = "ResetMember"
        member = "app-{1 + number % 3}"
        at = "{30_000 + 4_117 * number}ms"
        """
        for number in range(60)
    )
    assert_same(read_scenario(text, "reset"), 1)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_member_that_leaves_by_itself_ends_the_quiet_of_all(protocol: str) -> None:
    scenario = read_scenario(SILENT.format(protocol=protocol), "silent")
    slow, fast = assert_same(scenario, 5)
    assert fast.steps < slow.steps


@pytest.mark.parametrize("way", ["KIP-848, uniform", "cooperative-sticky"])
def test_rolling_restarts_of_members_that_heartbeat_late_are_the_same(way: str) -> None:
    """Members come to each new epoch one after the other, some wait for partitions of others, all
    heartbeat, none at the same rate."""
    text = Path("docs/curve/scenario.toml").read_text(encoding="utf-8")
    slow, fast = assert_same(
        read_scenario(text, "curve", curve_settings(way, 30)),
        4,
        range(480_000, 600_000, 3_331),
    )
    assert slow.steps > 2 * fast.steps


def test_the_command_line_can_send_every_heartbeat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["simulate", "one_crash_one_join", "--set", "duration=60s", "--set", "churn.1.at=10s"]
    assert main([*common, "--log", str(tmp_path / "a.jsonl")]) == 0
    assert main([*common, "--every-heartbeat", "--log", str(tmp_path / "b.jsonl")]) == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert main([*common, "--every-heartbeat", "--live"]) == 2
    assert "--every-heartbeat: a run with --live sends every heartbeat" in capsys.readouterr().err


def test_time_can_pass_in_any_pieces() -> None:
    scenario = quiet(1, 30, 0, "duration=30s")
    (_, _, slow), (_, _, fast) = (run(scenario, 5, skips=skips) for skips in (False, True))
    for until in (30_001, 31_007, 40_000, 40_001, 75_500):
        slow.run(until)
        fast.run(until)
        assert state(fast) == state(slow)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize(("shortest", "longest"), [long_half(200, 700), (1, 1400)])
def test_commits_and_heartbeats_may_be_anywhere_on_their_way_when_somebody_looks(
    shortest: int, longest: int, protocol: str
) -> None:
    """Looks are rare: between two of them members are quiet again, and commit as such."""
    scenario = quiet(
        shortest, longest, 5, "members.app.config.auto.commit.interval.ms=7000", protocol=protocol
    )
    for offset in range(0, 7_919, 1_321):
        slow, fast = assert_same(scenario, 5, range(20_000 + offset, 280_000, 7_919))
        assert fast.steps < slow.steps


@pytest.mark.parametrize(
    "error",
    [
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ],
)
def test_commits_that_are_refused_are_told_the_member(
    error: ErrorCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = 0

    def refuse(
        group: ClassicGroup, member_id: str, instance: str | None, generation: int
    ) -> ErrorCode:
        nonlocal commits
        commits += 1
        return ErrorCode.NONE if commits % 7 else error

    monkeypatch.setattr(ClassicGroup, "refuse_commit", refuse)
    scenario = quiet(1, 90, 5, "duration=2m")
    results = []
    for skips in (False, True):
        commits = 0
        lines, states, _ = run(scenario, 5, skips=skips, looks=range(20_000, 120_000, 11_003))
        results.append((lines, states))
        assert commits > 40
    assert results[0] == results[1]
