"""What a simulation costs: CPU time of one run in one process, log on, every byte that is sent
encoded and decoded.

The large runs are deployments of 1,000 members on 1,200 partitions without records, whose log goes
to a file, so that their memory does not grow with time. Each is run for a dozen churn events and
told for a whole day: what one costs does not depend on the time of day.

`python -m benchmarks.simulations --count` counts the calls of functions, Python's and C's, in
smaller runs of the same kinds: other work on the machine does not change them.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.process import Row
from coordinator.events import EventLog
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.model import Scenario
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario

_TOPICS = 12
_EVENTS = 12
_DAY_MIN = 24 * 60


def _cpu_s(scenario: Scenario, log: EventLog, *, skips: bool = True) -> float:
    """CPU seconds of one run."""
    began = time.process_time()
    run_scenario(scenario, 1, log, skips=skips)
    return time.process_time() - began


def _to_file_s(scenario: Scenario) -> float:
    """CPU seconds of one run whose log goes to a file."""
    with tempfile.TemporaryDirectory() as directory:
        log = EventLog.open(Path(directory) / "run.jsonl", seed=1)
        try:
            return _cpu_s(scenario, log)
        finally:
            log.close()


def _group(members: int, minutes: int, assignor: str, start: str, churn: str = "") -> Scenario:
    """A group on 12 topics of 100 partitions each; nobody writes records or commits."""
    names = [f"topic-{number}" for number in range(_TOPICS)]
    lines = [
        f'duration = "{minutes}m"',
        "[topics]",
        *(f"{name} = 100" for name in names),
        "[[members]]",
        'name = "app"',
        f"count = {members}",
        f"topics = {names}".replace("'", '"'),
        f'assignor = "{assignor}"',
        "reads = 0",
        f'start = "{start}"',
        churn,
    ]
    return read_scenario("\n".join(lines), f"{members} members")


def _comes_and_goes(every_min: int, events: int) -> str:
    """One member leaves or comes back every so many minutes, so many times."""
    return "\n".join(
        [
            "[[churn]]",
            'kind = "restart"',
            'members = "app-7"',
            f'at = "{every_min}m"',
            f'down = "{every_min}m"',
            f'every = "{2 * every_min}m"',
            f"times = {events // 2}",
        ]
    )


def _day_s(every_min: int) -> tuple[float, float]:
    """CPU seconds of a day of 1,000 members of whom one leaves or comes back every so many minutes,
    and of its beginning alone."""
    beginning = _to_file_s(_group(1000, every_min, "range", "10s"))
    whole = _to_file_s(
        _group(1000, (_EVENTS + 1) * every_min, "range", "10s", _comes_and_goes(every_min, _EVENTS))
    )
    return beginning + (whole - beginning) * _DAY_MIN / (_EVENTS * every_min), beginning


def _consuming(batch: str) -> Scenario:
    """Four members that consume 40 records a second for eight minutes."""
    return read_scenario(
        f"""
        duration = "8m"
        [topics]
        orders = 12
        [[members]]
        name = "app"
        count = 4
        topics = ["orders"]
        consumes = true
        [[producers]]
        name = "shop"
        topics = ["orders"]
        rate = 40
        {batch}
        """,
        "four consumers",
    )


def run() -> Iterator[Row]:
    """The rows."""
    small = read_scenario(catalogue.text("one_crash_one_join"), "one_crash_one_join")
    _cpu_s(small, EventLog(seed=1))
    best = min(_cpu_s(small, EventLog(seed=1)) for _ in range(7))
    yield Row("3 members, 10 minutes, one crash, one join: CPU", best * 1000, "ms", "target 50")
    played = min(_cpu_s(small, EventLog(seed=1), skips=False) for _ in range(3))
    yield Row("the same, every heartbeat sent: CPU", played * 1000, "ms")
    silent = read_scenario(
        catalogue.text("one_crash_one_join"), "one_crash_one_join", ("members.app.reads=0",)
    )
    best = min(_cpu_s(silent, EventLog(seed=1)) for _ in range(7))
    yield Row("the same, nothing read and committed: CPU", best * 1000, "ms")
    for batch, named in (("", ""), ("batch = 1", ", each in a batch of its own")):
        best = min(_to_file_s(_consuming(batch)) for _ in range(3))
        yield Row(
            f"4 members consume 40 records a second{named}, 8 minutes: CPU",
            best,
            "s",
            "" if batch else "target 2.1",
        )
    day, beginning = _day_s(10)
    yield Row("1,000 members, 1,200 partitions, start: CPU", beginning, "s")
    yield Row(
        f"the same, 24 h, an event every 10 minutes, by {_EVENTS} of them: CPU",
        day,
        "s",
        "target 60",
    )
    day, _ = _day_s(1)
    yield Row(f"the same, 24 h, an event a minute, by {_EVENTS} of them: CPU", day, "s")
    stable = _to_file_s(_group(10_000, 1, "cooperative-sticky", "0s"))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield Row(
        "10,000 members join at once, cooperative-sticky, first minute: CPU",
        stable,
        "s",
        "target 20",
    )
    yield Row("memory of all that at most", memory, "MiB")


def _calls(scenario: Scenario) -> int:
    """How many functions one run calls."""
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as directory:
        log = EventLog.open(Path(directory) / "run.jsonl", seed=1)
        profile.enable()
        run_scenario(scenario, 1, log)
        profile.disable()
        log.close()
    calls: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return calls


def count() -> Iterator[Row]:
    """Calls of functions in smaller runs."""
    _calls(_group(3, 1, "range", "0s"))  # modules are loaded and tables compiled before
    yield Row("4 members consume 40 records a second, 8 minutes", _calls(_consuming("")), "calls")
    joining = _group(500, 1, "cooperative-sticky", "0s")
    yield Row("500 members join at once, first minute", _calls(joining), "calls")
    day = _group(200, 130, "range", "10s", _comes_and_goes(30, 4))
    yield Row("200 members, 130 minutes, an event every 30", _calls(day), "calls")


def main(arguments: list[str]) -> int:
    """Measure, or count."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.simulations", description="What a simulation costs."
    )
    parser.add_argument(
        "--count", action="store_true", help="count calls of functions instead of taking time"
    )
    for row in (count if parser.parse_args(arguments).count else run)():
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
