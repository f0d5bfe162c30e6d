"""The lines that a Kafka broker would log: held by recorded logs of real brokers, and by what they tell when
they are read again."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from coordinator.clusters.diagnosis import Diagnosis, diagnose_text
from coordinator.clusters.written.kafka_lines import kafka_lines
from coordinator.events import groups as ev
from coordinator.events.groups import consumer as k8
from coordinator.events.groups import share as sh
from coordinator.events.line import Line
from coordinator.events.reader import read_lines
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from tests.shipped import simulated

from .test_stories import STORIES

FROZEN = Path(__file__).parents[1] / "frozen" / "logs"

_JOIN_LEAVE_EXPIRE = """
duration = "60s"
[topics]
orders = 3
[brokers]
config = { "group.initial.rebalance.delay.ms" = 3000 }
[[members]]
name = "orders"
group = "orders"
count = 1
topics = "orders"
assignor = "range"
config = { "session.timeout.ms" = 6000 }
[[members]]
name = "second"
group = "orders"
count = 1
start = ["7s", "7s"]
topics = "orders"
assignor = "range"
config = { "session.timeout.ms" = 6000 }
[[members]]
name = "third"
group = "orders"
count = 1
start = ["21s", "21s"]
topics = "orders"
assignor = "range"
config = { "session.timeout.ms" = 6000 }
[[churn]]
kind = "restart"
members = "second-1"
at = "15s"
down = "90s"
[[churn]]
kind = "restart"
members = "third-1"
at = "28s"
down = "90s"
how = "crash"
"""
_STATIC_TOO_LATE = """
duration = "40s"
[topics]
shop = 3
[brokers]
config = { "group.initial.rebalance.delay.ms" = 3000 }
[[members]]
name = "shop"
group = "shop"
count = 2
topics = "shop"
assignor = "range"
static = true
config = { "session.timeout.ms" = 6000 }
[[churn]]
kind = "restart"
members = "shop-2"
at = "13s"
down = "12s"
how = "crash"
"""
_CONSUMER = """
duration = "120s"
[topics]
pay = 6
[[members]]
name = "first"
group = "pay"
count = 1
start = ["0s", "0s"]
topics = "pay"
protocol = "consumer"
[[members]]
name = "second"
group = "pay"
count = 1
start = ["10ms", "10ms"]
topics = "pay"
protocol = "consumer"
[[members]]
name = "third"
group = "pay"
count = 1
start = ["80s", "80s"]
topics = "pay"
protocol = "consumer"
[[churn]]
kind = "restart"
members = "first-1"
at = "12s"
down = "200s"
how = "crash"
[[churn]]
kind = "restart"
members = "second-1"
at = "100s"
down = "200s"
"""
_MISSED_POLL = """
duration = "60s"
[topics]
invoices = 6
[brokers]
config = { "group.initial.rebalance.delay.ms" = 3000 }
[[members]]
name = "first"
group = "invoices"
count = 1
start = ["0s", "0s"]
topics = "invoices"
assignor = "range"
[[members]]
name = "second"
group = "invoices"
count = 1
start = ["400ms", "400ms"]
topics = "invoices"
assignor = "range"
config = { "max.poll.interval.ms" = 10000 }
[[churn]]
kind = "stall"
members = "second-1"
at = "9s"
lasts = "18s"
[[churn]]
kind = "restart"
members = "second-1"
at = "45s"
down = "200s"
"""


@cache
def log_of(scenario: str) -> list[Line]:
    return list(read_lines(simulated(scenario, "story", 1).splitlines()))


def _shape(line: str, known: dict[str, str]) -> str:
    """A line without its time, ids, host and numbers that differ from run to run."""
    text = line.partition("] INFO ")[2]
    text = re.sub(
        r"groupInstanceId=[\w-]+|instance id (?:Some\()?(?!None|null)[\w-]+\)?", "INSTANCE", text
    )
    text = re.sub(
        r"[\w-]+-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=Member )[\w+/-]{22}",
        lambda found: known.setdefault(found[0], f"M{len(known) + 1}"),
        text,
    )
    text = re.sub(r"clientId=[^,]*, clientHost=[^,]*", "CLIENT", text)
    text = re.sub(r"TimeoutMs=\d+", "TimeoutMs=N", text)
    text = re.sub(r"List\([^)]*\)", "List()", text)
    text = re.sub(r"(__consumer_offsets-|partition=|metadata hash -?|in )\d+", r"\1N", text)
    text = re.sub(r"(?<=group )(?:orders|shop|g)\b|(?<=GroupId )\w+|(?<=\[Group )\w+", "G", text)
    return re.sub(r"client reason: [^()]*", "client reason: WHY", text)


def _recorded(story: str, name: str) -> list[str]:
    known: dict[str, str] = {}
    lines = (STORIES / story / name).read_text().splitlines()
    about = re.compile(r"\[GroupCoordinator [^\]]*\]:? (?!Scheduling|Finished|Starting|Startup)")
    return [
        _shape(line, known)
        for line in lines
        if about.search(line) and not re.search(r" (?:Elected|Resigned|Loading) ", line)
    ]


def _written(scenario: str, release: str) -> list[str]:
    known: dict[str, str] = {}
    return [
        _shape(line.replace("group story ", "group G "), known)
        for line in kafka_lines(log_of(scenario), release)
    ]


def test_the_same_story_in_the_words_of_the_scala_coordinator() -> None:
    assert _written(_JOIN_LEAVE_EXPIRE, "3.9.2") == _recorded(
        "join-leave-expire-scala", "server.log"
    )


def test_a_static_member_in_the_words_of_the_scala_coordinator() -> None:
    assert _written(_STATIC_TOO_LATE, "3.9.2") == _recorded(
        "kubectl-prefix-static-restart-too-late", "kubectl-logs.txt"
    )


def test_a_missed_poll_in_the_words_of_the_java_coordinator() -> None:
    assert _written(_MISSED_POLL, "4.4.0") == _recorded("missed-max-poll-java", "server.log")


def test_a_group_of_kip_848_in_the_words_of_the_java_coordinator() -> None:
    assert _written(_CONSUMER, "4.4.0") == _recorded("kip848-killed-and-back", "server.log")


# -- log -> text -> log


_KINDS = {
    "join": ("first-join", "joined", "static-restart"),
    "left": ("left", "poll-timeout"),
    "expired": ("expired",),
    "leader": ("leader-rejoined",),
    "changed": ("subscription-changed",),
    "replaced": ("static-restart", "twin-fenced"),
    "unsynced": ("expired",),
}
_GONE = {
    ev.Removal.LEFT: "left",
    ev.Removal.SESSION_EXPIRED: "expired",
    ev.Removal.ENDED_BY_HAND: "expired",
    ev.Removal.NEVER_JOINED: "expired",
    ev.Removal.DID_NOT_SYNC: "unsynced",
}


class _Truth:
    """What an event log says of one group, told from its events alone."""

    def __init__(self) -> None:
        self.generations: list[tuple[int, int, int]] = []
        self.causes: list[tuple[str, str] | None] = []
        self.removed: list[set[str]] = []
        self.epochs: list[tuple[int, int]] = []
        self._leader: str | None = None
        self._stable = False
        self._trigger: tuple[str, str] | None = None
        self._begun: tuple[str, str] | None = None
        self._unjoined: set[str] = set()

    def see(self, line: Line) -> None:
        event = line.event
        match event:
            case ev.MemberJoined(member):
                self._trigger, self._leader = ("join", member), event.leader
            case ev.MemberReplaced(member):
                self._leader = event.leader
                if event.parked:
                    self._trigger = ("replaced", member)
            case ev.MemberRejoined(member):
                if member == self._leader and self._stable:
                    self._trigger = ("leader", member)
                elif event.changed:
                    self._trigger = ("changed", member)
            case ev.MemberRemoved(member, reason, leader):
                self._leader = leader
                if reason == ev.Removal.DID_NOT_REJOIN:
                    self._unjoined.add(member)
                elif reason in _GONE:
                    self._trigger = (_GONE[reason], member)
            case ev.RebalanceStarted():
                self._begun, self._stable = self._trigger, False
            case ev.GenerationStarted(generation, _, leader, members):
                self._leader = leader
                self._generation(generation, len(members), line.at_ms)
            case ev.GroupEmptied(generation):
                self._generation(generation, 0, line.at_ms)
            case ev.GenerationStored():
                self._stable = True
            case k8.GroupEpochBumped(epoch):
                self.epochs.append((epoch, line.at_ms))
            case _:
                pass

    def _generation(self, number: int, members: int, at_ms: int) -> None:
        self.generations.append((number, members, at_ms))
        self.causes.append(self._begun)
        self.removed.append(self._unjoined)
        self._begun, self._unjoined = None, set()


def _truths(lines: list[Line]) -> dict[str, _Truth]:
    found: dict[str, _Truth] = {}
    for line in lines:
        if line.stream == "group" and line.group is not None:
            found.setdefault(line.group, _Truth()).see(line)
    return found


def _told(lines: list[Line], release: str) -> Diagnosis:
    return diagnose_text("\n".join(kafka_lines(lines, release)) + "\n")


def _logs() -> list[str]:
    """But for the log of a lost zone: two brokers are coordinators of one group at a time there."""
    frozen = sorted(path.stem for path in FROZEN.glob("*.jsonl") if path.stem != "zone_lost")
    return [
        *(name for name in frozen if not name.startswith("live")),
        *(f"swarm-{n}" for n in (1, 2, 3, 4, 7, 11)),
    ]


@cache
def _log(name: str) -> list[Line]:
    if name.startswith("swarm-"):
        seed = int(name.removeprefix("swarm-"))
        return list(read_lines(simulated(scenario_text(seed), name, seed).splitlines()))
    return list(read_lines((FROZEN / f"{name}.jsonl").read_text().splitlines()))


@pytest.mark.parametrize("release", ["3.9.2", "4.0.2", "4.4.0"])
@pytest.mark.parametrize("name", _logs())
def test_everything_that_text_can_tell_is_told(name: str, release: str) -> None:
    lines = _log(name)
    told = _told(lines, release)
    for group, truth in _truths(lines).items():
        if not truth.generations and not truth.epochs:
            continue
        story = told.groups[group]
        if truth.generations and not truth.epochs:
            assert [
                (each.generation, each.members, each.at) for each in story.rebalances
            ] == truth.generations
            for each, cause, removed in zip(
                story.rebalances, truth.causes, truth.removed, strict=True
            ):
                if cause is not None:
                    assert each.cause in _KINDS[cause[0]], (each, cause)
                    assert each.member_id == cause[1]
                assert bool(each.removed) or not removed
        if truth.epochs and not truth.generations:
            assert [(each.generation, each.at) for each in story.rebalances] == truth.epochs


@pytest.mark.parametrize("release", ["3.9.2", "4.4.0"])
@pytest.mark.parametrize("name", _logs())
def test_every_line_that_is_written_is_understood(name: str, release: str) -> None:
    (report,) = _told(_log(name), release).reports.values()
    assert report.understood == report.lines or not report.understood


def test_a_swapped_generation_is_noticed() -> None:
    """Guards the property test: an error in a line does not go unseen."""
    lines = _log("classic")
    text = "\n".join(kafka_lines(lines, "4.4.0"))
    (truth,) = [one for one in _truths(lines).values() if one.generations]
    wrong = text.replace(
        "Stabilized group app generation 2", "Stabilized group app generation 3", 1
    )
    assert wrong != text
    story = diagnose_text(wrong + "\n").groups["app"]
    assert [
        (each.generation, each.members, each.at) for each in story.rebalances
    ] != truth.generations


def test_an_epoch_of_a_share_group_that_a_member_leaves_has_no_line() -> None:
    told = f"{'[GroupId workers]'} Bumped"
    lines = _log("share")
    bumps = [line for line in lines if isinstance(line.event, sh.ShareGroupEpochBumped)]
    written = [line for line in kafka_lines(lines, "4.4.0") if told in line]
    gone = [line for line in lines if isinstance(line.event, sh.ShareMemberRemoved)]
    assert len(bumps) - len(gone) <= len(written) <= len(bumps)
