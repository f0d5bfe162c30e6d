"""One entry of the table of operations, and the table.

    @operation("POST", "/groups/{group}/rebalance", summary="Let a group rebalance.", body=Reason)
    def group_rebalance(port, body, group): ...

The table gives the routes, the checks of requests, `/openapi.json`, the commands of `coordinator
ctl` and the methods of the remote kit. An operation's function may be a coroutine, and raises
the kit's own errors. This module must not know a web framework. The operations are in
`operations/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from .client import DEFAULT_LIMIT_S, path_of
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
    """One operation of the control port.

    `summary`: what it does, in a sentence or two, for users: help and `/openapi.json` show it.
    `body`: the class of a request's body, or of its query if the method has no body. `answer`: JSON
    Schema of the answer. `call`: the function that carries it out.

    `waits`: the operation may take long, and is cancelled when its client hangs up. `limit_s`: how
    long a client waits for the answer. `command`: its words in `coordinator ctl`. `tell`: how
    `coordinator ctl` prints the answer: a function, the name of a property of the answer, or "" for
    its property `text` or, if it has none, its first one.
    """

    name: str
    method: str
    path: str
    summary: str
    body: type[Any]
    answer: dict[str, Any]
    call: Callable[..., Any]
    waits: bool
    schema: dict[str, Any] | None
    limit_s: float
    command: tuple[str, ...]
    tell: str | Callable[[Any], str]

    @property
    def tag(self) -> str:
        """The first part of the path; `/openapi.json` groups operations by it."""
        return self.path.split("/")[1] or "port"

    @property
    def judges(self) -> bool:
        """Return True if the answer says whether an assertion `holds`. If it does not hold, the status
        is 409."""
        return "holds" in self.answer.get("properties", {})

    @property
    def parameters(self) -> list[str]:
        """The names in the path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    @property
    def words_of_the_query(self) -> str:
        """A phrase for errors: the names that the query of an operation without a body may have."""
        names = [entry.name for entry in fields(self.body)]
        return f"its query may have: {', '.join(names)}" if names else "nor a query"

    def address(self, places: Mapping[str, object]) -> str:
        """Return the path with the given values in place of its names."""
        parts = self.path.split("/")[1:]
        return path_of(*(places[part[1:-1]] if part.startswith("{") else part for part in parts))

    def told(self, answer: Any) -> str:
        """Return an answer as text."""
        if callable(self.tell):
            return self.tell(answer)
        names = self.answer.get("properties", {})
        shown = self.tell or ("text" if "text" in names else next(iter(names), ""))
        return "" if shown == "done" else str(answer[shown])

    def read_body(self, plain: Any) -> Any:
        """Read a body from JSON. Raises ShapeError."""
        if self.body is Raw:
            if not isinstance(plain, dict):
                raise ShapeError(f"the body: {plain!r}; a JSON object is meant")
            return Raw(plain)
        return read(self.body, plain)

    def read_query(self, given: dict[str, str]) -> Any:
        """Read a query. Raises ShapeError."""
        names = {entry.name: str(entry.type) for entry in fields(self.body)}
        plain: dict[str, Any] = {}
        for name, text in given.items():
            kind = names.get(name, "")
            if kind.startswith("int"):
                digits = text.removeprefix("-")
                plain[name] = int(text) if digits.isdecimal() and len(digits) < 20 else text
            elif kind.startswith("float"):
                plain[name] = _number(text)
            elif kind.startswith("bool"):
                plain[name] = {"true": True, "false": False}.get(text, text)
            else:
                plain[name] = text
        try:
            return read(self.body, plain, "")
        except ShapeError as error:
            raise ShapeError(f"the query: {error}") from None


def _number(text: str) -> float | str:
    """Return a number in a query; other text is returned unchanged, for a later check to refuse."""
    try:
        return float(text) if len(text) < 20 else text
    except ValueError:
        return text


TABLE: dict[str, Operation] = {}


def operation(
    method: str,
    path: str,
    *,
    summary: str,
    body: type[Any] = Nothing,
    answer: dict[str, Any] | None = None,
    waits: bool = False,
    schema: dict[str, Any] | None = None,
    limit_s: float = DEFAULT_LIMIT_S,
    command: str | None = None,
    tell: str | Callable[[Any], str] = "",
) -> Callable[[F], F]:
    """Return a decorator that enters a function into the table under its own name. The words of
    its command follow from the name unless `command` is given."""

    def enter(call: F) -> F:
        name = call.__name__
        assert name not in TABLE, name
        TABLE[name] = Operation(
            name=name,
            method=method,
            path=path,
            summary=summary,
            body=body,
            answer=answer or {"type": "object"},
            call=call,
            waits=waits,
            schema=schema,
            limit_s=limit_s,
            command=tuple((name.replace("_", " ", 1) if command is None else command).split()),
            tell=tell,
        )
        return call

    return enter
