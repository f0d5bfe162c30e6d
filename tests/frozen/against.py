"""Compares all logs, and all outputs that are made of them, between two checkouts; stores nothing.

Each side is a process of its own that imports only its own checkout's packages (`side.py`), so the
layout of the product may differ between the two. This module imports nothing of the product.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

_SIDE: Final = Path(__file__).with_name("side.py")
_THIS: Final = _SIDE.parents[2]


class SideError(Exception):
    """A checkout's process ended before it had made everything."""


def compare(other: Path, patterns: Sequence[str], shown: int, recorded: Path) -> int:
    """Print what differs between another checkout (-) and this one (+), and a line for each log.

    `patterns` choose logs (default: all) as shells do. Of each difference at most `shown` lines are
    printed. Logs in the directory `recorded` are not made, but read by both sides.

    Return 0 if nothing differs, 1 if something does, 2 if a checkout's process failed or no log
    matches.
    """
    try:
        return _compare((other.resolve(), _THIS), patterns, shown, recorded)
    except SideError as error:
        print(error, file=sys.stderr)
        return 2


def _compare(
    checkouts: tuple[Path, Path], patterns: Sequence[str], shown: int, recorded: Path
) -> int:
    kept = [path.stem for path in sorted(recorded.glob("*.jsonl"))]
    before, after = (_chosen([*_names(each), *kept], patterns) for each in checkouts)
    names = [name for name in after if name in before]
    lone = [f"{name}: only the other checkout has it" for name in before if name not in after]
    lone += [f"{name}: only this checkout has it" for name in after if name not in before]
    for told in lone:
        print(told)
    differing = len(lone)
    with tempfile.TemporaryDirectory(prefix="frozen-") as directory:
        places = (Path(directory) / "other", Path(directory) / "this")
        arguments = [[str(recorded), str(place), *names] for place in places]
        with (
            _running(checkouts[0], arguments[0]) as one,
            _running(checkouts[1], arguments[1]) as two,
        ):
            for at, name in enumerate(names, 1):
                for checkout, process in zip(checkouts, (one, two), strict=True):
                    _wait_for(name, process, checkout)
                differing += _differs(name, places[0] / name, places[1] / name, shown)
                print(f"{at} of {len(names)}", end="\r", file=sys.stderr, flush=True)
            for checkout, process in zip(checkouts, (one, two), strict=True):
                if process.wait():
                    raise SideError(f"{checkout}: exit status {process.returncode}")
    total = len(names) + len(lone)
    if not total:
        raise SideError("no log matches")
    print(f"{differing} of {total} logs differ" if differing else f"all {total} logs are the same")
    return 1 if differing else 0


def _names(checkout: Path) -> list[str]:
    """Return the names of the logs that a checkout makes."""
    with _running(checkout, ["--names"]) as process:
        text, _ = process.communicate()
    if process.returncode:
        raise SideError(f"{checkout}: no names of logs, exit status {process.returncode}")
    return text.split()


def _chosen(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    return [
        name
        for name in dict.fromkeys(names)
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    ]


@contextmanager
def _running(checkout: Path, arguments: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Run `side.py` so that packages of the checkout come before all installed ones."""
    with subprocess.Popen(
        [sys.executable, "-P", str(_SIDE), *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _wait_for(name: str, process: subprocess.Popen[str], checkout: Path) -> None:
    """Wait until a checkout's process has made all outputs of a log."""
    assert process.stdout is not None
    if process.stdout.readline() != f"{name}\n":
        raise SideError(f"{checkout}: the process failed at {name}")


def _differs(name: str, other: Path, this: Path, shown: int) -> bool:
    """Print the differences of a log's outputs and their names; remove the outputs."""
    before, after = _outputs(other), _outputs(this)
    differing = [
        output
        for output in dict.fromkeys(["log", *before, *after])
        if before.get(output) != after.get(output)
    ]
    for output in differing:
        for row in _difference(name, output, other, this, shown):
            print(row)
    failed = [output for output in after if output.endswith(".failed") and output in before]
    for output in failed:
        print(f"{name}: {output}, this", after[output].decode(), sep="\n", end="")
    print(f"{name}: {' '.join(dict.fromkeys([*differing, *failed])) or 'same'}", flush=True)
    for path in (*other.iterdir(), *this.iterdir()):
        path.unlink()
    return bool(differing or failed)


def _outputs(directory: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def _difference(name: str, output: str, other: Path, this: Path, shown: int) -> Iterator[str]:
    """Yield the first lines of a difference. `difflib` would take minutes for long texts."""
    if not shown:
        return
    paths = [
        str(path / output) if (path / output).exists() else os.devnull for path in (other, this)
    ]
    options = ["--no-index", "--no-color", "--no-ext-diff", "--text", "--unified=0"]
    found = subprocess.run(
        ["git", "diff", *options, "--", *paths], capture_output=True, text=True, check=False
    )
    rows = found.stdout.splitlines()
    start = next((at for at, row in enumerate(rows) if row.startswith("@@")), 0)
    rows = [_without_function(row) for row in rows[start:]]
    yield f"--- {name}: {output}, other"
    yield f"+++ {name}: {output}, this"
    yield from rows[:shown]
    if len(rows) > shown:
        yield f"... {len(rows) - shown} more lines (--lines)"


def _without_function(row: str) -> str:
    """Leave out the line that `git diff` takes for a function's and puts behind a hunk's place."""
    return "@@".join([*row.split("@@")[:2], ""]) if row.startswith("@@") else row
