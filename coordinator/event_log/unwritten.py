"""A log that is written nowhere: whoever asked for it is given each line at once, as a reader would find it in a file.

For a simulation whose log is folded while it runs, and then needed no more: holding all of it takes more memory than the world. Depends
on the writer, which makes a line's text as for any other log.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from .reader import Line
from .writer import EventLog


class UnwrittenLog(EventLog):
    """An event log of one run. `take` is given every line, the header first; the line is its own from then on.

    `wire`: whether it wants those about requests, which are more than half of all.
    """

    def __init__(self, take: Callable[[Line], None], *, seed: int | None = None, epoch_ms: int = 0, wire: bool = True) -> None:
        super().__init__(seed=seed, epoch_ms=epoch_ms)
        self.wire = wire
        lines, loads = self.lines, json.loads

        def follow(text: str) -> None:
            lines.clear()
            take(loads(text))

        follow(lines[0])
        self.followers.append(follow)
