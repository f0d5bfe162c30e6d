"""Methods of the kit that call operations of a control port.

`far(Kit.truncate, "topic_truncate")` is a method with the signature and the docstring of
`Kit.truncate`. Each argument becomes the field of the operation, or the part of its path, that
has its name. Refusals are raised as the kit's own errors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from coordinator.base.errors import ErrorCode
from coordinator.base.keyword_errors import no_such_keyword
from coordinator.members import MemberFault

from ...in_process_requests import ControlError
from ...waits.expectations import partition_of
from ..client import Client, Refused
from ..json_values import from_bytes
from ..problems import STATUSES
from ..table import all_operations

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
_KINDS = {kind.__name__: kind for kind in STATUSES}


class Caller:
    """Calls operations through a `Client`, and raises the errors that the kit would have raised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def control(self, verb: Mapping[str, Any]) -> Any:
        """Send a verb for brokers and return the answer. Unlike `__call__` it also sends fields
        that are None, because in a verb None has a meaning."""
        with _as_here():
            return self._client.post(all_operations()["broker_control"].path, verb)

    def __call__(self, operation: str, /, **words: Any) -> Any:
        """Call an operation and return its answer. `words`: values for the names in its path,
        and for its fields."""
        entry = all_operations()[operation]
        given = {name: _sent(value) for name, value in words.items()}
        path = entry.address({name: given.pop(name) for name in entry.parameters})
        with _as_here():
            return self._client.ask(entry.method, path, given, entry.limit_s)


class Far(Protocol):
    """An object at the other end of the port. `_at`: values for the names in the paths of its
    operations."""

    _caller: Caller
    _at: Mapping[str, Any]


@overload
def far(
    like: Callable[Concatenate[Any, P], R],
    operation: str,
    *,
    check: Callable[..., Mapping[str, Any] | None] | None = None,
    names: Mapping[str, str] | None = None,
) -> Callable[Concatenate[Any, P], R]: ...


@overload
def far(
    like: Callable[Concatenate[Any, P], Any],
    operation: str,
    *,
    read: Callable[[Any, Any], S],
    check: Callable[..., Mapping[str, Any] | None] | None = None,
    names: Mapping[str, str] | None = None,
) -> Callable[Concatenate[Any, P], S]: ...


def far(
    like: Callable[Concatenate[Any, P], Any],
    operation: str,
    *,
    read: Callable[[Any, Any], Any] | None = None,
    check: Callable[..., Mapping[str, Any] | None] | None = None,
    names: Mapping[str, str] | None = None,
) -> Callable[Concatenate[Any, P], Any]:
    """Return a method like `like` that calls an operation. `names`: other names that the
    operation has for arguments; an argument that is no field of the operation fills the next
    free place in its path. `check`: called with all arguments before anything is sent; its
    result replaces them. `read`: function from the object and the answer to the return value;
    without it an answer with one property is that property, and one with `done` is None."""
    entry = all_operations()[operation]
    signature = inspect.signature(like)
    takes_any = any(
        each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.parameters.values()
    )
    other = names or {}
    known = {field.name for field in fields(entry.body)}

    @wraps(like)
    def method(self: Far, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        wrong = next((word for word in kwargs if word not in signature.parameters), None)
        if wrong is not None and not takes_any:
            there = list(signature.parameters)[1:]
            raise TypeError(no_such_keyword(method.__name__, wrong, there))
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        if check is not None:
            given |= check(**given) or {}
        free = [name for name in entry.parameters if name not in self._at]
        words = {
            name if name in known else free.pop(0): value
            for name, value in ((other.get(name, name), value) for name, value in given.items())
        }
        answer = self._caller(operation, **self._at, **words)
        if read is not None:
            return read(self, answer)
        (value,) = answer.values()
        return None if "done" in answer else value

    return method


class Look(Generic[R]):
    """A property that is fetched anew each time, from the answer of the object's `describe`
    operation."""

    def __init__(self, read: Callable[[Any], R], like: object) -> None:
        self._read = read
        self.__doc__ = like.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> R:
        if instance is None:
            return self  # type: ignore[return-value]
        return self._read(instance.now()[self._name])


class Ends:
    """An object at the other end that can be stopped; the end of a `with` block stops it."""

    def stop(self) -> None:
        """Stop the object at the other end."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _sent(value: Any) -> Any:
    """Return a value of the kit as JSON: bytes that are not text in base64, partitions by name."""
    if isinstance(value, bytes):
        return from_bytes(value)
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    if isinstance(value, Mapping):
        return {_key(key): _sent(each) for key, each in value.items()}
    if isinstance(value, tuple) and len(value) == 2 and type(value[1]) is int:
        return _key(value)
    return [_sent(each) for each in value]


def _key(key: Any) -> str:
    if not isinstance(key, tuple) and not hasattr(key, "topic"):
        return str(key)
    topic, index = partition_of(key)
    return f"{topic}-{index}"


@contextmanager
def _as_here() -> Iterator[None]:
    try:
        yield
    except Refused as refused:
        raise error_of(refused) from None


def error_of(refused: Refused) -> BaseException:
    """Return the kit's error for a problem document; ControlError for problems that are not the
    kit's."""
    text, kind = str(refused), _KINDS.get(refused.error)
    code = None if refused.kafka_error is None else ErrorCode[refused.kafka_error]
    if kind is MemberFault:
        return MemberFault(text, code)
    if kind is None or kind is ControlError:
        return ControlError(text, code)
    return kind(text)
