"""Sources of logs: files and directories, plain, gzip or zstd, with one run in a file or many.

A *piece* is a file, or one run's part of a plain file, so that several tasks can fold the runs
of one file. A compressed file is one piece. Nothing here reads more than a line at a time into
memory.
"""

from __future__ import annotations

import errno
import gzip
import mmap
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from coordinator.events.reader import HEADER_BYTES, run_begun_by

SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".jsonl.zstd")
_UNPACKED: Final = 12
"""Typical factor by which a compressed log grows."""


class SourceError(ValueError):
    """Logs cannot be read; the message says which, why, and what to do."""


class Piece(NamedTuple):
    """A part of a file: bytes `begin` to `end` (None: to its end), whose first line has the
    number `line`. `weight`: about its bytes. `earlier`: number of runs with the same name before
    it in the file."""

    path: str
    begin: int
    end: int | None
    line: int
    weight: int
    earlier: int = 0


def log_files(given: Iterable[str]) -> list[str]:
    """Return the log files: files as given, and all logs in directories at any depth (`.jsonl`,
    also `.gz`, `.zst`), sorted. Raises SourceError for a path that does not exist or is no file
    (a pipe), for a directory without logs, and for a file that is named twice under any paths."""
    files: list[str] = []
    for each in given:
        if not each:
            raise SourceError("'': an empty name; give a log or a directory with logs")
        try:
            files.extend(_files_of(each, Path(each)))
        except OSError as error:  # a name that is too long, for example
            raise SourceError(f"{each}: cannot be read: {error.strerror or error}") from None
    seen: dict[str, str] = {}
    for file in files:
        first = seen.setdefault(os.path.realpath(file), file)
        if first is not file:
            other = "" if first == file else f", here as {first}"
            raise SourceError(f"{file} is named twice{other}: its events would count twice")
    if not files:
        raise SourceError("no logs are named: give files or directories")
    return files


def _files_of(given: str, path: Path) -> list[str]:
    if path.is_dir():
        found = sorted(
            str(file) for file in path.rglob("*") if file.is_file() and file.name.endswith(SUFFIXES)
        )
        if not found:
            raise SourceError(
                f"{given}: no event logs in this directory: files called *.jsonl, *.jsonl.gz or *.jsonl.zst are"
            )
        return found
    if path.is_file():
        return [given]
    if path.exists():
        raise SourceError(
            f"{given}: it is neither a file nor a directory; logs are read more than once, so write it to a file first"
        )
    raise SourceError(
        f"{given}: no such file or directory; `coordinator serve --log` and `coordinator simulate --log` write logs"
    )


def pieces(path: str) -> list[Piece]:
    """Return a file's pieces, in order. Raises SourceError if it cannot be opened."""
    try:
        size = os.path.getsize(path)
        if _packing(path) is not None:
            return [Piece(path, 0, None, 1, size * _UNPACKED)]
        begins = _run_begins(path) if size else []
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not begins or begins[0][0] != 0:
        begins.insert(0, (0, 1, ""))
    found: list[Piece] = []
    names: Counter[str] = Counter()
    ends = [*(begin for begin, _, _ in begins[1:]), None]
    for (begin, line, name), end in zip(begins, ends, strict=True):
        found.append(Piece(path, begin, end, line, (end or size) - begin, names[name]))
        names[name] += 1
    return found


def _run_begins(path: str) -> list[tuple[int, int, str]]:
    """Return where runs begin in a plain file: the offset and number of each header's line, and
    the run's name."""
    found: list[tuple[int, int, str]] = []
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        counted, line, at = 0, 1, text.find(HEADER_BYTES)
        while at >= 0:
            begin = text.rfind(b"\n", 0, at) + 1
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end
            name = run_begun_by(str(text[begin:end], "utf-8", "replace"))
            if name is not None:
                line += _newlines(text, counted, begin)
                counted = begin
                found.append((begin, line, name))
            at = text.find(HEADER_BYTES, end)
    return found


def _newlines(text: mmap.mmap, begin: int, end: int, step: int = 1 << 24) -> int:
    return sum(text[at : min(at + step, end)].count(b"\n") for at in range(begin, end, step))


class Text(NamedTuple):
    """A line of a file: its number, its offset, and its text, with its newline if it has one."""

    number: int
    offset: int
    text: str


def texts(piece: Piece) -> Iterator[Text]:
    """Yield the lines of a piece. Raises OSError, and EOFError for a compressed file that was
    cut short."""
    with _opened(piece.path) as file:
        offset, number = piece.begin, piece.line
        if offset:
            file.seek(offset)
        for raw in file:
            if piece.end is not None and offset >= piece.end:
                return
            yield Text(number, offset, str(raw, "utf-8", "replace"))
            offset += len(raw)
            number += 1


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    packing = _packing(path)
    if packing == "gzip":
        with gzip.open(path, "rb") as unpacked:
            yield unpacked  # type: ignore[misc]
    elif packing == "zstd":
        from io import BufferedReader

        try:
            import pyarrow as pa
        except ImportError:
            from coordinator.base.installing import pip_install

            text = f"it is packed with zstd, which needs pyarrow: {pip_install('spark')}"
            raise OSError(errno.ENOTSUP, text, path) from None
        with pa.OSFile(path, "rb") as raw, pa.CompressedInputStream(raw, "zstd") as stream:
            yield BufferedReader(stream, 1 << 20)
    else:
        with open(path, "rb") as file:
            yield file


def _packing(path: str) -> str | None:
    """Return the compression of a file, by its first bytes; None if it is plain."""
    with open(path, "rb") as file:
        first = file.read(4)
    return "gzip" if first[:2] == b"\x1f\x8b" else "zstd" if first == b"\x28\xb5\x2f\xfd" else None
