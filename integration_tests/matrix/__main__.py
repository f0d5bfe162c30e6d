"""`make matrix`: every library in every version and protocol, and the page that says what they do.

Names of libraries play those alone; the rows of the others stay as they are.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coordinator import Emulator
from integration_tests.matrix import table
from integration_tests.matrix.acts import CONFIG, acts_of, play
from integration_tests.matrix.libraries import LIBRARIES, Library, Row, make
from integration_tests.matrix.playing import ROOT, Call


def row(library: Library, version: str, protocol: str, call: Call, threads: int = 4) -> Row:
    """Play everything that a library has in groups of this protocol, on an emulator of its own."""
    acts = acts_of(protocol, library.lacks)
    with Emulator(config=CONFIG, remember=100_000) as kafka, ThreadPoolExecutor(threads) as pool:
        found = pool.map(lambda act: play(kafka, act, act.__name__, protocol, call), acts)
        shown = {name: why for each in found for name, why in each.items()}
    return Row(library.name, library.language, version, protocol, shown)


def rows(libraries: Iterable[Library], folder: Path) -> Iterator[Row]:
    """All rows of these libraries, each told as it is found."""
    for library in libraries:
        for protocol in library.oldest:
            for version in library.versions(protocol):
                found = row(library, version, protocol, make(library, version, protocol, folder))
                faults = [
                    f"{name}: {why}"
                    for name, why in found.found.items()
                    if why and name not in library.limits_of(protocol, version)
                ]
                told = "; ".join(faults) or "as expected"
                print(f"{library.name} {version}, {protocol}: {told}", flush=True)
                yield found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m integration_tests.matrix", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="LIBRARY", help=", ".join(LIBRARIES))
    names = parser.parse_args().names
    if unknown := sorted(set(names) - set(LIBRARIES)):
        parser.error(f"there is no {unknown[0]}; there are {', '.join(LIBRARIES)}")
    chosen = [library for library in LIBRARIES.values() if not names or library.name in names]
    missing = {tool for each in chosen for tool in each.tools if shutil.which(tool) is None}
    if missing:
        parser.error(f"no {', '.join(sorted(missing))} here")
    found = list(rows(chosen, ROOT / "build" / "matrix"))
    kept = [each for each in table.load() if each.library not in names] if names else []
    order = list(LIBRARIES)
    table.write(sorted([*kept, *found], key=lambda each: order.index(each.library)))
    unexplained = [
        (each.library, each.version, behaviour)
        for each in found
        for behaviour in each.found
        if table.cell(each, behaviour).note.startswith("UNEXPLAINED")
    ]
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
