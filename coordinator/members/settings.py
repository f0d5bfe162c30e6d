"""Settings by Kafka's names as fields of dataclasses: declared once, parsed from text or values,
validated. Does not know what the settings mean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, fields
from difflib import get_close_matches
from typing import Any, ClassVar, Final, Protocol, TypeVar

from .config import MemberConfigError

TEXT: Final = "text"
FLAG: Final = "true or false"
WHOLE: Final = "whole number"


class _Settings(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=_Settings)


def setting(
    name: str, kind: str, default: Any, *, least: int = 0, words: tuple[str, ...] = ()
) -> Any:
    """Return a field of a settings class. `least`: minimum of a number; `words`: allowed texts."""
    return field(
        default=default, metadata={"name": name, "kind": kind, "least": least, "words": words}
    )


def names(settings: type[_Settings]) -> frozenset[str]:
    """Return Kafka's names of all settings of a class."""
    return frozenset(entry.metadata["name"] for entry in fields(settings))


def from_properties(settings: type[T], properties: Mapping[str, object], of: str) -> T:
    """Return an instance from Kafka's names. `of`: whose settings these are, for errors. Raises
    MemberConfigError.
    """
    known = {entry.metadata["name"]: entry for entry in fields(settings)}
    values: dict[str, Any] = {}
    for name, value in properties.items():
        if name not in known:
            close = get_close_matches(name, known, 1)
            right = f"{close[0]} is" if close else f"there are {', '.join(known)}"
            raise MemberConfigError(f"{name} is no setting of {of}: {right}")
        values[known[name].name] = _read(name, known[name].metadata, value)
    return settings(**values)


def _read(name: str, about: Mapping[str, Any], value: object) -> object:
    text = str(value).strip()
    if about["kind"] == WHOLE:
        if (
            isinstance(value, bool)
            or not re.fullmatch(r"-?\d{1,10}", text)
            or not about["least"] <= int(text) < 1 << 31
        ):
            raise MemberConfigError(
                f"{name} = {text}: give a whole number from {about['least']} to {(1 << 31) - 1}"
            )
        return int(text)
    if about["kind"] == FLAG:
        if text.lower() not in ("true", "false"):
            raise MemberConfigError(f"{name} = {text}: true or false")
        return text.lower() == "true"
    if about["words"] and text not in about["words"]:
        raise MemberConfigError(f"{name} = {text}: one of {', '.join(about['words'])}")
    return None if value is None else text
