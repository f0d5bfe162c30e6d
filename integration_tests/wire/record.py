"""Keep the transcripts of a real broker, for replay where there is none.

    python -m integration_tests.wire.record ADDRESS [--profile NAME] [part of a name ...]

One file an area under tests/vectors/wire_scenarios: a line that names the scenario and the run's mark, then a line a
step. Each scenario is played twice before it is kept: one whose transcript does not repeat is no truth, and is refused.
(Random frames have bytes of names in them, and are played once.)
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

from integration_tests.wire.codec import TableCodec
from integration_tests.wire.compare import chosen, difference, line
from integration_tests.wire.recorder import Step, await_coordinator, new_nonce, play
from integration_tests.wire.registry import PROFILES, all_scenarios

HOME = Path(__file__).resolve().parents[2] / "tests" / "vectors" / "wire_scenarios"


class Recorded(NamedTuple):
    """A transcript and the mark it was made with: names are part of what a broker hashes and sorts."""

    nonce: str
    steps: list[Step]


def load(home: Path = HOME) -> dict[str, Recorded]:
    """All recorded transcripts by scenario name."""
    found: dict[str, Recorded] = {}
    for path in sorted(home.glob("*.jsonl")):
        steps: list[Step] = []
        for text in path.read_text().splitlines():
            entry = json.loads(text)
            if "scenario" in entry:
                steps = []
                found[entry["scenario"]] = Recorded(entry["nonce"], steps)
            else:
                steps.append(entry)
    return found


def save(recorded: dict[str, Recorded], home: Path = HOME) -> None:
    """Write them back, one file an area."""
    home.mkdir(parents=True, exist_ok=True)
    areas: dict[str, list[str]] = {}
    for name in sorted(recorded):
        lines = areas.setdefault(name.partition(".")[0], [])
        lines.append(json.dumps({"scenario": name, "nonce": recorded[name].nonce}))
        lines.extend(line(step) for step in recorded[name].steps)
    for area, lines in areas.items():
        (home / f"{area}.jsonl").write_text("\n".join(lines) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m integration_tests.wire.record", description=__doc__)
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="plain")
    parser.add_argument("names", nargs="*", help="parts of scenario names")
    options = parser.parse_intermixed_args(arguments)
    codec = TableCodec()
    await_coordinator(options.address, codec)
    scenarios = all_scenarios()
    recorded = {name: kept for name, kept in load().items() if name in scenarios}
    refused = 0
    for scenario in chosen(scenarios.values(), options.profile, options.names):
        nonce = new_nonce()
        steps = play(scenario, options.address, codec, nonce)
        found = difference(steps, play(scenario, options.address, codec, new_nonce())) if scenario.repeats else None
        if found is None:
            recorded[scenario.name] = Recorded(nonce, steps)
        else:
            refused += 1
            print("does not repeat:", scenario.name, *(line(step) for step in found), sep="\n  ")
    save(recorded)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
