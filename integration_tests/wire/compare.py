"""Play the same scenarios against two addresses and print where their transcripts part.

    python -m integration_tests.wire.compare A B [--profile NAME] [part of a name ...]

Both are sent the same bytes, but for the ids each minted itself. Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator

from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import Scenario, Step, await_coordinator, new_nonce
from integration_tests.wire.registry import PROFILES, all_scenarios
from integration_tests.wire.together import AT_ONCE, Part, play_together


def chosen(scenarios: Iterable[Scenario], profile: str, parts: list[str]) -> Iterator[Scenario]:
    """The scenarios of a profile whose names contain one of the parts; all of them when none is
    given."""
    return (
        s
        for s in scenarios
        if s.profile == profile and (not parts or any(part in s.name for part in parts))
    )


def line(step: Step | None) -> str:
    """A step in one line."""
    return "(nothing)" if step is None else json.dumps(step, ensure_ascii=False)


Difference = tuple[Step | None, Step | None, Step | None]
"""The last request before the first step that differs, and the two steps."""


def told(found: Difference, one: str, other: str) -> str:
    """A difference in three lines; `one` and `other` are whose steps they are."""
    asked, left, right = (line(step) for step in found)
    return f"after {asked}\n{one} {left}\n{other} {right}"


def difference(one: list[Step], other: list[Step]) -> Difference | None:
    """Where two transcripts part; None when all steps are the same."""
    asked: Step | None = None
    for i in range(max(len(one), len(other))):
        left, right = (steps[i] if i < len(steps) else None for steps in (one, other))
        if left != right:
            return asked, left, right
        if left is not None and ("sent" in left or "sent_bytes" in left):
            asked = left
    return None


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.wire.compare", description=__doc__
    )
    parser.add_argument("address", nargs=2, metavar="HOST:PORT")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="plain")
    parser.add_argument(
        "--at-once", type=int, default=AT_ONCE, help="how many scenarios are under way at once"
    )
    parser.add_argument("names", nargs="*", help="parts of scenario names")
    options = parser.parse_intermixed_args(arguments)
    codec = TableCodec()
    for address in options.address:
        await_coordinator(address, codec)
    parted = 0
    scenarios = list(chosen(all_scenarios().values(), options.profile, options.names))
    marks = {scenario: new_nonce() for scenario in scenarios}
    parts = [
        [Part(scenario, address, mark) for scenario, mark in marks.items()]
        for address in options.address
    ]
    playing = [play_together(side, options.at_once) for side in parts]
    for one, other in zip(*parts, strict=True):
        found = difference(playing[0][one].result(), playing[1][other].result())
        if found is not None:
            parted += 1
            print(one.scenario.name, told(found, "A", "B"), sep="\n")
    print(f"{len(scenarios)} scenarios, {parted} differ")
    return 1 if parted else 0


if __name__ == "__main__":
    sys.exit(main())
