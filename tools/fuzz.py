"""The long half of the tests, part by part: `python -m tools.fuzz [--list] [--jobs N] [PART ...]`.

`make fuzz` makes both environments and calls it. Two parts run at a time, since many use one
processor alone. Those that take longest begin first, so that the last leaves no processor idle for
long. What a part prints stands in `build/fuzz/PART.txt`, and comes whole when it has ended. A part
that fails does not keep the others from running; the table at the end, which is in `build/fuzz.txt`
as well, has each part's outcome, its time, and the processor time of its processes, Java brokers
among them (tools/reaper.py). Containers' own time is not in it. Status 1: a part failed; 2: there
is no such part.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

_OLDER_KAFKAS: Final = ("4.3.1", "4.2.2", "4.1.2", "4.0.2", "3.9.2")
_TABLE: Final = Path("build", "fuzz.txt")
_PRINTED: Final = Path("build", "fuzz")
_JOBS: Final = 2
_REAPER: Final = str(Path(__file__).with_name("reaper.py"))
_SPARK: Final = str(Path(".venv-spark", "bin", "python"))


class Part(NamedTuple):
    """One part: what runs, and in which environment. `settings`: variables of its environment;
    `cpu_s`: about how much processor time it takes; those that take most begin first."""

    name: str
    command: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    cpu_s: int = 0

    def __str__(self) -> str:
        return " ".join([*(f"{key}={value}" for key, value in self.settings), *self.command])


class Outcome(NamedTuple):
    """What came of a part. `status`: of its process; `cpu_s`: of its processes together."""

    part: Part
    status: int
    wall_s: float
    cpu_s: float

    def __str__(self) -> str:
        end = "passed" if self.status == 0 else f"failed ({self.status})"
        return f"{self.part.name:<20} {end:<12} {self.wall_s:>8,.0f} s {self.cpu_s:>8,.0f} s CPU"


def _module(
    cpu_s: int,
    name: str,
    module: str,
    *arguments: str,
    python: str = sys.executable,
    **settings: str,
) -> Part:
    return Part(name, (python, "-m", module, *arguments), tuple(settings.items()), cpu_s)


PARTS: Final = (
    _module(995, "unit", "pytest", "-m", "thorough", "-n", "2", "--dist", "worksteal"),
    _module(1196, "integration", "pytest", "-m", "thorough", "-n", "2", "integration_tests"),
    _module(
        1800, "swarm", "coordinator", "swarm", "--seeds", "10000", "--for", "1800", "--jobs", "1",
        "--coverage", "--keep", "build",
    ),
    _module(95, "examples", "pytest", "-m", "hypothesis", "-n", "2", "tests", RANDOM_EXAMPLES="1"),
    _module(1019, "assignors", "tests.assignors.fuzz"),
    _module(1000, "lives", "integration_tests.cluster.lives", "--count", "60"),
    _module(
        430, "ready-cases", "pytest", "-m", "thorough", "-n", "2", "tests/testing/test_cases.py",
        "-k", "TestAllOfThem", ROUNDS="20",
    ),
    _module(
        680, "server-uniform", "tests.assignors.server_fuzz", "--assignor", "uniform",
        "--count", "40000",
    ),
    _module(
        210, "server-range", "tests.assignors.server_fuzz", "--assignor", "range",
        "--count", "40000",
    ),
    _module(816, "planted", "tests.lab.simulator.planted", "500"),
    _module(
        450, "producer-lives", "integration_tests.cluster.producer_lives", "--count", "50"
    ),
    _module(362, "frames", "tests.fuzz"),
    *(
        _module(304, f"kafka-{release}", "integration_tests.release", release)
        for release in _OLDER_KAFKAS
    ),
    _module(100, "spark", "pytest", "-m", "thorough", "pipeline_tests", python=_SPARK),
    _module(
        62, "upgrade", "pytest", "integration_tests/test_upgrade.py", SEVERAL_BROKERS="kafka"
    ),
    _module(9, "decisions", "tests.server.security.decisions", "--count", "5000"),
)  # fmt: skip


def run(part: Part) -> Outcome:
    """Run a part to its end; its output goes into its file."""
    began = time.monotonic()
    with (_PRINTED / f"{part.name}.txt").open("wb") as printed:
        process = subprocess.Popen(
            (sys.executable, _REAPER, *part.command),
            env={**os.environ, **dict(part.settings)},
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took_s = time.monotonic() - began
    return Outcome(part, process.returncode, took_s, used.ru_utime + used.ru_stime)


class _Outcomes:
    """What has come of the parts until now. The threads of the parts share it."""

    def __init__(self) -> None:
        self.all: list[Outcome] = []
        self._lock = Lock()

    def run(self, part: Part) -> None:
        """Run a part, and tell of it."""
        with self._lock:
            print(f"== {part.name} begins: {part}", flush=True)
        outcome = run(part)
        printed = (_PRINTED / f"{part.name}.txt").read_text(encoding="utf-8", errors="replace")
        with self._lock:
            print(f"\n== {part.name}:\n{printed}\n{outcome}\n", flush=True)
            self.all.append(outcome)
            _TABLE.write_text("".join(f"{each}\n" for each in self.all), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run all parts, or those named."""
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz", description="The long half of the tests, part by part."
    )
    parser.add_argument("--list", action="store_true", help="name the parts and run none")
    parser.add_argument(
        "--jobs",
        type=int,
        default=_JOBS,
        metavar="N",
        help="parts at a time (default: %(default)s)",
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="default: all")
    options = parser.parse_args(arguments)
    unknown = sorted({*options.parts} - {*names})
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(names)}")
    if options.jobs < 1:
        parser.error(f"--jobs: 1 or more, not {options.jobs}")
    chosen = [
        part
        for part in sorted(PARTS, key=lambda part: -part.cpu_s)
        if not options.parts or part.name in options.parts
    ]
    if options.list:
        print(*(f"{part.name:<20} {part}" for part in chosen), sep="\n")
        return 0
    _PRINTED.mkdir(parents=True, exist_ok=True)
    outcomes = _Outcomes()
    began = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as lanes:
        for running in [lanes.submit(outcomes.run, part) for part in chosen]:
            running.result()
    wall_s, cpu_s = time.monotonic() - began, sum(each.cpu_s for each in outcomes.all)
    print(*outcomes.all, f"{'all of these':<33} {wall_s:>8,.0f} s {cpu_s:>8,.0f} s CPU", sep="\n")
    return 1 if any(each.status for each in outcomes.all) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
