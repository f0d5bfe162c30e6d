"""Handlers of lines by the class of their events.

    class Leaders(Reader):
        def __init__(self) -> None:
            self.leader: dict[str, str] = {}

        @on(LeaderElected)
        def _elected(self, line: Line, event: LeaderElected) -> None:
            self.leader[line.group or ""] = event.member_id

    leaders = Leaders()
    for line in lines:
        leaders.see(line)

A class has one handler for an event's class; a subclass may have another one. Events of classes without
a handler are not even made from their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, TypeVar, overload

from .line import Line
from .vocabulary import TYPES

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
R = TypeVar("R")
S = TypeVar("S")
Handler = Callable[[S, Line, A], R]
_MARK: Final = "handles"


@overload
def on(a: type[A], /) -> Callable[[Handler[S, A, R]], Handler[S, A, R]]: ...
@overload
def on(a: type[A], b: type[B], /) -> Callable[[Handler[S, A | B, R]], Handler[S, A | B, R]]: ...
@overload
def on(
    a: type[A], b: type[B], c: type[C], /
) -> Callable[[Handler[S, A | B | C, R]], Handler[S, A | B | C, R]]: ...
@overload
def on(
    a: type[A], b: type[B], c: type[C], d: type[D], /
) -> Callable[[Handler[S, A | B | C | D, R]], Handler[S, A | B | C | D, R]]: ...
@overload
def on(*kinds: type[Any]) -> Callable[[Handler[S, Any, R]], Handler[S, Any, R]]: ...


def on(*kinds: type[Any]) -> Callable[[Any], Any]:
    """Register a method as the handler of events of these classes. It is called with the line and
    its event."""

    def mark(method: Any) -> Any:
        setattr(method, _MARK, (*getattr(method, _MARK, ()), *kinds))
        return method

    return mark


def kinds_of(*streams: str) -> tuple[type[Any], ...]:
    """Return the classes of all events of these streams, for a handler that looks at each of
    them."""
    return tuple(dict.fromkeys(each.kind for each in TYPES.values() if each.stream in streams))


class Reader:
    """The base class of readers that handle lines by the class of their event. Call `see` with each
    line in order.
    """

    handlers: ClassVar[Mapping[type[Any], Callable[[Any, Line, Any], Any]]] = {}
    """The handler of each class of events, made from the methods that `on` has marked."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        found: dict[type[Any], Callable[[Any, Line, Any], Any]] = {}
        for base in reversed(cls.__mro__):
            for method in vars(base).values():
                for kind in getattr(method, _MARK, ()):
                    found[kind] = method
        cls.handlers = found

    def see(self, line: Line) -> object:
        """Call the handler of the line's event, if there is one. Raises LogError for an event that
        cannot be read."""
        handler = self.handlers.get(line.kind)
        return None if handler is None else handler(self, line, line.event)
