"""Validation of topic names, with Kafka's texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_LENGTH = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+\Z")


def why_invalid(name: str) -> str | None:
    """Return Kafka's message if `name` is not valid for a topic (error 17), else None."""
    if not name:
        why = "the empty string is not allowed"
    elif name in (".", ".."):
        why = f"'{name}' is not allowed"
    elif len(name.encode("utf-16-le", "surrogatepass")) // 2 > MAX_LENGTH:
        why = f"the length of '{name}' is longer than the max allowed length {MAX_LENGTH}"
    elif not _LEGAL.match(name):
        why = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    else:
        return None
    return f"Topic name is invalid: {why}"


class TopicNames:
    """Topic names before a request, to find names that a new one would collide with."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._by_metric: dict[str, str] | None = None

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def colliding(self, name: str) -> str | None:
        """Return a topic whose name differs from `name` only in dots and underscores (both would
        have the same metric name), the first by name, or None.
        """
        if "." not in name and "_" not in name:
            return None
        if self._by_metric is None:  # most requests never ask; each later question is one look
            self._by_metric = {
                other.replace(".", "_"): other for other in sorted(self._names, reverse=True)
            }
        other = self._by_metric.get(name.replace(".", "_"))
        return None if other == name else other
