"""Keep the transcripts of a real broker, for replay where there is none.

    python -m integration_tests.wire.record ADDRESS [--profile NAME] [part of a name ...]

One file an area under integration_tests/golden/wire: a line that names the scenario and the run's
mark, then a line a step. Each scenario is played twice before it is kept: one whose transcript does
not repeat is no truth, and is refused. (Random frames have bytes of names in them, and are played
once.) `python -m integration_tests.record wire` starts the brokers too, and records every profile.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from coordinator.base.releases import NEWEST
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.compare import chosen, difference, line, told
from integration_tests.wire.recorder import Scenario, Step, await_coordinator, complete, new_nonce
from integration_tests.wire.registry import PROFILES, all_scenarios, scenarios_of
from integration_tests.wire.together import Part, play_together

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
HOME = GOLDEN / "wire"


class Recorded(NamedTuple):
    """A transcript and the mark it was made with: names are part of what a broker hashes and
    sorts."""

    nonce: str
    steps: list[Step]


def load(home: Path = HOME) -> dict[str, Recorded]:
    """All recorded transcripts by scenario name; those of older releases are compressed."""
    found: dict[str, Recorded] = {}
    for path in sorted((*home.glob("*.jsonl"), *home.glob("*.jsonl.gz"))):
        found.update(_read(path, path.stat().st_mtime_ns))
    return found


@cache
def _read(path: Path, _changed_ns: int) -> dict[str, Recorded]:
    """The transcripts of one file, which is read again when it has changed."""
    found: dict[str, Recorded] = {}
    packed = path.suffix == ".gz"
    whole = gzip.decompress(path.read_bytes()).decode() if packed else path.read_text()
    steps: list[Step] = []
    for text in filter(None, whole.split("\n")):  # texts hold other line ends
        entry = json.loads(text)
        if "scenario" in entry:
            steps = []
            found[entry["scenario"]] = Recorded(entry["nonce"], steps)
        else:
            steps.append(entry)
    return found


def load_release(release: str) -> dict[str, Recorded]:
    """The transcripts of a release: its own where it differs from the newest, else the newest's."""
    own = {} if release == NEWEST.name else load(home_of(release))
    newest = load()
    playable = scenarios_of(release)
    return {name: own.get(name, kept) for name, kept in newest.items() if name in playable}


def home_of(release: str) -> Path:
    """Where transcripts of an older release are kept, as far as they differ."""
    return GOLDEN / "releases" / release / "wire"


def save(recorded: dict[str, Recorded], home: Path = HOME, *, packed: bool = False) -> None:
    """Write them back, one file an area, compressed if asked for."""
    home.mkdir(parents=True, exist_ok=True)
    areas: dict[str, list[str]] = {}
    for name in sorted(recorded):
        lines = areas.setdefault(name.partition(".")[0], [])
        lines.append(json.dumps({"scenario": name, "nonce": recorded[name].nonce}))
        lines.extend(line(step) for step in recorded[name].steps)
    for area, lines in areas.items():
        whole = "\n".join(lines) + "\n"
        if packed:
            (home / f"{area}.jsonl.gz").write_bytes(gzip.compress(whole.encode(), mtime=0))
        else:
            (home / f"{area}.jsonl").write_text(whole)


def record(scenarios: list[Scenario], addresses: Callable[[str], str], home: Path = HOME) -> int:
    """Play these at the addresses of their profiles, twice where they repeat, and keep what they
    left; 1 if any was refused."""
    for profile in {scenario.profile for scenario in scenarios}:
        await_coordinator(addresses(profile), TableCodec())
    first = {
        scenario.name: Part(scenario, addresses(scenario.profile), new_nonce())
        for scenario in scenarios
    }
    again = {
        name: part._replace(nonce=new_nonce())
        for name, part in first.items()
        if part.scenario.repeats
    }
    playing = play_together([*first.values(), *again.values()])
    recorded = {name: kept for name, kept in load(home).items() if name in all_scenarios()}
    refused = 0
    for name, part in first.items():
        steps = playing[part].result()
        found = difference(steps, playing[again[name]].result()) if name in again else None
        if found is None and complete(steps):
            recorded[name] = Recorded(part.nonce, steps)
        else:
            refused += 1
            print(
                f"{name} does not repeat:\n{told(found, 'once', 'again')}"
                if found
                else f"{name} did not end: {line(steps[-1])}"
            )
    save(recorded, home)
    return 1 if refused else 0


def record_all(addresses: Callable[[str], str]) -> int:
    """Record every scenario anew; `addresses` gives the address of a real broker of each profile. 1
    if any was refused."""
    return record(list(all_scenarios().values()), addresses)


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.wire.record", description=__doc__
    )
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="plain")
    parser.add_argument("names", nargs="*", help="parts of scenario names")
    options = parser.parse_intermixed_args(arguments)
    return record(
        list(chosen(all_scenarios().values(), options.profile, options.names)),
        lambda _: str(options.address),
    )


if __name__ == "__main__":
    sys.exit(main())
