"""Directories of tables and of sweeps: the checks before work begins, and the files that mark them
as complete.

It must need neither Spark nor PyArrow, so that a command can refuse its arguments before it
starts a session.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..schemas import SCHEMA_VERSION, TABLES
from .session import PipelineError

STARTED, SUCCESS, MANIFEST = "_STARTED", "_SUCCESS", "manifest.json"
PLAN = "sweep.json"
LANDED = "_logs"
"""Folder for the lines of Kafka topics before they are folded."""


def check_out(out: Path, *, replace: bool) -> None:
    """Check, as far as possible beforehand, that tables can be written to a directory. Changes
    nothing. Raises PipelineError."""
    try:
        if out.exists() and not out.is_dir():
            raise PipelineError(f"--out {out}: it is a file; give a directory")
        there = list(out.iterdir()) if out.exists() else []
    except OSError as error:
        raise PipelineError(f"--out {out}: cannot be read: {error.strerror or error}") from None
    check_writable(out)
    unfinished = (out / STARTED).exists() and not (out / SUCCESS).exists()
    ours = unfinished or (out / MANIFEST).exists()
    if there and not unfinished and not (replace and ours):
        hint = "--replace makes them anew" if ours else "give an empty or a new directory"
        raise PipelineError(
            f"--out {out}: {'there are tables already' if ours else 'it is not empty'}; {hint}"
        )


def check_writable(out: Path) -> None:
    """Check that a directory can be made, or written if it exists. Changes nothing. Raises
    PipelineError."""
    nearest = next(
        path for path in (out.absolute(), *out.absolute().parents) if os.path.lexists(path)
    )
    if not nearest.is_dir():
        raise PipelineError(
            f"--out {out}: {nearest} is no directory; give a path where a directory can be made"
        )
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise PipelineError(f"--out {out}: {nearest} cannot be written; give a directory that can")
    most = os.pathconf(nearest, "PC_NAME_MAX")
    if any(len(os.fsencode(part)) > most for part in out.absolute().relative_to(nearest).parts):
        raise PipelineError(f"--out {out}: a name of more than {most} bytes; give a shorter one")


def prepare(out: Path, *, replace: bool) -> None:
    """Make the output directory ready; what was there of tables goes. Raises PipelineError if
    something else is in it."""
    check_out(out, replace=replace)
    try:
        for name in (SUCCESS, MANIFEST):
            (out / name).unlink(missing_ok=True)
        for table in (*TABLES, LANDED):
            shutil.rmtree(out / table, ignore_errors=True)
        out.mkdir(parents=True, exist_ok=True)
        (out / STARTED).write_text(
            "Tables are being written; _SUCCESS comes when they are whole.\n"
        )
    except OSError as error:
        raise PipelineError(f"--out {out}: cannot be written: {error.strerror or error}") from None


@contextmanager
def whole(out: Path) -> Iterator[None]:
    """Make a directory's files as one: delete `_SUCCESS` before the block and write it after the
    block. Raises OSError."""
    out.mkdir(parents=True, exist_ok=True)
    (out / SUCCESS).unlink(missing_ok=True)
    yield
    (out / SUCCESS).write_bytes(b"")


def check_sweep_out(folder: Path, plan: dict[str, Any]) -> None:
    """Check that a sweep with this plan may begin or go on in a folder. Changes nothing. Raises
    PipelineError."""
    try:
        free = not folder.exists() or (
            folder.is_dir() and (not any(folder.iterdir()) or (folder / PLAN).exists())
        )
    except OSError as error:
        raise PipelineError(f"--out {folder}: cannot be read: {error.strerror or error}") from None
    if not free:
        raise PipelineError(
            f"--out {folder}: there is something else than a sweep; give an empty or a new directory"
        )
    try:
        same = not (folder / PLAN).exists() or json.loads((folder / PLAN).read_text()) == plan
    except (OSError, ValueError):
        raise PipelineError(
            f"--out {folder}: its {PLAN} cannot be read; give a new directory"
        ) from None
    if not same:
        raise PipelineError(
            f"--out {folder}: there is a sweep of other settings, or of another version; give a new directory"
        )
    check_writable(folder)


def tables_in(folder: str | os.PathLike[str]) -> Path:
    """Return the tables of a sweep's directory, or those in the directory itself. Raises
    PipelineError if they are incomplete."""
    path = Path(folder)
    try:
        swept = (path / PLAN).exists()
    except OSError as error:
        raise PipelineError(f"{folder}: cannot be read: {error.strerror or error}") from None
    if not swept:
        manifest_of(path)
        return path
    if not (path / "tables" / SUCCESS).exists():
        raise PipelineError(
            f"{folder}: this sweep is not finished; `coordinator sweep SWEEP --out {folder}` goes on where it stopped"
        )
    manifest_of(path / "tables")
    return path / "tables"


def manifest_of(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the manifest of a directory of tables. Raises PipelineError if they are incomplete,
    or of a newer schema."""
    path = Path(folder)
    if not path.is_dir():
        raise PipelineError(
            f"{folder}: no such directory; `coordinator tables LOGS... --out {folder}` makes one"
        )
    if not (path / SUCCESS).exists():
        raise PipelineError(
            f"{folder}: no whole tables: there is no {SUCCESS} in it; run `coordinator tables LOGS... --out {folder}`"
        )
    try:
        manifest: dict[str, Any] = json.loads((path / MANIFEST).read_text())
        version = manifest["schema_version"]
    except (OSError, ValueError, KeyError, TypeError):
        raise PipelineError(
            f"{folder}: its {MANIFEST} cannot be read: make the tables anew"
        ) from None
    if version != SCHEMA_VERSION:
        raise PipelineError(
            f"{folder}: tables of schema version {version}; this version reads {SCHEMA_VERSION}: make them anew"
        )
    return manifest
