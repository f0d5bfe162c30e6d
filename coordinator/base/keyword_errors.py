"""Errors for keywords that a method does not have, with the nearest that it has.

Python names only the wrong word (`wait() got an unexpected keyword argument 'member'`), and a
test author has mistyped one of a dozen. Does not know what the methods do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from types import FunctionType
from typing import Any, Final, TypeVar

C = TypeVar("C", bound=type)

_UNEXPECTED: Final = "() got an unexpected keyword argument '"
_NEAR: Final = 0.5
_TAKES_ANY_KEYWORD: Final = 0x08
"""`inspect.CO_VARKEYWORDS`: spared, as every start of an emulator would load that module."""


def nearest_keywords(cls: C) -> C:
    """Class decorator: a call of a public method with a keyword that it does not have raises a
    TypeError that names the nearest one, and all that there are."""
    for name, member in list(vars(cls).items()):
        public = name == "__init__" or not name.startswith("_")
        if public and isinstance(member, FunctionType) and _can_be_mistyped(member):
            setattr(cls, name, _checked(member))
    return cls


def _names(function: FunctionType) -> list[str]:
    """Return the keywords that a method takes, without `self`."""
    code = function.__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return list(named[max(code.co_posonlyargcount, 1) :])


def _can_be_mistyped(function: FunctionType) -> bool:
    return bool(_names(function)) and not function.__code__.co_flags & _TAKES_ANY_KEYWORD


def _checked(function: FunctionType) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        try:
            return function(*args, **keywords)
        except TypeError as error:
            own, _, rest = str(error).partition(_UNEXPECTED)
            if not rest or own != function.__qualname__:
                raise
            wrong = rest.partition("'")[0]
        raise TypeError(no_such_keyword(_called(function), wrong, _names(function)))

    return call


def _called(function: FunctionType) -> str:
    name = function.__qualname__
    return name.removesuffix(".__init__") if name.endswith("__init__") else function.__name__


def no_such_keyword(called: str, wrong: str, there: Sequence[str]) -> str:
    """Return the text of the error for a wrong keyword of a function that takes these names."""
    if not there:
        return f"{called} has no {wrong!r}: it takes nothing"
    from difflib import get_close_matches

    close = get_close_matches(wrong, there, 1, _NEAR)
    meant = f"did you mean {close[0]}? It" if close else "it"
    return f"{called} has no {wrong!r}: {meant} takes {', '.join(there)}"
