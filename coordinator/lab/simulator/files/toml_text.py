"""Writes scenario files: plain values as TOML, with tables and arrays of tables as scenarios
have them."""

from __future__ import annotations

import json
import re
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(raw: dict[str, Any]) -> str:
    """Return a scenario's values as a file's text: plain keys first, then tables, then arrays of
    tables."""
    lines = [f"{_key(key)} = {_value(value)}" for key, value in raw.items() if not _is_table(value)]
    for key, value in raw.items():
        if isinstance(value, dict):
            lines += [
                "",
                f"[{_key(key)}]",
                *(f"{_key(inner)} = {_value(each)}" for inner, each in value.items()),
            ]
        elif _is_table(value):
            for element in value:
                lines += [
                    "",
                    f"[[{_key(key)}]]",
                    *(f"{_key(inner)} = {_value(each)}" for inner, each in element.items()),
                ]
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
    )


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return (
            f"{{ {', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in value.items())} }}"
            if value
            else "{}"
        )
    return repr(value)
