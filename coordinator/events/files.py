"""Log files: opening one to write a run, and reading the runs in one. No other module opens them.

Rules of opening: `new` never touches a regular file that exists; `append` continues a log and
nothing else, after it has cut off a last line that its writer did not finish; `replace` empties
the file. The file is unbuffered, so that it is known to the byte what was written, and in append
mode, so that truncating it meanwhile leaves no hole. Does not depend on events.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from errno import EEXIST
from io import SEEK_END, FileIO
from os import PathLike, fspath
from typing import Any, BinaryIO, Final, Literal, TypeAlias

from .envelope import LOG_MODES
from .line import Line, LogError
from .reader import HEADER_BYTES, Lines, Run, chosen_run, run_begun_by

LogMode = Literal["new", "append", "replace"]
LogPath: TypeAlias = "str | PathLike[str]"

_PIECE_BYTES: Final = 1 << 16
_AT_ONCE: Final = 4 << 20
_NO_LINE: Final = 64 << 20
"""No line of a log has so many bytes."""


class LogExistsError(FileExistsError):
    """The log file exists and may not be touched; the text names it and says what would be right."""

    def __init__(self, path: str) -> None:
        super().__init__(
            EEXIST,
            'the file exists already, and log mode "new" leaves it alone: log mode "append" (--log-append) continues it as a new run, '
            'log mode "replace" (--log-replace) starts it anew; or take another path',
            path,
        )


def open_log(path: LogPath, mode: LogMode) -> tuple[FileIO, Collection[str]]:
    """Return the file, ready for a new run's header, and the names of the runs in it.

    Raises LogExistsError (mode `new`), LogError for a file that is not a log (mode `append`),
    and OSError.
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
    """Cut off an unfinished last line, and return the names of the runs. Raises LogError for a file
    that is not a log.
    """
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
    """Return the last line of a file, with its newline if it has one."""
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


# -- reading


def runs(path: LogPath) -> list[Run]:
    """Return the runs in a file, in their order. Raises OSError. A file that is not a log has none."""
    found: list[Run] = []
    offset, number = 0, 1
    with open(path, "rb") as file:
        for lines in _whole_lines(file):
            at = counted = 0
            while (at := lines.find(HEADER_BYTES, at)) >= 0:
                begin, at = lines.rfind(b"\n", 0, at) + 1, lines.find(b"\n", at) + 1 or len(lines)
                number += lines.count(b"\n", counted, begin)
                counted = begin
                name = run_begun_by(str(lines[begin:at], "utf-8", "replace"))
                if name is not None:
                    found.append(Run(name, number, offset + begin))
            number += lines.count(b"\n", counted)
            offset += len(lines)
    return found


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file in pieces of some MiB that end with a line; the last piece may end without one."""
    rest, most = b"", _AT_ONCE
    while block := file.read(most):
        data = rest + block
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        if end:
            most = _AT_ONCE
            yield data[:end]
        elif len(data) > _NO_LINE:
            rest, most = b"", _AT_ONCE
            yield data
        else:
            most *= 2  # one line is longer than a piece
    if rest:
        yield rest


def read(path: LogPath, run: str | None = None) -> Iterator[Line]:
    """Return the lines of a run, header first: of the last run, or of the last that is called
    `run`.

    Raises LogError, and OSError if the file cannot be read.
    """
    name = fspath(path)
    found = runs(path)
    at = chosen_run(found, run, name)
    if (
        not found or found[0].number != 1
    ):  # no log from its first line on: reading it says what is wrong
        return Lines(_texts(path, 0, None), name)
    end = found[at + 1].offset if at + 1 < len(found) else None
    return Lines(_texts(path, found[at].offset, end), name, found[at].number - 1)


def read_plain(path: LogPath, run: str | None = None) -> Iterator[dict[str, Any]]:
    """Return the lines of a run as plain dictionaries, header first: of the last run, or of the last
    that is called `run`.

    Keys and values are those of the JSON (docs/event_log.md). Raises LogError, and OSError if the
    file cannot be read.
    """
    return (line.plain for line in read(path, run))


def _texts(path: LogPath, begin: int, end: int | None) -> Iterator[str]:
    with open(path, "rb") as file:
        file.seek(begin)
        yield from (str(text, "utf-8", "replace") for text in _until(file, begin, end))


def _until(file: BinaryIO, at: int, end: int | None) -> Iterator[bytes]:
    for text in file:
        if end is not None and at >= end:
            return
        at += len(text)
        yield text
