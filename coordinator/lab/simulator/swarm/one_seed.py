"""One seed of a swarm: runs its scenario, judges it, and counts what occurred. Several may run
in several processes."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2s
from typing import NamedTuple

from coordinator.base.contradictions import what_failed
from coordinator.events import EventLog
from coordinator.history.judges import Judgement

from ..files.scenario import read_scenario
from ..run import run_scenario, verdicts
from .coverage import Coverage
from .random_scenarios import scenario_text


class SeedResult(NamedTuple):
    """The outcome of a seed. `broken`: judges that found something; `failure`: an error that ended
    the run, "" without one."""

    seed: int
    broken: tuple[str, ...]
    failure: str
    virtual_ms: int
    digest: str
    reached: Counter[str]


def run_seed(seed: int, minutes: int, settings: tuple[str, ...] = ()) -> SeedResult:
    """Run one. Raises ScenarioError for settings that cannot be."""
    return run_text(scenario_text(seed, minutes), seed, settings)


def run_text(text: str, seed: int, settings: tuple[str, ...] = ()) -> SeedResult:
    """Run a scenario that is given as text. Raises ScenarioError for settings that cannot be."""
    scenario = read_scenario(text, f"swarm-{seed}.toml", settings)
    log = EventLog(seed=seed, kafka_version=scenario.release.number)
    coverage = Coverage()
    broken: tuple[str, ...] = ()
    failure = ""
    try:
        run_scenario(scenario, seed, log)
        lines = list(log.read())
        broken = tuple(
            verdict.judge
            for verdict in verdicts(scenario, lines)
            if verdict.judgement is Judgement.BROKEN
        )
        for line in lines:
            coverage.see(line)
    except Exception as error:  # a run that ends with an error is a finding as any other
        failure = what_failed(error)
    digest = blake2s("\n".join(log.lines).encode()).hexdigest()
    return SeedResult(seed, broken, failure, scenario.duration_ms, digest, coverage.reached)


def digest(seed: int, minutes: int, settings: tuple[str, ...] = ()) -> str:
    """Return the digest of a seed's event log, which is the same in every process."""
    return run_seed(seed, minutes, settings).digest
