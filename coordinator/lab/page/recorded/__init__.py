"""The incident of the last lesson: a log of real clients in real time, and the questions about it.

`tools/recording` recorded it and has its story. The log is kept as it was written; its answers
are computed from it. Reads the log alone.
"""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import Any, Final

from ..engine import picture_of
from ..quiz import questions

NAME: Final = "incident"


def log() -> str:
    """Return the log's text."""
    packed = files(__package__).joinpath(f"{NAME}.jsonl.gz").read_bytes()
    return gzip.decompress(packed).decode("ascii")


def recorded() -> dict[str, Any]:
    """Return JSON values for the page: the picture, and the questions with their answers."""
    picture = picture_of(log().splitlines(), NAME)
    return {"picture": picture.plain(), "questions": questions(picture.fold)}
