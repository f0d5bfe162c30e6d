"""Record what a real broker does in every story, three times, and keep what was stable.

    python -m integration_tests.clients.record ADDRESS [part of "variant story" ...]

A story that was stuck in one run is played again; one that is stuck again is refused, and its old record stays.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from integration_tests.clients.agents_running import Agents
from integration_tests.clients.compare import UNSTABLE, stable
from integration_tests.clients.golden import Golden, load, save
from integration_tests.clients.perform import Part, Performance, parts, played_on
from integration_tests.clients.stage import PROFILE, Transcript

RUNS = 3
_TRIES = 3


def record_all(addresses: Callable[[str], str]) -> int:
    """Record all stories on the broker whose address by profile is given. 1 if one was refused, else 0."""
    return record(addresses(PROFILE), parts())


def record(address: str, chosen: list[Part]) -> int:
    """Record these. 1 if one was refused, else 0."""
    runs: dict[Part, list[Transcript]] = {part: [] for part in chosen}
    with Agents() as agents:
        for run in range(RUNS):
            missing = chosen
            for _ in range(_TRIES):
                missing = _run(address, agents, missing, runs)
                if not missing:
                    break
            print(f"run {run + 1} of {RUNS}: {len(chosen) - len(missing)} stories", *(f"stuck: {part}" for part in missing), sep="\n  ")
    known = set(parts())
    golden = {part: kept for part, kept in load().items() if part in known}
    refused = 0
    for part, transcripts in runs.items():
        if len(transcripts) == RUNS:
            golden[part] = stable(transcripts)
        else:
            refused += 1
    save(golden)
    print(summary(golden), f"refused: {refused}", sep="\n")
    return 1 if refused else 0


def _run(address: str, agents: Agents, chosen: list[Part], runs: dict[Part, list[Transcript]]) -> list[Part]:
    """Play these once; those that were stuck."""
    performance = Performance(played_on(address, agents), chosen)
    stuck = []
    for part, future in performance.played.items():
        transcript = future.result()
        if "stuck" in transcript:
            stuck.append(part)
        else:
            runs[part].append(transcript)
    performance.close()
    return stuck


def summary(golden: Golden) -> str:
    """How much of the matrix is stable on the real broker, in a line."""
    members = [(part, expected) for part, seen in golden.items() for expected in seen.values()]
    unstable = {part for part, expected in members if not expected.calls_stable}
    loose = {part for part, expected in members if expected.view != "steps"} - unstable
    no_records = {part for part, expected in members if expected.records is None}
    none = {part for part, expected in members if expected.view == UNSTABLE}
    return (
        f"clients: {len({part for part, _ in members})} stories, {len(unstable)} with unstable callbacks ({len(none)} with unstable "
        f"results), {len(loose)} with callbacks and results in unstable order, {len(no_records)} with unstable records"
    )


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m integration_tests.clients.record", description=__doc__)
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("parts", nargs="*")
    options = parser.parse_intermixed_args(arguments)
    return record(options.address, parts(options.parts))


if __name__ == "__main__":
    sys.exit(main())
