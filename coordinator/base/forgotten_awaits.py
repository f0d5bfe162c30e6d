"""Detection of asynchronous calls that are never awaited, while a `Watch` is active.

Python warns of such a call when it collects the coroutine, some time later. A test passes
meanwhile, and has waited for nothing; so the pytest plugin watches
(`coordinator.testing.plugin`). Does not know what is called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from functools import wraps
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple, TypeVar

C = TypeVar("C", bound=type)
T = TypeVar("T")

_COROUTINE: Final = 0x80
"""`inspect.CO_COROUTINE`: spared, as every start of an emulator would load that module."""
_WRAPPERS: Final = {__name__, "coordinator.base.keyword_errors"}


class Call(NamedTuple):
    """A call: the coroutine that it returned, its name, and the line outside of this distribution
    that made it.
    """

    coroutine: Coroutine[Any, Any, Any]
    name: str
    file: str
    line: int


class Watch:
    """A recorder of the calls between `begin` and `end`. Watches may be nested; the inner one gets
    the calls.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def begin(self) -> None:
        """Start recording."""
        _watching.append(self)

    def end(self) -> None:
        """Stop recording, and drop the recorded calls."""
        _watching.remove(self)
        self.calls.clear()


_watching: list[Watch] = []


def noted(coroutine: Coroutine[Any, Any, T], name: str) -> Coroutine[Any, Any, T]:
    """Return the coroutine, after recording the call with the active watch, if there is one."""
    if _watching:
        _watching[-1].calls.append(_call(coroutine, name))
    return coroutine


def await_is_watched(cls: C) -> C:
    """Class decorator, outside of `nearest_keywords`: record calls of public asynchronous methods."""
    for name, member in list(vars(cls).items()):
        inner = getattr(member, "__wrapped__", member)
        public = isinstance(member, FunctionType) and not name.startswith("_")
        if public and isinstance(inner, FunctionType) and inner.__code__.co_flags & _COROUTINE:
            setattr(cls, name, _watched(member, inner.__qualname__))
    return cls


def _watched(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(method)
    def call(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        return noted(method(*args, **keywords), name)

    return call


def _call(coroutine: Coroutine[Any, Any, Any], name: str) -> Call:
    frame = sys._getframe(2)
    outermost: CodeType | None = None
    while _is_ours(module := frame.f_globals.get("__name__", "")) and frame.f_back is not None:
        if module not in _WRAPPERS:
            outermost = frame.f_code
        frame = frame.f_back
    known = name if outermost is None else outermost.co_qualname
    return Call(coroutine, known, frame.f_code.co_filename, frame.f_lineno)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("coordinator", "assignors")
