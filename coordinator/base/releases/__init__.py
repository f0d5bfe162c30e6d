"""The releases of Apache Kafka that the emulator can behave as: the APIs, features, settings and
behaviours of each, as data.

The newest release is the reference; a row of an older one has only its differences. Rule: code
asks a release for a behaviour by its name (`has`), and never compares version numbers. The maker
of a connection, a coordinator or a configuration asks once and keeps the answer. Does not depend
on anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from .model import BEHAVIOURS, Behaviour, Feature, Release, Settings
from .newest import NEWEST
from .older import OLDER

__all__ = [
    "BEHAVIOURS",
    "NEWEST",
    "RELEASES",
    "Behaviour",
    "Feature",
    "Release",
    "ReleaseError",
    "Settings",
    "release_named",
]

_NUMBER: Final = re.compile(r"([0-9]+\.[0-9]+)(\.[0-9]+)?\Z")


class ReleaseError(ValueError):
    """An unknown release; the text says what was given, and which there are."""


RELEASES: Final[Mapping[str, Release]] = {release.name: release for release in (NEWEST, *OLDER)}
"""Every release that may be chosen, by its name, the newest first."""


def release_named(text: object) -> Release:
    """Return the release with this name, with or without a patch number (`4.3`, `4.3.1`). Raises
    ReleaseError.
    """
    found = None
    if isinstance(text, str) and (parts := _NUMBER.match(text.strip())):
        found = RELEASES.get(parts[1])
    if found is None:
        there_are = ", ".join(RELEASES)
        raise ReleaseError(f"{text!r}: there is no such release here; give one of {there_are}")
    return found
