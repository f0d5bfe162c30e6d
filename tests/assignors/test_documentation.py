"""The examples of docs/assignors.md, run as they stand: the first by itself, one's own assignor in
a live group."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assignors import Subscription, by_name
from coordinator import Emulator


def examples(root: Path) -> list[str]:
    return re.findall(
        r"```python\n(.*?)```", (root / "docs" / "assignors.md").read_text(), re.DOTALL
    )


@pytest.fixture
def capacity(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the example."""
    (code,) = [example for example in examples(project_root) if example.startswith("# capacity.py")]
    module = ModuleType("capacity")
    exec(compile(code, "capacity.py", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "capacity", module)
    return module


def test_the_first_example_prints_what_it_says(
    project_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = examples(project_root)[0]
    exec(compile(example, "docs/assignors.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.*)", example, re.MULTILINE)


def test_partitions_go_by_capacity(capacity: Any) -> None:
    made: Any = by_name("capacity:CapacityAssignor")
    made.capacity = 3
    members = {
        "big": Subscription(("t",), made.subscription_user_data(["t"])),
        "small": Subscription(("t",)),
    }
    plan = made.assign({"t": 8, "unwanted": 2}, members)
    assert {member: len(given.partitions) for member, given in plan.items()} == {
        "big": 6,
        "small": 2,
    }
    made.on_assignment(plan["big"], 1)
    assert made.share == "3/4"


def test_in_a_live_group(capacity: Any) -> None:
    """The user data goes out with JoinGroup, comes to the leader, and the answer back with
    SyncGroup."""
    made: dict[int, Any] = {}

    def kind(carries: int) -> type:
        class Sized(capacity.CapacityAssignor):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.capacity = carries
                made[carries] = self

        return Sized

    with Emulator({"orders": 8}) as kafka:
        strategies = [{"partition.assignment.strategy": [kind(carries)]} for carries in (3, 1)]
        with kafka.peer("billing", topics=["orders"], config=strategies[0]) as big:
            big.wait_stable()
            with kafka.peer("billing", topics=["orders"], config=strategies[1]) as small:
                while small.wait_stable().generation != big.wait_stable().generation:
                    pass
                assert (len(big.owned), len(small.owned)) == (6, 2)
                assert (made[3].share, made[1].share) == ("3/4", "1/4")
