"""Every output that is made of a log, by the way in that its users take. The imports of the product
stand here and nowhere else in this package.

All outputs end in text with one fact a line, so that a difference can be read.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from typing import Any, Final

from coordinator.cli import main
from coordinator.events.reader import read_lines
from coordinator.history.judges import judge
from coordinator.lab.page.exports.copying import Copier, CopyError
from coordinator.lab.page.picture import Picture
from coordinator.lab.pipeline.fold.pieces import fold_texts
from coordinator.lab.pipeline.fold.run import RunFold
from coordinator.lab.pipeline.measures import MEASURES
from coordinator.lab.pipeline.schemas import TABLES
from coordinator.lab.pipeline.windows import Traffic, WindowCounts
from coordinator.lab.simulator.comparing.measures import Measures, measure

_STEPS: Final = 600
"""So many steps of the page at each end of a log have their sentences stored."""


class Lines:
    """A log: its text, and its lines as values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = list(read_lines(text.splitlines(keepends=True)))
        self._tables: dict[str, list[tuple[Any, ...]]] | None = None

    @property
    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """The rows of all tables."""
        if self._tables is None:
            found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
            fold_texts(
                self.text.splitlines(keepends=True),
                "log",
                lambda name, row: found[name].append(row),
            )
            self._tables = found
        return self._tables


def _explain(log: Lines, *options: str) -> str:
    out, usual = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(log.text)
    try:
        with redirect_stdout(out):
            assert main(["explain", "-", *options]) == 0
    finally:
        sys.stdin = usual
    return out.getvalue()


def explain(log: Lines) -> str:
    """`coordinator explain`."""
    return _explain(log)


def explain_detail(log: Lines) -> str:
    """`coordinator explain --detail`."""
    return _explain(log, "--detail")


def explain_json(log: Lines) -> str:
    """`coordinator explain --format json`."""
    return _explain(log, "--format", "json")


def tables(log: Lines) -> str:
    """All rows of all tables but `events` and `requests`, each as a JSON object."""
    return _rows(log, [name for name in TABLES if name not in ("events", "requests")])


def table_events(log: Lines) -> str:
    """The rows of `events` and `requests`."""
    return _rows(log, ["events", "requests"])


def _rows(log: Lines, names: Iterable[str]) -> str:
    return "".join(
        f"{name} {json.dumps(dict(zip(TABLES[name].names(), row, strict=True)))}\n"
        for name in names
        for row in log.tables[name]
    )


def verdicts(log: Lines) -> str:
    """What the judges say."""
    return "".join(
        f"{verdict}\n" + "".join(f"  {finding}\n" for finding in verdict.findings)
        for verdict in judge(log.lines)
    )


def picture(log: Lines) -> str:
    """What the page draws, and the sentences of the first and the last steps."""
    drawn = Picture(log.lines)
    plain = drawn.plain()
    if not plain["steps"]:
        count = plain["step_count"]
        plain["steps"] = [*drawn.steps(0, _STEPS), *drawn.steps(count - _STEPS, count)]
    return "".join(_flat("", plain))


def _flat(path: str, value: Any) -> Iterable[str]:
    """Each list element of a JSON value, and each plain value, on a line of its own."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}", inner)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for at, inner in enumerate(value):
            yield from (
                _flat(f"{path}.{at}", inner)
                if not path.endswith("steps")
                else [f"{path}.{at} {json.dumps(inner)}\n"]
            )
    else:
        yield f"{path} {json.dumps(value)}\n"


def copies(log: Lines) -> str:
    """Each group copied as a scenario, as the page offers it."""
    copier = Copier()
    groups = dict.fromkeys(line.group for line in log.lines if line.group is not None)
    for line in log.lines:
        copier.feed(line)
    told = []
    for group in groups:
        try:
            told.append(f"{group}\n{copier.copy(group)}\n")
        except CopyError as error:
            told.append(f"{group}\n{error}\n")
    return "".join(told)


def measures(log: Lines) -> str:
    """What `ab` compares, and what sweeps compare."""
    of_ab = zip(Measures._fields, measure(log.lines), strict=True)
    [run] = log.tables["metrics"]
    row = dict(zip(TABLES["metrics"].names(), run, strict=True))
    of_sweeps = ((name, each.of(row)) for name, each in MEASURES.items())
    return "".join(
        f"{where} {name} {value}\n"
        for where, rows in (("ab", of_ab), ("sweep", of_sweeps))
        for name, value in rows
    )


def windows(log: Lines) -> str:
    """Four windows of the same length; the bytes on the links, which no log has, are 0."""
    end_ms = log.lines[-1].at_ms
    quarters = tuple((f"quarter {at + 1}", end_ms * at // 4) for at in range(4))
    counts, traffic = WindowCounts(quarters, end_ms), Traffic(quarters)
    fold = RunFold("run", "log", lambda name, row: None, tables=(), judges=(), also=(counts,))
    for line in log.lines:
        fold.feed(line)
    fold.finish()
    names = TABLES["windows"].names()[1:]
    return "".join(
        json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in counts.rows(traffic)
    )


OUTPUTS: Final[dict[str, Callable[[Lines], str]]] = {
    each.__name__: each
    for each in (
        explain,
        explain_detail,
        explain_json,
        tables,
        table_events,
        verdicts,
        picture,
        copies,
        measures,
        windows,
    )
}
