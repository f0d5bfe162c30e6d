"""Each shipped scenario is simulated once here: it keeps what it promises, and every output says the
same numbers of it (see tests/lab/test_one_number.py)."""

from __future__ import annotations

import pytest

from coordinator.events.groups import GenerationStored
from coordinator.events.groups.share import ShareTargetAssigned
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import verdicts
from tests.frozen.outputs import Lines
from tests.lab.test_one_number import disagreements
from tests.log_judge import recording
from tests.shipped import SCENARIOS, log_text

pytestmark = pytest.mark.unmeasured


@pytest.fixture(scope="module")
def log(request: pytest.FixtureRequest) -> Lines:
    """The log of one of SCENARIOS, which those tests share that run one after the other. It is made
    outside of them, so what was live is compared with it here."""
    with recording() as recorder:
        text = log_text(request.param)
        recorder.judge()
    return Lines(text)


def test_those_that_are_shipped_come_first() -> None:
    """A scenario has the same place in both lists of parameters, so that pytest puts its tests
    together."""
    names = catalogue.names()
    assert list(SCENARIOS)[: len(names)] == names


@pytest.mark.parametrize("log", SCENARIOS, indirect=True, scope="module")
def test_outputs_say_the_same(log: Lines) -> None:
    assert disagreements(log) == []


@pytest.mark.parametrize("log", catalogue.names(), indirect=True, scope="module")
def test_what_must_hold_holds(log: Lines, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["log"]
    lines = log.lines
    assert {line.kind for line in lines} & {GenerationStored, ShareTargetAssigned}
    scenario = read_scenario(catalogue.text(name), name)
    assert scenario.lesson
    assert [
        str(verdict)
        for verdict in verdicts(scenario, lines)
        if verdict.judgement is not Judgement.KEPT
    ] == []
