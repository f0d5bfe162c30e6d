"""Opening the file of a log: what happens to one that is there already, and to a last line that was
cut short.

Rules: `new` never touches a regular file that exists; `append` continues a log and nothing else,
after it has cut off a last line that its writer did not finish; `replace` empties the file. The
file is unbuffered and in append mode, so that what was written is known to the byte, and so that
somebody who empties the file meanwhile leaves no hole. Does not depend on events.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from errno import EEXIST
from io import SEEK_END, FileIO
from os import PathLike, fspath
from typing import BinaryIO, Final, Literal

from .envelope import LOG_MODES
from .reader import LogError, runs

LogMode = Literal["new", "append", "replace"]

_PIECE_BYTES: Final = 1 << 16


class LogExistsError(FileExistsError):
    """A file is there already and may not be touched: which, and what would be right."""

    def __init__(self, path: str) -> None:
        super().__init__(
            EEXIST,
            'the file exists already, and log mode "new" leaves it alone: log mode "append" (--log-append) continues it as a new run, '
            'log mode "replace" (--log-replace) starts it anew; or take another path',
            path,
        )


def open_log(path: str | PathLike[str], mode: LogMode) -> tuple[FileIO, Collection[str]]:
    """The file, ready for a new run's header, and the names of the runs in it.

    Raises LogExistsError (mode `new`), LogError for a file that is no log (mode `append`), and
    OSError.
    """
    if mode not in LOG_MODES:
        raise ValueError(f"log mode {mode!r}: it is one of {', '.join(LOG_MODES)}")
    path = fspath(path)
    if os.path.exists(path) and not os.path.isfile(
        path
    ):  # a device or a pipe: it holds nothing that could be lost
        return _open(path, "wb"), ()
    if mode == "append" and os.path.isfile(path):
        names = _complete(path)
        return _open(path, "ab"), names
    try:
        return _open(path, "wb" if mode == "replace" else "xb"), ()
    except FileExistsError:
        raise LogExistsError(path) from None


def _open(path: str, mode: str) -> FileIO:
    return FileIO(path, mode, opener=lambda name, flags: os.open(name, flags | os.O_APPEND, 0o666))


def _complete(path: str) -> Collection[str]:
    """Cut off an unfinished last line, and tell the runs' names. Raises LogError for a file that is
    no log."""
    with open(path, "r+b") as file:
        size = file.seek(0, SEEK_END)
        tail = _last_line(file, size)
        if tail and not tail.endswith(b"\n"):
            if len(tail) == size and not tail.startswith(b'{"seq":0,'):
                raise LogError(
                    path, 1, "no event log, so nothing is appended to it (docs/event_log.md)"
                )
            if _is_object(tail):  # only its newline is missing
                file.write(b"\n")
            else:
                file.truncate(size - len(tail))
        if file.seek(0, SEEK_END) == 0:
            return ()
    found = runs(path)
    if not found or found[0].number != 1:
        raise LogError(
            path,
            1,
            "no event log, so nothing is appended to it: its first line is not a run header (docs/event_log.md)",
        )
    return {run.name for run in found}


def _last_line(file: BinaryIO, size: int) -> bytes:
    """The last line of a file, with its newline if it has one."""
    tail = b""
    at = size
    while at > 0 and b"\n" not in tail[:-1]:
        start = max(0, at - _PIECE_BYTES)
        file.seek(start)
        tail = file.read(at - start) + tail
        at = start
    return tail[tail.rfind(b"\n", 0, len(tail) - 1) + 1 :] if tail else tail


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
