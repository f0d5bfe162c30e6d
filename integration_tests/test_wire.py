"""Raw scenarios: what a real Apache Kafka 4.4.0 answered, step by step, is what the emulator
answers.

The emulator is compared with the recorded transcript of a real broker, in every scenario. It is
compared with a real broker side by side, too, under one fresh mark, when one can be had; then the
record itself is compared with that broker, so that a stale one is noticed. `make test` does so with
one scenario of each file, `make fuzz` with the others. All
scenarios selected are under way at once; each test awaits its own. One that differs there is decided
by a play with nothing beside it: with hundreds under way, either side may act on a change or end a
session seconds late. The run's last lines name those.
`integration_tests/wire/divergences.py` names the only ones that may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path

import pytest

from integration_tests.conftest import ClosingLines
from integration_tests.gate import first_of_each_file, on_a_real_broker, quick
from integration_tests.targets import EmulatorTarget, KafkaTarget, Target
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.compare import difference, told
from integration_tests.wire.coverage import by_rule
from integration_tests.wire.divergences import DIVERGENCES
from integration_tests.wire.record import load
from integration_tests.wire.recorder import Step, await_coordinator, complete, new_nonce, play
from integration_tests.wire.registry import all_scenarios
from integration_tests.wire.together import Part, play_together

SCENARIOS = all_scenarios()
RECORDED = load()
DIVERGENCES_PAGE = Path(__file__).resolve().parents[1] / "docs" / "divergences.md"
GROUP_RULES = (
    "DG",
    "DLY",
    "DSC",
    "EXP",
    "HB",
    "JOIN",
    "LEAD",
    "LST",
    "LV",
    "MID",
    "OC",
    "OD",
    "OF",
    "PROTO",
    "REB",
    "SES",
    "SIZE",
    "STA",
    "SYNC",
    "VAL",
)
OUT_OF_SIGHT = {
    "DLY-7": "a worked example of DLY-2",
    "JOIN-8": "after 300 s",
    "LST-4": "cannot be sent",
    "SIZE-4": "nothing is to be seen",
    "STA-5": "needs a write that fails",
    "OC-9": "not in 4.4.0",
    "OC-10": "KIP-848",
    "OF-7": "authorisation",
}
"""Rules of groups that no raw scenario shows, and why."""


class Plays:
    """The transcripts to come: by scenario, of the emulator under the record's mark, and of both
    under a fresh one."""

    def __init__(
        self, emulator: EmulatorTarget, kafka: KafkaTarget | None, alone: set[str], beside: set[str]
    ) -> None:
        self._parts: dict[tuple[str, str], Part] = {}
        self.again: list[str] = []
        """Scenarios that differed beside others, and were the same alone."""
        targets: list[Target] = [emulator] if kafka is None else [emulator, kafka]
        for target in targets:
            names = beside if target is kafka else alone | beside
            profiles = sorted({SCENARIOS[name].profile for name in names})
            target.begin(profiles)
            for profile in profiles:
                await_coordinator(target.address(profile), TableCodec())
        for name in sorted(alone):
            self._add("recorded", name, emulator, RECORDED[name].nonce)
        for name in sorted(beside):
            nonce = new_nonce()
            for who, target in zip(("emulator", "kafka"), targets, strict=False):
                self._add(who, name, target, nonce)
        self._futures: dict[Part, Future[list[Step]]] = play_together(self._parts.values())

    def steps(self, who: str, name: str) -> list[Step]:
        """Await the transcript of `name` as `who` gave it. It comes within the scenarios' time
        limits."""
        return self._futures[self._parts[who, name]].result()

    def alone(self, who: str, name: str, nonce: str) -> list[Step]:
        """The transcript of `name` as `who` gives it when no other scenario is under way. An
        emulator is a fresh one, so that a record's mark can be used again."""
        wait(self._futures.values())
        scenario = SCENARIOS[name]
        if who == "kafka":
            return play(scenario, self._parts[who, name].address, TableCodec(), nonce)
        emulator = EmulatorTarget()
        try:
            address = emulator.address(scenario.profile)
            await_coordinator(address, TableCodec())
            return play(scenario, address, TableCodec(), nonce)
        finally:
            emulator.close()

    def _add(self, who: str, name: str, target: Target, nonce: str) -> None:
        self._parts[who, name] = Part(
            SCENARIOS[name], target.address(SCENARIOS[name].profile), nonce
        )


@pytest.fixture(scope="session")
def plays(
    request: pytest.FixtureRequest, emulator: EmulatorTarget, closing_lines: ClosingLines
) -> Plays:
    """Everything that the selected tests of this module will want to see, begun together."""
    selected: dict[str, set[str]] = {}
    for item in request.session.items:
        if (
            isinstance(item, pytest.Function)
            and item.module.__name__ == __name__
            and hasattr(item, "callspec")
        ):
            selected.setdefault(item.originalname, set()).add(str(item.callspec.params["name"]))
    beside = selected.get(test_the_emulator_beside_a_real_broker.__name__, set())
    kafka: KafkaTarget | None = None
    if beside:
        try:
            kafka = request.getfixturevalue("kafka")
        except (pytest.skip.Exception, pytest.fail.Exception):
            kafka = None  # the tests that want it ask for it themselves, and say so
    alone = selected.get(test_the_emulator_answers_as_kafka_did.__name__, set())
    plays = Plays(emulator, kafka, alone, beside if kafka else set())
    closing_lines.append(
        lambda: f"raw scenarios that differed beside others: {', '.join(plays.again) or 'none'}"
    )
    return plays


def judge(name: str, kafka: list[Step], ours: list[Step]) -> None:
    """Fail if the transcripts differ, and it is not a listed difference; or if a listed one is
    gone."""
    found = difference(kafka, ours)
    if name in DIVERGENCES:
        assert found is not None, (
            f"no longer differs: take it out of the divergences ({DIVERGENCES[name]})"
        )
    elif found is not None:
        pytest.fail(told(found, "Kafka", "we"), pytrace=False)


Sides = Callable[[], tuple[list[Step], list[Step]]]


def judge_plays(name: str, beside: Sides, alone: Sides, again: list[str]) -> None:
    """Judge what was played beside other scenarios; where that differs, what is played alone."""
    try:
        judge(name, *beside())
    except (AssertionError, pytest.fail.Exception):
        judge(name, *alone())
        again.append(name)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_the_emulator_answers_as_kafka_did(name: str, plays: Plays) -> None:
    record, nonce = RECORDED[name].steps, RECORDED[name].nonce
    judge_plays(
        name,
        lambda: (record, plays.steps("recorded", name)),
        lambda: (record, plays.alone("recorded", name, nonce)),
        plays.again,
    )


@pytest.mark.parametrize(
    "name",
    on_a_real_broker(sorted(RECORDED), first_of_each_file(quick(SCENARIOS.values()))),
)
def test_the_emulator_beside_a_real_broker(name: str, kafka: KafkaTarget, plays: Plays) -> None:
    nonce = new_nonce()
    judge_plays(
        name,
        lambda: (plays.steps("kafka", name), plays.steps("emulator", name)),
        lambda: (plays.alone("kafka", name, nonce), plays.alone("emulator", name, nonce)),
        plays.again,
    )
    if SCENARIOS[name].repeats:
        judge_record(
            name,
            lambda: plays.steps("kafka", name),
            lambda: plays.alone("kafka", name, new_nonce()),
        )


def judge_record(
    name: str, beside: Callable[[], list[Step]], alone: Callable[[], list[Step]]
) -> None:
    """Fail if the record is not what the real broker does: beside other scenarios, and alone."""
    record = RECORDED[name].steps
    if difference(record, beside()) is None:
        return
    found = difference(record, alone())
    if found is not None:
        pytest.fail(
            f"the record is stale (python -m integration_tests.record wire):\n{told(found, 'record', 'Kafka')}",
            pytrace=False,
        )


def test_every_scenario_is_recorded_and_every_record_has_its_scenario() -> None:
    assert set(SCENARIOS) == set(RECORDED)


def test_every_record_is_whole() -> None:
    assert [name for name, recorded in RECORDED.items() if not complete(recorded.steps)] == []


def test_every_rule_of_groups_is_touched_by_a_scenario() -> None:
    """The table is printed by `python -m integration_tests.wire.coverage --by rule`."""
    untouched = {
        rule
        for rule, names in by_rule().items()
        if not names and rule.partition("-")[0] in GROUP_RULES
    }
    assert sorted(untouched) == sorted(OUT_OF_SIGHT)


def test_each_divergence_stands_in_the_documentation() -> None:
    page = DIVERGENCES_PAGE.read_text()
    assert set(DIVERGENCES) <= set(SCENARIOS)
    assert [name for name in DIVERGENCES if f"`{name}`" not in page] == []
