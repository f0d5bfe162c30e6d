"""A log that is written nowhere: whoever asked for it is given each line at once, as a reader would find it in a file.

For a simulation whose log is folded while it runs, and then needed no more: text that is made to be parsed again takes longer than the
fold, and holding all of it takes more memory than the world. Depends on the writer's one way to write a line (`EventLog._write`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from .reader import Line
from .writer import EventLog

_SIMPLE: Final = frozenset({str, int, bool, float, type(None)})


class UnwrittenLog(EventLog):
    """An event log of one run. `take` is given every line, the header first; the line is its own from then on."""

    def __init__(self, take: Callable[[Line], None], *, seed: int | None = None, epoch_ms: int = 0) -> None:
        super().__init__(seed=seed, epoch_ms=epoch_ms)
        self._take = take
        take(json.loads(self.lines.pop()))

    def _write(self, line: dict[str, Any]) -> None:
        if self.heard is not None:
            self.heard(line)
        for key, value in line.items():
            if type(value) not in _SIMPLE:
                line[key] = plain(value)
        self._take(line)


def plain(value: Any) -> Any:
    """A value as it is after it was written and read: bytes are hexadecimal, arrays are lists, and nobody else holds them."""
    kind = type(value)
    if kind in _SIMPLE:
        return value
    if isinstance(value, (list, tuple)):
        return [each if type(each) in _SIMPLE else plain(each) for each in value]
    if isinstance(value, dict):
        copy = {key: each if type(each) in _SIMPLE else plain(each) for key, each in value.items()}
        return copy if all(type(key) is str for key in copy) else json.loads(json.dumps(copy))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    return json.loads(json.dumps(value))
