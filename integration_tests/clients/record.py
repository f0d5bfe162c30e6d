"""Record what a real broker does in every story, and keep what all runs show.

    python -m integration_tests.clients.record ADDRESS [part of "variant story" ...] [--runs N]

Every second run has busy processes beside it, so that the ways in which one story may go come to
light. A story that is stuck in a run, or whose normal form differs from run to run, is refused: it
is not determined, and its old record stays.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from integration_tests.clients.agents_running import Agents
from integration_tests.clients.compare import STUCK, Undetermined, stable
from integration_tests.clients.golden import Golden, load, save
from integration_tests.clients.perform import Part, Performance, parts, played_on, shown
from integration_tests.clients.stage import PROFILE, Transcript

RUNS = 6


def record_all(addresses: Callable[[str], str]) -> int:
    """Record all stories on the broker whose address by profile is given. 1 if one was refused,
    else 0."""
    return record(addresses(PROFILE), parts())


def record(address: str, chosen: list[Part], runs: int = RUNS) -> int:
    """Record these. 1 if one was refused, else 0."""
    transcripts: dict[Part, list[Transcript]] = {part: [] for part in chosen}
    with Agents() as agents:
        for number in range(runs):
            with busy(os.cpu_count() or 1 if number % 2 else 0):
                performance = Performance(played_on(address, agents), chosen)
                for part, future in performance.played.items():
                    transcripts[part].append(future.result())
                performance.close()
            print(f"run {number + 1} of {runs}: {performance.took_s:.0f} s", flush=True)
    known = set(parts())
    golden = {part: kept for part, kept in load().items() if part in known}
    refused = 0
    for part, played in transcripts.items():
        try:
            golden[part] = stable(played)
        except Undetermined as reason:
            refused += 1
            print(
                f"refused: {' '.join(part)}: {reason}",
                *(shown(one) for one in played if STUCK in one),
                sep="\n",
            )
    save(golden)
    print(summary(golden), f"refused: {refused}", sep="\n")
    return 1 if refused else 0


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that compute without end, for as long as this lasts."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def summary(golden: Golden) -> str:
    """How much of the matrix always goes the same way on a real broker, in a line."""
    members = [(part, expected) for part, story in golden.items() for expected in story.values()]
    apart = {part for part, expected in members if expected.view != "steps"}
    ways = {part for part, expected in members if len(expected.ways) > 1}
    return (
        f"clients: {len(golden)} stories recorded, {len(ways)} with more than one way to the same end, {len(apart)} with callbacks and "
        f"results in either order"
    )


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.clients.record", description=__doc__
    )
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_intermixed_args(arguments)
    return record(options.address, parts(options.parts), options.runs)


if __name__ == "__main__":
    sys.exit(main())
