"""docs/clients.md: the page of the matrix, made from docs/clients.json, which `make matrix` writes.

What is exact of each release of Kafka stands in docs/releases.md alone; the page points there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from integration_tests.matrix.acts import BEHAVIOURS
from integration_tests.matrix.libraries import LIBRARIES, Row
from integration_tests.matrix.playing import ROOT

DATA: Final = ROOT / "docs" / "clients.json"
PAGE: Final = ROOT / "docs" / "clients.md"
PASSES, LACKS = "yes", "–"


class Cell(NamedTuple):
    """What stands in the table for one behaviour, and the note that belongs to it."""

    text: str
    note: str = ""


def cell(row: Row, behaviour: str) -> Cell:
    """What became of a behaviour: shown, absent from the library, its own limit, or a fault of ours."""
    why = row.found.get(behaviour)
    if why is None:
        return Cell(LACKS)
    if not why:
        return Cell(PASSES)
    known = LIBRARIES[row.library].limits_of(row.protocol, row.version).get(behaviour)
    return Cell("no", known or f"UNEXPLAINED: {why}")


def write(rows: Iterable[Row]) -> None:
    """Write the data and the page."""
    found = [row._asdict() for row in rows]
    text = json.dumps({"kafka": "4.4.0", "rows": found}, indent=1, ensure_ascii=False)
    DATA.write_text(f"{text}\n", encoding="utf-8")
    PAGE.write_text(page(load()), encoding="utf-8")


def load() -> list[Row]:
    """The rows that were found."""
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return [Row(**each) for each in data["rows"]]


def page(rows: Iterable[Row]) -> str:
    """The whole page."""
    notes: list[str] = []
    lines = []
    for row in rows:
        cells = []
        for behaviour in BEHAVIOURS:
            text, note = cell(row, behaviour)
            if note:
                notes += [note] if note not in notes else []
                text += f" ({notes.index(note) + 1})"
            cells.append(text)
        first = [row.library, row.language, row.version, row.protocol]
        lines.append(f"| {' | '.join([*first, *cells])} |")
    remarks = [f"{number}. {note[0].upper()}{note[1:]}." for number, note in enumerate(notes, 1)]
    head = ["library", "language", "version", "protocol", *BEHAVIOURS]
    return "\n".join(
        [
            _BEFORE,
            f"| {' | '.join(head)} |",
            "|" + "---|" * len(head),
            *lines,
            "",
            *((_NOTES, *remarks, "") if remarks else ()),
            _AFTER,
        ]
    )


_BEFORE: Final = """\
<!-- Made by `make matrix`: do not edit. -->
# Client libraries

Unmodified client libraries, each in an environment of its own, as members of groups on the emulator. Of each library the newest version that
this project locks is played, and the oldest that works with a Kafka of today, Python 3.11 and Java 17.
"""
_NOTES: Final = "`no`: what the library sends does not do it, on a real Kafka 4.4.0 neither:\n"
_AFTER: Final = """\
`–`: the library, or the protocol, does not have it.

| behaviour | what is shown |
|---|---|
| join | a member alone has all four partitions, in a group of the protocol |
| second member | both have partitions and read them; no partition has two owners |
| leave | who closes is gone at once, and the other has all partitions |
| commit and resume | a member commits and leaves, the next one reads what came after that and nothing else. Share groups: what is released comes again, what is acknowledged does not |
| static member | it goes and comes back with the same instance id: same partitions, no new generation or epoch |
| transactions | records written and offsets committed in a transaction are there once; those of an aborted one are not |

What the coordinator saw decides, not what the library says of itself. The players are
[small programs](../integration_tests/matrix/players/__init__.py) that use what users of the libraries use.

Kafka's own releases, and what is exact of each: [releases.md](releases.md#which-releases).

## Made anew

```sh
make matrix
```

It makes the environments in `build/matrix`, plays each row, and writes this page and `clients.json` beside it. A test says when the page is
older than the versions that the project locks. The newest libraries are played by the tests of each change, but for @platformatic/kafka.
"""
