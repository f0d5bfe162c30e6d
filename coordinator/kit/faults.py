"""Faults of requests, as data: which requests, what happens to them, how often.

    Fault(Selector(api="OffsetCommit", group="billing"), Fail(ErrorCode.REBALANCE_IN_PROGRESS), times=1)

Owns the words and their checks: every value that cannot be is refused when the fault is made, with
what exists instead. `to_plain` and `from_plain` are the same as JSON values, for scenario files and
HTTP. It does not depend on brokers: who carries a fault out is `engine`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, ClassVar, get_args

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages import API_KEYS

from .real_errors import ghost, improbable

API_NAMES: dict[str, int] = {name: key for key, name in API_KEYS.items()}
"""Kafka's names of its APIs, such as OffsetCommit, and their keys."""

PHASES: dict[str, str] = {
    "empty": "Empty",
    "joining": "PreparingRebalance",
    "syncing": "CompletingRebalance",
    "stable": "Stable",
    "dead": "Dead",
    "assigning": "Assigning",
    "reconciling": "Reconciling",
}
"""Phases of a group that a fault can name: a short word and the states, as Kafka spells them,
that it stands for."""


class FaultError(ValueError):
    """A fault is impossible; the message names the wrong argument, and the values that are
    right."""


def choose(word: object, known: Iterable[str], what: str) -> str:
    """Return the known word that is meant, in any case of letters. Raises FaultError, which
    names the closest ones."""
    options = list(known)
    if not isinstance(word, str):
        raise FaultError(f"{word!r} is no {what}: give a text")
    for option in options:
        if option.lower() == word.lower():
            return option
    close = get_close_matches(word, options, 3) or get_close_matches(
        word.lower(), [option.lower() for option in options], 3
    )
    names = [option for option in options if option in close or option.lower() in close] or sorted(
        options
    )[:12]
    raise FaultError(
        f"{word!r} is no {what}: {'such as ' if not close else 'did you mean '}{', '.join(names)}{'' if close else ', ...'}"
    )


def api_name(word: str) -> str:
    """Return an API's name as Kafka spells it, for any case of letters, with underscores or
    without. Raises FaultError."""
    return choose(word.replace("_", ""), API_NAMES, "API")


def error_code(word: str | int) -> ErrorCode:
    """Return Kafka's error for a name or number. Raises FaultError."""
    if isinstance(word, int) and not isinstance(word, bool):
        try:
            return ErrorCode(word)
        except ValueError:
            raise FaultError(
                f"{word} is no error code of Kafka: they go from -1 to {max(ErrorCode)}"
            ) from None
    return ErrorCode[choose(word, ErrorCode.__members__, "error of Kafka")]


_NUMBERS = frozenset({"partition", "generation", "broker", "offset", "delivery"})


@dataclass(frozen=True, slots=True)
class Selector:
    """Selects requests. A field that is None selects all; a request must fit every field that is
    given.

    `api`: Kafka's name of the API. `member`: a member id or the beginning of one. `partition`
    needs `topic`. `generation`: the generation in the request (in a KIP-848 group the member
    epoch). `broker`: the node that received the request. `phase`: the group's state when the
    request arrives. Requests that name no group (Fetch, Produce) fit `group` if a member of the
    group has their client id. `offset`, with `topic` and `partition`, is a record of a share
    group: it selects requests that acknowledge the record or, with `delivery`, responses that
    return the record with this delivery count.
    """

    api: str | None = None
    group: str | None = None
    topic: str | None = None
    partition: int | None = None
    member: str | None = None
    client_id: str | None = None
    instance_id: str | None = None
    transactional_id: str | None = None
    generation: int | None = None
    broker: int | None = None
    phase: str | None = None
    offset: int | None = None
    delivery: int | None = None

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            kind = int if entry.name in _NUMBERS else str
            if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
                raise FaultError(
                    f"{entry.name}: {value!r} is no {'whole number' if kind is int else 'text'}"
                )
            if value == "" and entry.name not in ("api", "phase"):
                raise FaultError(f"{entry.name}: '' names none; leave it out for any")
        if self.api is not None:
            object.__setattr__(self, "api", api_name(self.api))
        if self.phase is not None:
            word = choose(self.phase, [*PHASES, *PHASES.values()], "phase of a group")
            object.__setattr__(self, "phase", PHASES.get(word, word))
        if self.generation is not None and self.generation < -2:
            raise FaultError(
                f"generation: {self.generation}; generations count from 0; -1 and -2 mean that a member has none, or leaves"
            )
        if self.partition is not None and self.topic is None:
            raise FaultError(f"partition {self.partition}: of which topic? Give topic too")
        if self.offset is not None and (self.offset < 0 or self.partition is None):
            raise FaultError(
                f"offset {self.offset}: a record is one from 0 on, of a topic and partition that are given too"
            )
        if self.delivery is not None and (self.delivery < 1 or self.offset is None):
            raise FaultError(
                f"delivery {self.delivery}: deliveries count from 1, of a record: give topic, partition and offset too"
            )

    def __str__(self) -> str:
        given = {
            entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "api"
        }
        parts = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
        return f"{self.api or 'every request'}{' of ' + parts if parts else ''}"


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with an error, at its place in the response. The failed items are not carried out;
    other items of the request are."""

    error: ErrorCode
    kind: ClassVar[str] = "fail"

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", error_code(self.error))
        if self.error is ErrorCode.NONE:
            raise FaultError("NONE is no error to fail with")

    def __str__(self) -> str:
        return f"fail with {self.error.name}"


@dataclass(frozen=True, slots=True)
class Delay:
    """Handle the request, or send its response, `duration_ms` later. Later requests on the
    connection wait, too."""

    duration_ms: int
    answer: bool = False
    kind: ClassVar[str] = "delay"

    def __post_init__(self) -> None:
        _check_ms(self.duration_ms)

    def __str__(self) -> str:
        return f"delay {'the answer ' if self.answer else ''}by {self.duration_ms} ms"


@dataclass(frozen=True, slots=True)
class Hold:
    """Hold the request until it is released."""

    kind: ClassVar[str] = "hold"

    def __str__(self) -> str:
        return "hold until released"


@dataclass(frozen=True, slots=True)
class LoseRequest:
    """Lose the request: it is neither handled nor answered."""

    kind: ClassVar[str] = "lose_request"

    def __str__(self) -> str:
        return "lose the request"


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """Handle the request and lose the response."""

    kind: ClassVar[str] = "lose_answer"

    def __str__(self) -> str:
        return "lose the answer"


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Cut the connection before the request is handled or, after that, instead of the response."""

    after: bool = False
    kind: ClassVar[str] = "disconnect"

    def __str__(self) -> str:
        return f"cut the connection {'after' if self.after else 'before'} handling"


@dataclass(frozen=True, slots=True)
class Garble:
    """Damage the bytes of the response's body; the frame stays valid."""

    kind: ClassVar[str] = "garble"

    def __str__(self) -> str:
        return "garble the answer"


@dataclass(frozen=True, slots=True)
class DuplicateAnswer:
    """Send the response twice, one right after the other."""

    kind: ClassVar[str] = "duplicate_answer"

    def __str__(self) -> str:
        return "write the answer twice"


@dataclass(frozen=True, slots=True)
class Throttle:
    """Answer that the client is throttled for so long (throttle_time_ms, KIP-219)."""

    duration_ms: int
    kind: ClassVar[str] = "throttle"

    def __post_init__(self) -> None:
        _check_ms(self.duration_ms)

    def __str__(self) -> str:
        return f"throttle for {self.duration_ms} ms"


@dataclass(frozen=True, slots=True)
class Observe:
    """Only count the requests."""

    kind: ClassVar[str] = "observe"

    def __str__(self) -> str:
        return "observe"


Action = (
    Fail
    | Delay
    | Hold
    | LoseRequest
    | LoseAnswer
    | DuplicateAnswer
    | Disconnect
    | Garble
    | Throttle
    | Observe
)
ACTIONS: dict[str, type[Action]] = {action.kind: action for action in get_args(Action)}
_OF_REQUESTS: tuple[type[Action], ...] = (Fail, Hold, LoseRequest)
"""Actions that take place when the request arrives."""


def acts_on_answers(action: Action) -> bool:
    """Return True if the action takes place when the response exists, not when the request
    arrives."""
    if isinstance(action, Delay):
        return action.answer
    if isinstance(action, Disconnect):
        return action.after
    return not isinstance(action, _OF_REQUESTS)


def _check_ms(value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
        raise FaultError(
            f"duration_ms: {value!r} is no length of time: give whole milliseconds from 0 to {(1 << 31) - 1}"
        )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: selected requests, from the `nth` on, at most `times` (None: all), each with a
    probability, meet an action. `may_miss`: a test does not fail if no request meets it.
    `missing_ok`: the topic or partition need not exist yet; otherwise an unknown name is
    refused, except for CreateTopics, Metadata and DescribeTopicPartitions, which ask about such
    names. `any_error`: use the error although no broker returns it for this API."""

    selector: Selector = field(default_factory=Selector)
    action: Action = field(default_factory=Observe)
    nth: int = 1
    times: int | None = None
    probability: float = 1.0
    name: str = ""
    may_miss: bool = False
    missing_ok: bool = False
    any_error: bool = False

    def __post_init__(self) -> None:
        if not _is_count(self.nth):
            raise FaultError(f"nth: {self.nth!r}; requests are counted from 1")
        if self.times is not None and not _is_count(self.times):
            raise FaultError(f"times: {self.times!r}; at least 1, or none for every request")
        for word in ("may_miss", "missing_ok", "any_error"):
            if not isinstance(getattr(self, word), bool):
                raise FaultError(f"{word}: {getattr(self, word)!r}; true or false")
        name: object = self.name
        if not isinstance(name, str):
            raise FaultError(
                f"name: {name!r}; a text is meant, which errors and the log call it by"
            )
        chance: object = self.probability
        if not isinstance(chance, int | float) or isinstance(chance, bool) or not 0 < chance <= 1:
            raise FaultError(f"probability: {self.probability!r}; above 0, at most 1")
        if self.selector.delivery is not None and not acts_on_answers(self.action):
            kinds = [kind for kind, action in ACTIONS.items() if action not in _OF_REQUESTS]
            raise FaultError(
                f"delivery {self.selector.delivery}: the delivery count is in the answer, so only faults of answers can select by it: "
                f"{', '.join(kinds)} (delay and disconnect: of the answer)"
            )

    def __str__(self) -> str:
        often = "" if self.times is None else f", {self.times} time{'s' if self.times > 1 else ''}"
        nth = f", from request {self.nth} on" if self.nth > 1 else ""
        chance = "" if self.probability == 1 else f", with probability {self.probability:g}"
        told = (self.improbable, ghost(self.selector.api, getattr(self.action, "error", None)))
        advice = "".join(f" ({text})" for text in told if text)
        return f"{self.name + ': ' if self.name else ''}{self.selector}: {self.action}{nth}{often}{chance}{advice}"

    @property
    def improbable(self) -> str:
        """Return why no broker returns this error for the API; "" if one does, or with
        `any_error`."""
        error = getattr(self.action, "error", None)
        return "" if self.any_error else improbable(self.selector.api, error)


def to_plain(fault: Fault) -> dict[str, Any]:
    """Return a fault as JSON values, without fields that have their default."""
    plain: dict[str, Any] = {"action": fault.action.kind}
    for entry in fields(fault.action):
        value = getattr(fault.action, entry.name)
        plain[entry.name] = value.name if isinstance(value, ErrorCode) else value
    for entry in fields(fault.selector):
        value = getattr(fault.selector, entry.name)
        if value is not None:
            plain[entry.name] = value
    for entry in fields(fault):
        if entry.name in _OWN and getattr(fault, entry.name) != entry.default:
            plain[entry.name] = getattr(fault, entry.name)
    return plain


_OWN = ("nth", "times", "probability", "name", "may_miss", "missing_ok", "any_error")
_SELECTORS = tuple(entry.name for entry in fields(Selector))
_ARGUMENTS = tuple(entry.name for kind in ACTIONS.values() for entry in fields(kind))
KEYS = ("action", *_ARGUMENTS, *_SELECTORS, *_OWN)
"""All keys that a fault of requests may have as JSON values."""


def from_plain(plain: Mapping[str, Any]) -> Fault:
    """Read a fault from JSON values. Raises FaultError for a wrong key or value."""
    if "action" not in plain:
        for key in plain:
            choose(key, KEYS, "key of a fault")
        raise FaultError(f"action is missing: one of {', '.join(ACTIONS)}")
    kind = ACTIONS[choose(str(plain["action"]), ACTIONS, "action")]
    arguments = tuple(entry.name for entry in fields(kind))
    known = ("action", *arguments, *_SELECTORS, *_OWN)
    for key in plain:
        if key not in known:
            choose(key, known, f"key of a fault that does {kind.kind}")
            raise FaultError(f"{key!r}: keys are written in lower case")
    missing = [
        entry.name
        for entry in fields(kind)
        if entry.name not in plain and entry.name in ("error", "duration_ms")
    ]
    if missing:
        raise FaultError(f"{missing[0]} is missing: {kind.kind} needs it")
    action = kind(**{name: plain[name] for name in arguments if name in plain})
    selector = Selector(**{name: plain[name] for name in _SELECTORS if name in plain})
    return Fault(selector, action, **{name: plain[name] for name in _OWN if name in plain})
