"""What may be a topic's name, and why not (Kafka's texts)."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_LENGTH = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+\Z")


def why_invalid(name: str) -> str | None:
    """Kafka's message if `name` cannot be a topic's name, else None (error 17)."""
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


def colliding(name: str, existing: Iterable[str]) -> str | None:
    """An existing topic whose name differs from `name` only in dots and underscores: both would be the same metric's name."""
    if "." not in name and "_" not in name:
        return None
    flat = name.replace(".", "_")
    return min((other for other in existing if other != name and other.replace(".", "_") == flat), default=None)
