"""Configuration of a member: the Java consumer's names and defaults (CLI-1), and its validation.

Owns the table of names, parsing, and the checks between settings. Keys that concern only
fetching and security are unknown here. An unknown name is refused, because an ignored typing
error costs an afternoon.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, Self

from assignors import Assignor, by_name

_INSTANCE_ID: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_DEFAULT_ASSIGNORS: Final = ("range", "cooperative-sticky")
_TEXT, _BOOL, _MS, _LIST = "text", "true or false", "milliseconds", "list"
COUNT: Final = "count"
CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
_CLASSIC_ONLY: Final = (
    "partition.assignment.strategy",
    "session.timeout.ms",
    "heartbeat.interval.ms",
)
"""Settings a coordinator decides in the consumer protocol; Java refuses to be told."""
_MAY_BE_ZERO: Final = frozenset(
    {
        "retry_backoff_ms",
        "retry_backoff_max_ms",
        "metadata_max_age_ms",
        "auto_commit_interval_ms",
    }
)
_ISOLATION: Final = ("read_uncommitted", "read_committed")


class NotOwnedError(KeyError):
    """Error for a partition that the member does not own."""

    def __str__(self) -> str:
        return str(self.args[0])


class MemberConfigError(ValueError):
    """Error for an invalid setting; the message says what would be right."""


def setting(name: str, kind: str, default: Any) -> Any:
    """Return a field of a configuration: Kafka's name, the kind of value, and the default."""
    return field(default=default, metadata={"name": name, "kind": kind})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberConfig:
    """Settings of one member. Durations are milliseconds. Raises MemberConfigError for invalid
    values.
    """

    group_id: str = setting("group.id", _TEXT, "")
    client_id: str = setting("client.id", _TEXT, "")
    group_instance_id: str | None = setting("group.instance.id", _TEXT, None)
    group_protocol: str = setting("group.protocol", _TEXT, CLASSIC)
    group_remote_assignor: str | None = setting("group.remote.assignor", _TEXT, None)
    """The assignor that the coordinator shall run (KIP-848); None: its default."""
    client_rack: str = setting("client.rack", _TEXT, "")
    assignors: tuple[str | Callable[[], Assignor], ...] = setting(
        "partition.assignment.strategy", _LIST, _DEFAULT_ASSIGNORS
    )
    """Names as `assignors.by_name` takes them, or what makes an assignor, such as its class."""
    session_timeout_ms: int = setting("session.timeout.ms", _MS, 45_000)
    heartbeat_interval_ms: int = setting("heartbeat.interval.ms", _MS, 3_000)
    max_poll_interval_ms: int = setting("max.poll.interval.ms", _MS, 300_000)
    request_timeout_ms: int = setting("request.timeout.ms", _MS, 30_000)
    default_api_timeout_ms: int = setting("default.api.timeout.ms", _MS, 60_000)
    retry_backoff_ms: int = setting("retry.backoff.ms", _MS, 100)
    retry_backoff_max_ms: int = setting("retry.backoff.max.ms", _MS, 1_000)
    metadata_max_age_ms: int = setting("metadata.max.age.ms", _MS, 300_000)
    enable_auto_commit: bool = setting("enable.auto.commit", _BOOL, True)
    auto_commit_interval_ms: int = setting("auto.commit.interval.ms", _MS, 5_000)
    allow_auto_create_topics: bool = setting("allow.auto.create.topics", _BOOL, True)
    exclude_internal_topics: bool = setting("exclude.internal.topics", _BOOL, True)
    isolation_level: str = setting("isolation.level", _TEXT, "read_uncommitted")
    leave_group_on_close: bool = setting("internal.leave.group.on.close", _BOOL, True)

    @classmethod
    def from_properties(cls, properties: Mapping[str, object] | Iterable[str]) -> Self:
        """Create a configuration from Kafka's names: a mapping, or texts such as
        "session.timeout.ms=6000".
        """
        if not isinstance(properties, Mapping):
            properties = dict(_pair(text) for text in properties)
        values = read_settings(cls, properties, "a member")
        told = [name for name in _CLASSIC_ONLY if name in properties]
        if told and str(values.get("group_protocol", CLASSIC)).lower() == CONSUMER:
            raise MemberConfigError(
                f"{told[0]} cannot be set with group.protocol=consumer: the coordinator decides it"
            )
        return cls(**values)

    def __post_init__(self) -> None:
        if not self.group_id:
            raise MemberConfigError("group.id is missing: a member belongs to a group")
        instance = self.group_instance_id
        if instance is not None and (
            not _INSTANCE_ID.fullmatch(instance) or instance in (".", "..")
        ):
            raise MemberConfigError(
                f"group.instance.id {instance!r} is none: 1 to 249 of a-z A-Z 0-9 . _ - (and not . or ..)"
            )  # VER-17
        if self.group_protocol.lower() not in (CLASSIC, CONSUMER):
            raise MemberConfigError(
                f"group.protocol {self.group_protocol!r} is none of {CLASSIC}, {CONSUMER}"
            )
        if self.group_remote_assignor is not None and not self.speaks_consumer:
            raise MemberConfigError(
                "group.remote.assignor cannot be set with group.protocol=classic: the leader of the group assigns"
            )
        kind: Any = type(self)
        for name, setting, least in _durations(kind):
            if getattr(self, name) < least:
                raise MemberConfigError(f"{setting} {getattr(self, name)}: at least {least}")
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            pair = f"heartbeat.interval.ms {self.heartbeat_interval_ms}, session.timeout.ms {self.session_timeout_ms}"
            raise MemberConfigError(
                f"{pair}: the first must be lower, a third of the second is usual"
            )
        if self.isolation_level not in _ISOLATION:
            raise MemberConfigError(
                f"isolation.level {self.isolation_level!r} is none of {', '.join(_ISOLATION)}"
            )
        if not self.assignors:
            raise MemberConfigError(
                "partition.assignment.strategy is empty: name at least one assignor, such as range"
            )
        if len(set(self.assignors)) < len(self.assignors):
            raise MemberConfigError(
                f"partition.assignment.strategy names one twice: {', '.join(map(str, self.assignors))}"
            )

    def make_assignors(self) -> tuple[Assignor, ...]:
        """Return new assignors for one member, in the order of the list, which is its order of
        preference.
        """
        made = []
        for name in self.assignors:
            try:
                made.append(by_name(name) if isinstance(name, str) else name())
            except (
                Exception
            ) as error:  # a user's class may fail in any way while it is found and made
                raise MemberConfigError(
                    f"partition.assignment.strategy: {name}: {error}"
                ) from error
        names = [assignor.name for assignor in made]
        if len(set(names)) < len(names):
            raise MemberConfigError(
                f"partition.assignment.strategy: two assignors are called alike: {', '.join(names)}"
            )
        return tuple(made)

    def having(self, **values: Any) -> Self:
        """Return a copy with other values, by attribute name."""
        return replace(self, **values)

    @property
    def speaks_consumer(self) -> bool:
        """True if the group protocol is KIP-848's."""
        return self.group_protocol.lower() == CONSUMER

    @property
    def rack(self) -> str | None:
        """The value of client.rack, or None if it is empty."""
        return self.client_rack or None


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise MemberConfigError(
            f"{text!r} is no setting: write name=value, such as session.timeout.ms=6000"
        )
    return name.strip(), value.strip()


@cache
def _settings(config: Any) -> dict[str, Any]:
    """Return the fields of a configuration by Kafka's names."""
    return {entry.metadata["name"]: entry for entry in fields(config)}


@cache
def _durations(config: Any) -> list[tuple[str, str, int]]:
    """Return field, Kafka's name and minimum of each duration of a configuration."""
    return [
        (entry.name, entry.metadata["name"], 0 if entry.name in _MAY_BE_ZERO else 1)
        for entry in fields(config)
        if entry.metadata["kind"] == _MS
    ]


def read_settings(config: Any, properties: Mapping[str, object], of: str) -> dict[str, Any]:
    """Parse the values of a configuration's fields, by attribute name, from Kafka's names. Raises
    MemberConfigError.
    """
    known = _settings(config)
    values: dict[str, Any] = {}
    for name, value in properties.items():
        if name not in known:
            close = get_close_matches(str(name), known, 1)
            raise MemberConfigError(
                f"{name} is no setting of {of}{f': {close[0]} is' if close else ''}"
            )
        entry = known[name]
        values[entry.name] = _read(name, entry.metadata["kind"], value)
    return values


def _read(name: str, kind: str, value: object) -> object:
    text = str(value).strip()
    if kind in (_MS, COUNT):
        unit = " of milliseconds" if kind == _MS else ""
        if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,10}", text):
            raise MemberConfigError(
                f"{name} {text!r} is no whole number{unit}, of at most {(1 << 31) - 1}"
            )
        if int(text) >= 1 << 31:
            raise MemberConfigError(f"{name} {text}: at most {(1 << 31) - 1}")
        return int(text)
    if kind == _BOOL:
        if text.lower() not in ("true", "false"):
            raise MemberConfigError(f"{name} {text!r}: true or false")
        return text.lower() == "true"
    if kind == _LIST:
        parts = (
            text.split(",")
            if isinstance(value, str)
            else list(value)
            if isinstance(value, Iterable)
            else [value]
        )
        return tuple(
            part
            for part in (part.strip() if isinstance(part, str) else part for part in parts)
            if part
        )
    return None if value is None else text
