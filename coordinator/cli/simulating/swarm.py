"""The command `coordinator swarm`: its options, worker processes, output and exit status. One seed's
scenario and verdicts are in `coordinator/lab/simulator/swarm/`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .. import Subparsers, UsageError
from ..interrupts import INTERRUPTED, interruptible, unheard
from .simulate import replay, seed

DESCRIPTION: Final = """Run random scenarios on all cores, judge each, and
keep those that fail.

Each seed is a scenario of its own. One that fails is written as a scenario file into the directory
--keep, and the command that replays it is printed. Of every hundred seeds one runs twice, the
second time in a new process with another hash seed: both logs have to be the same. --coverage
prints what was reached: events, refusals, faults and conditions that have to come about sometimes.
Status 1 if any seed failed, or if after 10,000 seeds and more something was never reached. Ctrl-C
prints what is known so far; then the status is 130, or 1 if a seed has failed."""

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from coordinator.lab.simulator.swarm.one_seed import SeedResult

_EVERY = 100
"""One seed in this many runs twice."""
_MANY = 10_000
"""From so many seeds on everything has to have been reached."""
_AGAIN = """
import sys
from coordinator.lab.simulator.swarm.one_seed import digest
print(digest(int(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3:])))
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `swarm`."""
    parser = subparsers.add_parser(
        "swarm",
        help="run random scenarios and judge them",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--seeds",
        type=_count,
        default=100,
        metavar="N",
        help="number of seeds (default: 100)",
    )
    parser.add_argument(
        "--first", type=seed, default=1, metavar="N", help="the first seed (default: 1)"
    )
    parser.add_argument(
        "--for",
        type=_count,
        default=60,
        metavar="SECONDS",
        dest="bound_s",
        help="seconds after which no new seed starts (default: 60)",
    )
    parser.add_argument(
        "--minutes",
        type=_count,
        default=5,
        metavar="N",
        help="minutes of churn and faults per seed (default: 5)",
    )
    cores = os.cpu_count() or 1
    parser.add_argument(
        "--jobs",
        type=_count,
        default=cores,
        metavar="N",
        help="number of processes (default: one per core)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        dest="settings",
        help="as in `simulate`, for every seed",
    )
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="print how often each event, refusal and situation was reached",
    )
    parser.add_argument(
        "--keep",
        default=".",
        metavar="DIR",
        help="directory for failing scenarios (default: the current directory)",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise ArgumentTypeError(f"{text!r}: give a whole number from 1 to 1000000")
    return int(text)


def run(args: Namespace) -> int:
    """Run the swarm; return 0, 1 if a scenario failed, or 2 for a wrong option."""
    keep = Path(args.keep)
    if not keep.is_dir():
        raise UsageError(f"--keep {args.keep}: there is no such directory")
    began = time.monotonic()
    ran = failed = virtual_ms = 0
    interrupted = False
    reached: Counter[str] = Counter()
    try:
        with interruptible(), closing(_results(args, began)) as results:
            for result in results:
                ran += 1
                virtual_ms += result.virtual_ms
                reached.update(result.reached)
                why = [
                    *result.broken,
                    *([result.failure] if result.failure else []),
                    *_again(result, args),
                ]
                if why:
                    failed += 1
                    print(
                        f"seed {result.seed}: {', '.join(why)}: {_keep(result, args, keep)}",
                        flush=True,
                    )
                if sys.stderr.isatty():
                    print(
                        f"\r{ran} of {args.seeds} seeds, {failed} failed",
                        end="",
                        file=sys.stderr,
                        flush=True,
                    )
    except KeyboardInterrupt:
        interrupted = True
        print("interrupted: what is known so far")
    took = time.monotonic() - began
    rate = virtual_ms / 1000 / took
    speed = f"{virtual_ms / 60_000:.0f} virtual minutes in {took:.1f} s, {rate:.0f} virtual seconds a second"
    print(f"{ran} seeds from {args.first} on, {failed} failed; {speed}")
    missing = _tell_coverage(reached, args.coverage or ran >= _MANY)
    if failed or (missing and ran >= _MANY):
        return 1
    return INTERRUPTED if interrupted else 0


def _results(args: Namespace, began: float) -> Generator[SeedResult]:
    """Yield the results in the order of the seeds; no seed is begun when the time is up. Raises
    UsageError."""
    from coordinator.lab.simulator.files.reading import ScenarioError
    from coordinator.lab.simulator.swarm.one_seed import run_seed

    numbers = iter(range(args.first, args.first + args.seeds))
    settings = tuple(args.settings)
    try:
        if args.jobs == 1:
            for number in numbers:
                if time.monotonic() - began > args.bound_s:
                    return
                yield run_seed(number, args.minutes, settings)
            return
        from concurrent.futures import Future
        from itertools import islice

        with _processes(args.jobs) as pool:

            def begin(count: int) -> list[Future[SeedResult]]:
                with unheard():
                    return [
                        pool.submit(run_seed, each, args.minutes, settings)
                        for each in islice(numbers, count)
                    ]

            waiting = begin(2 * args.jobs)
            while waiting:
                yield waiting.pop(0).result()
                if time.monotonic() - began <= args.bound_s:
                    waiting += begin(1)
    except ScenarioError as error:
        raise UsageError(str(error)) from None


@contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Run a pool of processes; an early end terminates them at once, with the seeds that they
    are running."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    others = set(active_children())
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - others:
                process.terminate()
            raise


def _again(result: SeedResult, args: Namespace) -> list[str]:
    """Run one seed in a hundred once more, in another process with another hash seed; return the
    differences in words."""
    if result.seed % _EVERY or result.failure:
        return []
    command = [sys.executable, "-c", _AGAIN, str(result.seed), str(args.minutes), *args.settings]
    environment = {**os.environ, "PYTHONHASHSEED": str(result.seed % 1000 + 1)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return [] if done.stdout.strip() == result.digest else ["another process wrote another log"]


def _keep(result: SeedResult, args: Namespace, keep: Path) -> str:
    """Write the scenario; return the command that replays it."""
    from coordinator.lab.simulator.swarm.random_scenarios import scenario_text

    path = keep / f"swarm-{result.seed}.toml"
    path.write_text(scenario_text(result.seed, args.minutes), encoding="utf-8")
    return replay(str(path), result.seed, args.settings)


def _tell_coverage(reached: Counter[str], told: bool) -> list[str]:
    """Print what was reached; return what was never reached."""
    from coordinator.lab.simulator.swarm.coverage import expected

    missing = [each for each in expected() if not reached[each]]
    if told:
        for each, count in sorted(reached.items()):
            print(f"{count:8} {each}")
        for each in missing:
            print(f"   never {each}")
    return missing
