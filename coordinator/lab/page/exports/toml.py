"""Values as TOML, for scenario files with texts from clients: every text is quoted, whatever it
contains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_ESCAPED = re.compile(r'[\x00-\x1f"\\\x7f\ud800-\udfff]')


def text(given: str) -> str:
    """Return a basic string. Lone surrogates, which no file can contain, become U+FFFD."""
    return f'"{_ESCAPED.sub(_escape, given)}"'


def _escape(found: re.Match[str]) -> str:
    letter = found[0]
    if "\ud800" <= letter <= "\udfff":
        return "\ufffd"
    return f"\\{letter}" if letter in '"\\' else f"\\u{ord(letter):04x}"


def value(given: Any) -> str:
    """Return a number, text, list or inline table."""
    if isinstance(given, str):
        return text(given)
    if isinstance(given, Mapping):
        return (
            "{ " + ", ".join(f"{text(key)} = {value(each)}" for key, each in given.items()) + " }"
            if given
            else "{}"
        )
    if isinstance(given, list | tuple):
        return f"[{', '.join(map(value, given))}]"
    return repr(given).lower() if isinstance(given, bool) else repr(given)


def table(header: str, rows: Mapping[str, Any]) -> str:
    """Return a table with its header, such as `[topics]`; without a header, keys for the top of
    a file."""
    lines = [
        f"{key if re.fullmatch(r'[A-Za-z_]+', key) else text(key)} = {value(each)}"
        for key, each in rows.items()
    ]
    return "\n".join([header, *lines] if header else lines)
