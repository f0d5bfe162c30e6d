"""Files as lines: plain, gzip, or every file of a zip, with one line in memory at a time. Lines in
UTF-8 are given as bytes, because most of a long log is never decoded.

A line that is longer than `MOST_BYTES` is given as None and passed over: no log line is so long.
"""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, cast

MOST_BYTES = 1 << 20
Line = bytes | str | None
Lines = Iterator[Line]
Progress = Callable[[str, int], None]
"""Function that is called now and then with the name of a file and the number of bytes read."""
_OFTEN = 4 << 20


class UnreadableError(Exception):
    """A file cannot be read; the message says which, and why."""


def sources(path: str, progress: Progress | None = None) -> Iterator[tuple[str, Lines]]:
    """Yield the texts in a file, each with its name and its lines; `-` is standard input. Raises
    UnreadableError, also while lines are read, for a file that does not exist or is cut short."""
    if path == "-":
        yield "-", _lines("-", sys.stdin.buffer, progress)
        return
    try:
        with open(path, "rb") as file:
            first = file.read(4)
            file.seek(0)
            if first[:4] == b"PK\x03\x04":
                yield from _zipped(path, file, progress)
            elif first[:2] == b"\x1f\x8b":
                yield path, _lines(path, cast(IO[bytes], gzip.GzipFile(fileobj=file)), progress)
            else:
                yield path, _lines(path, file, progress)
    except (OSError, zipfile.BadZipFile) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableError(f"{path}: {reason}") from None


def _zipped(path: str, file: IO[bytes], progress: Progress | None) -> Iterator[tuple[str, Lines]]:
    with zipfile.ZipFile(file) as archive:
        for item in archive.infolist():
            if not item.is_dir():
                try:
                    opened = archive.open(item)
                except (NotImplementedError, RuntimeError) as error:
                    raise UnreadableError(f"{path}: {item.filename}: {error}") from None
                with opened:
                    yield f"{path}/{item.filename}", _lines(path, opened, progress)


def _lines(path: str, file: IO[bytes], progress: Progress | None) -> Lines:
    try:
        first = file.read(4) if isinstance(file, io.BufferedReader) and file.seekable() else b""
        if first:
            file.seek(0)
        encoding = "utf-16" if first[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
        if encoding == "utf-16":
            for text in io.TextIOWrapper(file, encoding, errors="replace"):
                yield text if len(text) <= MOST_BYTES else None
            return
        done = told = 0
        while raw := file.readline(MOST_BYTES + 1):
            done += len(raw)
            if progress is not None and done - told >= _OFTEN:
                told = done
                progress(path, done)
            if len(raw) <= MOST_BYTES:
                yield raw
                continue
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(MOST_BYTES)
                done += len(raw)
            yield None
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise UnreadableError(f"{path}: cut short or damaged: {error}") from None
