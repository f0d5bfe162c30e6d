"""The few logs that are stored, and what is made of them, as text that a reviewer reads in a diff.

A log is simulated from the scenario of the same name, or was recorded once, live. Its outputs are in
one file, below a heading each. Long outputs are stored of the shortest logs only, and of judges only
what they found: what is not stored is compared by `against.py`.
"""

from __future__ import annotations

import re
from difflib import unified_diff
from pathlib import Path
from typing import Final

from tests.shipped import simulated

from .outputs import OUTPUTS, Lines

_HERE: Final = Path(__file__).parent
SCENARIOS: Final = _HERE / "scenarios"
LOGS: Final = _HERE / "logs"
KEPT: Final = _HERE / "outputs"

_WITH_ALL_OUTPUTS: Final = ("classic", "consumer", "share")
_OF_EVERY_LOG: Final = ("explain_detail", "found", "copies", "measures", "windows")
_PRODUCT: Final = re.compile(r'"product":"coordinator [^"]*"')


def simulated_names() -> list[str]:
    """Return the names of the stored logs that are simulated."""
    return sorted(path.stem for path in SCENARIOS.glob("*.toml"))


def names() -> list[str]:
    """Return the names of all stored logs."""
    return sorted({*simulated_names(), *(path.stem for path in LOGS.glob("*.jsonl"))})


def made_log(name: str) -> str:
    """Simulate a log, and leave the product's version out, which changes with each release."""
    text = simulated((SCENARIOS / f"{name}.toml").read_text(), name, 1)
    return _PRODUCT.sub('"product":"coordinator"', text, count=1)


def stored_log(name: str) -> str:
    """Return a log as it is stored; empty if it is not."""
    return _text(_log_path(name))


def made_outputs(name: str, log: Lines) -> str:
    """Make the outputs of a log that are stored, each below its heading."""
    outputs = dict(OUTPUTS)
    if name not in _WITH_ALL_OUTPUTS:
        outputs["found"] = _found
        outputs = {output: outputs[output] for output in _OF_EVERY_LOG}
    return "\n".join(f"==== {output} ====\n{make(log)}" for output, make in outputs.items())


def stored_outputs(name: str) -> str:
    """Return the outputs of a log as they are stored; empty if they are not."""
    return _text(_outputs_path(name))


def store(name: str) -> list[Path]:
    """Store a log, if it is simulated, and its outputs; return the files that changed."""
    changed = []
    if name in simulated_names():
        changed += _write(_log_path(name), made_log(name))
    changed += _write(_outputs_path(name), made_outputs(name, Lines(stored_log(name))))
    return changed


def difference(stored: str, made: str) -> list[str]:
    """Return the lines of a diff from what is stored to what is made now."""
    rows = unified_diff(
        stored.splitlines(), made.splitlines(), "stored", "made now", n=0, lineterm=""
    )
    return list(rows)


def _found(log: Lines) -> str:
    """Return what each judge found, without the promise that it judges by."""
    rows = OUTPUTS["verdicts"](log).splitlines(keepends=True)
    return "".join(re.sub(r"^(\w+: (?:kept|broken)):.*", r"\1", row) for row in rows)


def _log_path(name: str) -> Path:
    return LOGS / f"{name}.jsonl"


def _outputs_path(name: str) -> Path:
    return KEPT / f"{name}.txt"


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _write(path: Path, text: str) -> list[Path]:
    if path.exists() and path.read_text() == text:
        return []
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return [path]
