"""Modules of messages that share a file with others now: each can be imported by its former name, with
a warning, for one version. Loaded when such a name is asked for.

A former name is that of its API, as in `create_topics`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Protocol

_PACKAGE = "coordinator.wire.messages"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


class Api(Protocol):
    """An API: its name as in the protocol, and the module that has its messages."""

    @property
    def name(self) -> str: ...
    @property
    def module(self) -> str: ...


def former_modules(apis: Iterable[Api]) -> dict[str, Api]:
    """Former name -> the API that it had the messages of."""
    named = {_WORD.sub("_", api.name).lower(): api for api in apis}
    return {name: api for name, api in named.items() if api.module != name}


def spec_of(name: str, apis: Iterable[Api]) -> ModuleSpec | None:
    """How to import a former module; None if there was none of that name."""
    api = former_modules(apis).get(name)
    return None if api is None else ModuleSpec(f"{_PACKAGE}.{name}", _Former(api))


class _Former(Loader):
    def __init__(self, api: Api) -> None:
        self._api = api

    def exec_module(self, module: ModuleType) -> None:
        now = f"{_PACKAGE}.{self._api.module}"
        warnings.warn(
            f"{module.__name__} is a part of {now} now; this name goes with the next version",
            DeprecationWarning,
            stacklevel=2,
        )
        found = import_module(now)
        for name, value in vars(found).items():
            if not name.startswith("_"):
                for known in (name, *self._short(name)):
                    module.__dict__.setdefault(known, value)

    def _short(self, name: str) -> Iterator[str]:
        """The name of a class while its API was alone in its file: two APIs of one file have
        parts of the same name, such as `TransactionState`."""
        api = self._api.name
        for prefix in (api, api.replace("ShareGroup", "")):
            if name.startswith(prefix) and name != prefix:
                yield name.removeprefix(prefix)
