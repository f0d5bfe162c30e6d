"""The client matrix: what unmodified client libraries saw on a real Apache Kafka 4.3.1 is what they see on the emulator.

Each story is played by each variant (a library and an assignor), on the emulator always and on a real broker when one can be
had; both are compared with the record of three plays on a real broker (integration_tests/golden/clients), so that the record is
checked too. All stories selected are under way at once, a few at a time; each test awaits its own. Without Java and its
libraries the Java consumer's stories are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from coordinator import Emulator
from coordinator.broker.core import Call
from coordinator.groups.states import GroupState
from coordinator.interceptors import Answer
from coordinator.interceptors import Verdict as Interception
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from integration_tests.clients import java_agent
from integration_tests.clients.agents_running import Agents
from integration_tests.clients.compare import Expected, find, stable
from integration_tests.clients.golden import load
from integration_tests.clients.judging import Verdict, judged, summary
from integration_tests.clients.perform import Part, Performance, parts, shown
from integration_tests.clients.record import summary as summary_of_record
from integration_tests.clients.stage import PROFILE
from integration_tests.clients.variants import VARIANTS
from integration_tests.conftest import REQUIRED
from integration_tests.targets import EmulatorTarget, KafkaTarget
from integration_tests.wire.registry import PROFILES
from tools.kafka_jars import NoJavaError

GOLDEN = load()
PARTS = parts()
AGENTS_FAULT = re.compile("Unsupported|TypeError|ValueError|KeyError|odd:|its agent died")
EVERY_PART = pytest.mark.parametrize("part", PARTS, ids=["-".join(part) for part in PARTS])


@pytest.fixture(scope="session")
def agents() -> Iterator[Agents]:
    """The processes of the client libraries."""
    with Agents() as running:
        yield running


@pytest.fixture(scope="session")
def no_java() -> str:
    """Why the Java consumer cannot play; empty if it can."""
    try:
        java_agent.command()
    except NoJavaError as reason:
        return str(reason)
    return ""


class Tellers:
    """Says in the summary of the run what the matrix came to."""

    def __init__(self) -> None:
        self.lines: list[Callable[[], str]] = []

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A line for each target."""
        for line in self.lines:
            terminalreporter.write_line(line())


@pytest.fixture(scope="session")
def tellers(request: pytest.FixtureRequest) -> Tellers:
    """Lines for the summary."""
    tellers = Tellers()
    tellers.lines.append(lambda: summary_of_record(GOLDEN))
    request.config.pluginmanager.register(tellers)
    return tellers


def performance(request: pytest.FixtureRequest, test: str, address: str, target: str) -> Iterator[Performance[Verdict]]:
    """Begin all the parts that tests of this name will ask for."""
    agents, no_java, tellers = (request.getfixturevalue(name) for name in ("agents", "no_java", "tellers"))
    chosen: list[Part] = []
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.module.__name__ == __name__ and item.originalname == test:
            variant, story = VARIANTS[item.callspec.params["part"][0]], item.callspec.params["part"][1]  # type: ignore[index]
            if (variant.name, story) in GOLDEN and not (no_java and variant.library == "java"):
                chosen.append((variant.name, story))
    performed = Performance(lambda part: judged(part, address, agents, GOLDEN[part]), chosen)
    tellers.lines.append(lambda: summary(target, (f.result() for f in performed.played.values() if f.done()), performed.took_s))
    yield performed
    performed.close()


@pytest.fixture(scope="session")
def on_emulator(request: pytest.FixtureRequest, emulator: EmulatorTarget) -> Iterator[Performance[Verdict]]:
    """Everything on the emulator."""
    yield from performance(request, test_on_the_emulator.__name__, emulator.address(PROFILE), "the emulator")


@pytest.fixture(scope="session")
def on_kafka(request: pytest.FixtureRequest, kafka: KafkaTarget) -> Iterator[Performance[Verdict]]:
    """Everything on a real broker."""
    yield from performance(request, test_on_a_real_broker.__name__, kafka.address(PROFILE), "a real broker")


def agree(part: Part, performed: Performance[Verdict], no_java: str) -> None:
    """Fail if a story differs from the record."""
    if part not in GOLDEN:
        pytest.fail("it is not recorded yet: python -m integration_tests.clients.record", pytrace=False)
    if part not in performed.played:
        reason = f"the Java consumer cannot play: {no_java}"
        if REQUIRED:
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    verdict = performed.played[part].result()
    if verdict.differences:
        lines = [f"differs from Kafka's record in each of {verdict.plays} plays:", *verdict.differences, "the last play:"]
        pytest.fail("\n  ".join([*lines, shown(verdict.transcript)]), pytrace=False)


@EVERY_PART
def test_on_the_emulator(part: Part, on_emulator: Performance[Verdict], no_java: str) -> None:
    agree(part, on_emulator, no_java)


@EVERY_PART
def test_on_a_real_broker(part: Part, on_kafka: Performance[Verdict], no_java: str) -> None:
    agree(part, on_kafka, no_java)


def test_races_are_few(on_emulator: Performance[Verdict]) -> None:
    """An emulator that made every rebalance take other rounds than Kafka does would not be let off as a race."""
    racing = [f.result() for (variant, _), f in on_emulator.played.items() if VARIANTS[variant].races]
    assert sum(verdict.raced for verdict in racing) <= len(racing) // 4


def test_every_story_is_recorded_and_every_record_has_its_story() -> None:
    assert set(PARTS) == set(GOLDEN)


def test_no_record_tells_of_an_agent_that_could_not() -> None:
    everything = [(part, name, str(expected.seen)) for part, members in GOLDEN.items() for name, expected in members.items()]
    assert [entry for entry in everything if AGENTS_FAULT.search(entry[2])] == []


def test_agents_end_with_their_stage() -> None:
    with Agents() as agents:
        idle, frozen, killed = (agents.own("confluent") for _ in range(3))
        frozen.freeze()
        killed.kill()
        assert idle.running
        assert frozen.running
    assert not any(agent.running for agent in (idle, frozen, killed))


# -- the judge is judged ------------------------------------------------------------------------------------------------------


def _seen(*steps: str, records: str = "abc") -> dict[str, object]:
    return {"A": {"steps": list(steps), "records": {"orders/0": records}}}


ASSIGNED = ("assigned orders/0 orders/1", "revoked orders/1", "commit: ok", "assigned -")


@pytest.mark.parametrize(
    "transcript",
    [
        _seen(*ASSIGNED[:-1]),
        _seen(*ASSIGNED, "lost orders/0"),
        _seen("assigned orders/0 orders/1", "lost orders/1", "commit: ok", "assigned -"),
        _seen("assigned orders/0 orders/1", "revoked orders/1", "commit: CommitFailed", "assigned -"),
        _seen("assigned orders/0 orders/1", "commit: ok", "revoked orders/1", "assigned -"),
        _seen(*ASSIGNED, records="ab"),
        _seen(*ASSIGNED) | {"B": {"steps": [], "records": {}}},
        _seen(*ASSIGNED) | {"stuck": "waited in vain"},
        {},
    ],
)
def test_a_changed_transcript_is_a_difference(transcript: dict[str, object]) -> None:
    expected = stable([_seen(*ASSIGNED)] * 3)
    assert find(expected, _seen(*ASSIGNED), may_race=False).differences == []
    assert find(expected, transcript, may_race=False).differences != []


def test_what_was_not_stable_is_not_asked_for_and_the_rest_is() -> None:
    other_order = ("assigned orders/0 orders/1", "commit: ok", "revoked orders/1", "assigned -")
    expected = stable([_seen(*ASSIGNED), _seen(*other_order), _seen(*ASSIGNED, records="abcc")])
    assert expected["A"].view == "apart"
    assert expected["A"].records is None
    assert find(expected, _seen(*other_order, records=""), may_race=False).differences == []
    lost = _seen("assigned orders/0 orders/1", "commit: ok", "lost orders/1", "assigned -")
    assert find(expected, lost, may_race=False).differences != []


def test_only_races_of_clients_are_let_off_and_that_is_told() -> None:
    expected = stable([_seen("assigned -", "assigned orders/0 orders/1", "revoked orders/1")] * 3)
    portions = _seen("assigned orders/1", "assigned orders/0", "assigned -", "revoked orders/1")
    assert find(expected, portions, may_race=True) == ([], True)
    assert find(expected, portions, may_race=False).differences != []
    again = _seen("assigned orders/0 orders/1", "revoked orders/0 orders/1", "assigned orders/0 orders/1", "revoked orders/1")
    assert find(expected, again, may_race=True) == ([], True)
    whole = "assigned orders/0 orders/1"
    for wrong in ([whole], [whole, "lost orders/1"], ["assigned orders/0", "revoked orders/1"]):
        assert find(expected, _seen(*wrong), may_race=True).differences != []


def test_a_planted_bug_is_found(agents: Agents) -> None:
    """A coordinator that tells members of a rebalance with ILLEGAL_GENERATION in place of REBALANCE_IN_PROGRESS."""
    with Emulator(config=PROFILES[PROFILE]) as emulator:

        def wrong(call: Call) -> Interception:
            if isinstance(call.message, HeartbeatRequest):
                group = emulator.coordinator.groups.get(call.message.group_id)
                if group is not None and group.state is GroupState.PREPARING_REBALANCE:
                    return Answer(HeartbeatResponse(error_code=22))
            return None

        part = ("confluent", "members_join")
        assert _judged_once(part, emulator, agents) == []
        emulator.run(lambda: emulator.broker.interceptors.append(wrong))
        assert "lost orders/0" in " ".join(_judged_once(part, emulator, agents))


def _judged_once(part: Part, emulator: Emulator, agents: Agents) -> list[str]:
    expected: dict[str, Expected] = GOLDEN[part]
    return judged(part, emulator.bootstrap_servers, agents, expected, most_plays=1).differences
