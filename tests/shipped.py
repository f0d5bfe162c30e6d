"""The shipped scenarios, as they are and switched to the consumer protocol (KIP-848), and their logs.

A scenario is switched by its members' `protocol`: their assignor becomes the coordinator's of the
same kind, settings that the coordinator decides in that protocol are left out, and so is what the
scenario must keep. `NOT_SWITCHED` says which cannot be switched, and why.
"""

from __future__ import annotations

from typing import Final

from coordinator.cli.simulating.simulate import composed
from coordinator.events import EventLog, Line
from coordinator.events.reader import read_lines
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.files.toml_text import to_toml
from coordinator.lab.simulator.run import run_scenario

NOT_SWITCHED: Final = {
    "assignor_switch": "members change their own assignor; in the consumer protocol the coordinator has it",
    "migration_to_consumer": "members switch in the scenario itself",
    "mixed_versions": "clients of Kafka 1.0 and 2.2 do not know the consumer protocol",
    **dict.fromkeys(
        ("share_lock_expiry", "share_poison_record", "share_workers_crash"),
        "members of share groups have a protocol of their own",
    ),
}
_ASSIGNORS: Final = {"range": "range"}
_COORDINATOR_DECIDES: Final = ("session.timeout.ms", "heartbeat.interval.ms")

SCENARIOS: Final = {
    **{name: (name, False) for name in catalogue.names()},
    **{f"{name}-consumer": (name, True) for name in catalogue.names() if name not in NOT_SWITCHED},
}
"""By the name of the run: the scenario's name, and whether it is switched."""


def scenario_text(run: str) -> str:
    """The scenario file of one of SCENARIOS."""
    name, switched = SCENARIOS[run]
    if not switched:
        return to_toml(composed(name, []))
    raw = composed(name, [])
    raw.pop("must", None)
    for kind in raw["members"]:
        kind["protocol"] = "consumer"
        kind["assignor"] = _ASSIGNORS.get(kind.get("assignor", "range"), "uniform")
        for key in _COORDINATOR_DECIDES:
            kind.get("config", {}).pop(key, None)
    return to_toml(raw)


def log_text(run: str, seed: int = 1) -> str:
    """The log of one of SCENARIOS, simulated."""
    return simulated(scenario_text(run), run, seed)


def simulated(text: str, name: str, seed: int) -> str:
    """The log of a scenario that is given as text."""
    log = EventLog(seed=seed, epoch_ms=EPOCH_MS)
    run_scenario(read_scenario(text, name), seed, log)
    return "".join(f"{line}\n" for line in log.lines)


def lines_of(text: str) -> list[Line]:
    """A log's lines."""
    return [*read_lines(text.splitlines(keepends=True), "log")]
