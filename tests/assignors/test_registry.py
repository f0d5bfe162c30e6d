"""Which assignor a name stands for, and what is said when it is none."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from assignors import Assignor, AssignorError, RebalanceProtocol, by_name, common_protocol

JAVA = "org.apache.kafka.clients.consumer."


class Good(Assignor):
    name = "good"

    def assign(self, partitions: Any, members: Any, racks: Any = None) -> Any:
        return {}


class NoAssign(Assignor):
    name = "no-assign"


class NoName(Assignor):
    assign = Good.assign


class Bare:
    name = "bare"
    rebalance_protocols = (RebalanceProtocol.EAGER,)
    version = 0

    def assign(self, partitions: Any, members: Any, racks: Any = None) -> Any:
        return {}

    def subscription_user_data(self, topics: Any) -> None:
        return None


class WrongProtocols(Good):
    rebalance_protocols = ("eager",)  # type: ignore[assignment]


class WrongVersion(Good):
    version = "1"  # type: ignore[assignment]


class Raising(Good):
    def __init__(self) -> None:
        raise ValueError("no capacity")


class Cooperative(Good):
    rebalance_protocols = (RebalanceProtocol.COOPERATIVE,)


@pytest.fixture(autouse=True)
def _module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("my_assignors")
    for kind in (Good, NoAssign, NoName, Bare, WrongProtocols, WrongVersion, Raising, Cooperative):
        setattr(module, kind.__name__, kind)
    module.number = 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_assignors", module)


@pytest.mark.parametrize(
    ("name", "java_name"),
    [
        ("range", "RangeAssignor"),
        ("roundrobin", "RoundRobinAssignor"),
        ("sticky", "StickyAssignor"),
        ("cooperative-sticky", "CooperativeStickyAssignor"),
    ],
)
def test_short_names_and_javas_names_make_a_new_instance_each(name: str, java_name: str) -> None:
    """STK-6: an assignor remembers, so nobody shares one."""
    made = [by_name(name), by_name(java_name), by_name(JAVA + java_name)]
    assert {assignor.name for assignor in made} == {name}
    assert len({id(assignor) for assignor in made}) == 3
    assert isinstance(made[0], Assignor)
    assert made[0].version == 0


def test_the_name_of_kafkajs_is_not_that_of_java() -> None:
    made = by_name("RoundRobinAssigner")
    assert (made.name, type(made).__mro__[1]) == ("RoundRobinAssigner", type(by_name("roundrobin")))


def test_a_class_of_ones_own() -> None:
    made = by_name("my_assignors:Good")
    assert (made.name, made.version, tuple(made.rebalance_protocols)) == (
        "good",
        0,
        (RebalanceProtocol.EAGER,),
    )
    assert made.subscription_user_data(["t"]) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "stikcy",
            r"no assignor is called 'stikcy'; there are range, roundrobin, sticky, cooperative-sticky.*module:Class",
        ),
        ("", "no assignor is called ''"),
        ("no.such.module:X", r"cannot import 'no.such.module'.*right is 'module:Class'"),
        (":X", "cannot import ''"),
        ("my_assignors:Missing", "module 'my_assignors' has no class 'Missing'"),
        ("my_assignors:number", "has no class 'number'"),
        (
            "my_assignors:NoAssign",
            r"NoAssign lacks the method assign\(partitions, members, racks=None\)",
        ),
        ("my_assignors:NoName", "NoName lacks a name; an assignor has name = "),
        ("my_assignors:Bare", r"Bare lacks the method on_assignment\(assignment, generation\)"),
        ("my_assignors:WrongProtocols", "lacks rebalance_protocols; right would be"),
        ("my_assignors:WrongVersion", "lacks version, a number"),
        (
            "my_assignors:Raising",
            r"Raising\(\) failed \(ValueError\('no capacity'\)\).*without arguments",
        ),
    ],
)
def test_what_is_said_of_names_that_are_none(name: str, said: str) -> None:
    with pytest.raises(AssignorError, match=said):
        by_name(name)


def test_the_highest_common_protocol_is_used() -> None:
    """STK-28: cooperative alone, eager beside an eager assignor; none in common is an error."""
    cooperative, sticky = by_name("cooperative-sticky"), by_name("sticky")
    assert common_protocol([cooperative]) is RebalanceProtocol.COOPERATIVE
    assert common_protocol([cooperative, sticky]) is RebalanceProtocol.EAGER
    with pytest.raises(AssignorError, match="good, sticky support no common rebalance protocol"):
        common_protocol([by_name("my_assignors:Cooperative"), sticky])
