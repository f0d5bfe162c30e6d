"""Files of the frozen logs and outputs."""

from __future__ import annotations

import lzma
from difflib import unified_diff
from pathlib import Path
from typing import Final

from .outputs import OUTPUTS, Lines

HERE: Final = Path(__file__).parent
LOGS: Final = HERE / "logs"
KEPT: Final = HERE / "outputs"


def names() -> list[str]:
    """The names of the stored logs."""
    return sorted(path.name.removesuffix(".jsonl.xz") for path in LOGS.glob("*.jsonl.xz"))


def stored_log(name: str) -> str:
    """A stored log's text."""
    return unpacked(LOGS / f"{name}.jsonl.xz")


def store_log(name: str, text: str) -> None:
    """Store a log."""
    LOGS.mkdir(exist_ok=True)
    (LOGS / f"{name}.jsonl.xz").write_bytes(packed(text))


def stored(name: str, output: str) -> str:
    """An output as it is stored; empty if there is none."""
    path = _place(name, output)
    return unpacked(path) if path.exists() else ""


def store(name: str, output: str, text: str) -> bool:
    """Store an output; whether it is another one than before."""
    path = _place(name, output)
    if path.exists() and unpacked(path) == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed(text))
    return True


def differences(name: str, log: Lines) -> dict[str, list[str]]:
    """The outputs of a log that are not as stored, each as a diff."""
    found = {}
    for output, make in OUTPUTS.items():
        was, now = stored(name, output), make(log)
        if was != now:
            rows = unified_diff(
                was.splitlines(), now.splitlines(), "stored", "made now", n=1, lineterm=""
            )
            found[output] = list(rows)
    return found


def packed(text: str) -> bytes:
    """A text as it is stored."""
    return lzma.compress(text.encode())


def unpacked(path: Path) -> str:
    """The text of a stored file."""
    return lzma.decompress(path.read_bytes()).decode()


def _place(name: str, output: str) -> Path:
    return KEPT / output / f"{name}.xz"
