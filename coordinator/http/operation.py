"""One entry of the table of operations, and the table: what is asked, where, with which body, and
what does it.

    @operation("POST", "/groups/{group}/rebalance", body=Reason)
    def group_rebalance(port, body, group): ...

Routes, checks, `/openapi.json` and the command line's help are read off the table. A function may
be a coroutine; it raises the kit's own errors. It does not depend on a web framework.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from .shapes import ShapeError, read

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Nothing:
    """A body without fields."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A body that has a reader and a schema of its own: a fault, a verb."""

    plain: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`body`: of requests that have one, else what the query may say. `answer`: JSON Schema.
    `waits`: it ends when its client hangs up."""

    name: str
    method: str
    path: str
    body: type[Any]
    answer: dict[str, Any]
    call: Callable[..., Any]
    waits: bool
    schema: dict[str, Any] | None

    @property
    def summary(self) -> str:
        """What it does, in a sentence or two."""
        return " ".join((self.call.__doc__ or "").split())

    @property
    def tag(self) -> str:
        """What it is about: the first part of its path."""
        return self.path.split("/")[1] or "port"

    @property
    def parameters(self) -> list[str]:
        """The names in its path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    def read_body(self, plain: Any) -> Any:
        """The body that this JSON is. Raises ShapeError."""
        if self.body is Raw:
            if not isinstance(plain, dict):
                raise ShapeError(f"the body: {plain!r}; a JSON object is meant")
            return Raw(plain)
        return read(self.body, plain)

    def read_query(self, given: dict[str, str]) -> Any:
        """The query as a value. Raises ShapeError."""
        names = {entry.name: str(entry.type) for entry in fields(self.body)}
        plain: dict[str, Any] = {}
        for name, text in given.items():
            kind = names.get(name, "")
            if kind.startswith("int"):
                digits = text.removeprefix("-")
                plain[name] = int(text) if digits.isdecimal() and len(digits) < 20 else text
            elif kind.startswith("bool"):
                plain[name] = {"true": True, "false": False}.get(text, text)
            else:
                plain[name] = text
        try:
            return read(self.body, plain)
        except ShapeError as error:
            raise ShapeError(f"the query: {error}") from None


TABLE: dict[str, Operation] = {}


def operation(
    method: str,
    path: str,
    *,
    body: type[Any] = Nothing,
    answer: dict[str, Any] | None = None,
    waits: bool = False,
    schema: dict[str, Any] | None = None,
) -> Callable[[F], F]:
    """Enter a function into the table under its own name."""

    def enter(call: F) -> F:
        name = call.__name__
        assert name not in TABLE, name
        TABLE[name] = Operation(
            name=name,
            method=method,
            path=path,
            body=body,
            answer=answer or {"type": "object"},
            call=call,
            waits=waits,
            schema=schema,
        )
        return call

    return enter
