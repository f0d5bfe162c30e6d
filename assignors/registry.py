"""Lookup of an assignor by its name.

Owns the names that partition.assignment.strategy accepts: short names, Java's class names, and
`module:Class` for an assignor of one's own. Every call makes a new instance, because assignors
are stateful (STK-6). Does not depend on the caller.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import cast

from assignors.errors import AssignorError
from assignors.model import Assignor, RebalanceProtocol

_BUILT_IN = {
    "range": ("assignors.range_assignor:RangeAssignor", "RangeAssignor"),
    "roundrobin": ("assignors.roundrobin_assignor:RoundRobinAssignor", "RoundRobinAssignor"),
    "sticky": ("assignors.sticky_assignor:StickyAssignor", "StickyAssignor"),
    "cooperative-sticky": (
        "assignors.sticky_assignor:CooperativeStickyAssignor",
        "CooperativeStickyAssignor",
    ),
}
_JAVA_PACKAGE = "org.apache.kafka.clients.consumer."
_PATHS = {
    name: path
    for short, (path, java_class) in _BUILT_IN.items()
    for name in (short, java_class, _JAVA_PACKAGE + java_class)
} | {"RoundRobinAssigner": "assignors.roundrobin_assignor:RoundRobinAssigner"}
"""By every name that a built-in assignor has."""
_METHODS = {
    "assign": "assign(partitions, members, racks=None) -> {member id: Assignment}",
    "subscription_user_data": "subscription_user_data(topics) -> bytes | None",
    "on_assignment": "on_assignment(assignment, generation)",
}

BUILT_IN_NAMES = tuple(_BUILT_IN)
"""The short names."""
KNOWN_NAMES = (*BUILT_IN_NAMES, "RoundRobinAssigner")
"""Names members offer that we can join: the short names, and that of kafkajs's assignor."""


def by_name(name: str) -> Assignor:
    """Return a new instance of the assignor with this name: a short name, a Java class name, or
    `module:Class`.

    Raises AssignorError if there is no such name, the module or class cannot be loaded, or the
    class is no assignor.
    """
    if (path := _PATHS.get(name)) is not None:
        return _make(path)
    if ":" not in name:
        known = ", ".join(_BUILT_IN)
        raise AssignorError(
            f"no assignor is called {name!r}; there are {known}, their Java class names, and your own as 'module:Class'"
        )
    return _make(name)


def common_protocol(assignors: Iterable[Assignor]) -> RebalanceProtocol:
    """Return the highest rebalance protocol that all of a member's assignors support. Raises
    AssignorError if there is none.
    """
    chosen = list(assignors)
    common = set(RebalanceProtocol).intersection(
        *(assignor.rebalance_protocols for assignor in chosen)
    )
    if not common:
        names = ", ".join(assignor.name for assignor in chosen)
        raise AssignorError(
            f"{names} support no common rebalance protocol; a member's assignors must share one"
        )
    return max(common)


def _make(path: str) -> Assignor:
    module_name, _, class_name = path.partition(":")
    try:
        module = import_module(module_name)
    except (ImportError, ValueError) as failure:
        raise AssignorError(
            f"{path!r}: cannot import {module_name!r} ({failure}); right is 'module:Class'"
        ) from failure
    found = module
    for part in class_name.split("."):
        found = getattr(found, part, None)  # type: ignore[assignment]
    if not isinstance(found, type):
        raise AssignorError(f"{path!r}: module {module_name!r} has no class {class_name!r}")
    try:
        made = found()
    except Exception as failure:
        raise AssignorError(
            f"{path!r}: {class_name}() failed ({failure!r}); it must be makeable without arguments"
        ) from failure
    check(made, path)
    return cast(Assignor, made)


def check(assignor: object, what: str) -> None:
    """Check that an object is an assignor. Raises AssignorError that says what is missing and what
    would be right.
    """
    kind = type(assignor)
    for method, right in _METHODS.items():
        if (
            not callable(getattr(assignor, method, None))
            or getattr(kind, method, None) is Assignor.assign
        ):
            raise AssignorError(
                f"{what}: class {kind.__name__} lacks the method {right}; it may inherit defaults from assignors.Assignor"
            )
    name = None if getattr(kind, "name", None) is Assignor.name else getattr(assignor, "name", None)
    if not isinstance(name, str) or not name:
        raise AssignorError(
            f"{what}: class {kind.__name__} lacks a name; an assignor has name = '...', the word the group votes on"
        )
    protocols = getattr(assignor, "rebalance_protocols", None)
    if (
        not isinstance(protocols, (tuple, list))
        or not protocols
        or not all(isinstance(p, RebalanceProtocol) for p in protocols)
    ):
        raise AssignorError(
            f"{what}: class {kind.__name__} lacks rebalance_protocols; right would be (RebalanceProtocol.EAGER,)"
        )
    if not isinstance(getattr(assignor, "version", None), int):
        raise AssignorError(
            f"{what}: class {kind.__name__} lacks version, a number; right would be 0"
        )
