"""A judge looks at every type of lines that its code names. (conftest.py judges each planted bug
with all lines shown, too.)"""

from __future__ import annotations

import ast
import inspect
from textwrap import dedent

import pytest

from coordinator.event_log.types import TYPES
from coordinator.history.consumer_groups import CHANGES, ConsumerGroups
from coordinator.judges import ALL, Judge, Panel, judge
from coordinator.judges.batches import WRITTEN, Batches
from coordinator.judges.liveness import FewRebalances

KNOWN = frozenset(name for names in TYPES.values() for name in names)


def named_by(kind: type[Judge]) -> set[str]:
    """The types of lines whose names stand in the code of a judge and of the judges that it is made
    from."""
    source = [dedent(inspect.getsource(each)) for each in kind.__mro__ if issubclass(each, Judge)]
    constants = (
        node.value
        for text in source
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
    )
    return {value for value in constants if value in KNOWN}


@pytest.mark.parametrize(
    "kind", [kind for kind in (*ALL, FewRebalances) if kind.looks_at is not None]
)
def test_what_a_judge_names_it_looks_at(kind: type[Judge]) -> None:
    needed = named_by(kind)
    for part in vars(kind()).values() if kind is not FewRebalances else ():
        needed |= (
            CHANGES
            if isinstance(part, ConsumerGroups)
            else WRITTEN
            if isinstance(part, Batches)
            else set()
        )
    assert kind.looks_at is not None
    assert needed <= kind.looks_at <= KNOWN


class _Counts(Judge):
    """Counts the lines that it is shown."""

    name = promise = "counts"
    needs = frozenset()
    looks_at = frozenset({"RunEnded"})

    def see(self, line: dict[str, object]) -> None:
        self.findings.append(line["type"])  # type: ignore[arg-type]


def test_a_judge_is_shown_what_it_looks_at_and_nothing_else() -> None:
    lines = [
        {"seq": seq, "at_ms": 0, "stream": "fault", "type": kind}
        for seq, kind in enumerate(("PauseMember", "RunEnded", "JumpClock"))
    ]
    panel = Panel([_Counts])
    for line in lines:
        panel.see(line)
    assert panel._sitting[0].findings == ["RunEnded"]


def test_a_judge_that_names_no_types_is_shown_all() -> None:
    class All(_Counts):
        looks_at = None

    panel = Panel([All])
    panel.see({"seq": 0, "at_ms": 0, "stream": "fault", "type": "PauseMember"})
    assert panel._sitting[0].findings == ["PauseMember"]
    assert judge([], [All])[0].findings == ()


def test_a_judge_of_some_streams_is_not_shown_the_others() -> None:
    class OfGroups(_Counts):
        looks_at = None
        of_streams = frozenset({"group"})

    panel = Panel([OfGroups])
    panel.see({"seq": 0, "at_ms": 0, "stream": "wire", "type": "RequestSeen"})
    panel.see({"seq": 1, "at_ms": 0, "stream": "group", "type": "GroupCreated", "group": "g"})
    assert panel._sitting[0].findings == ["GroupCreated"]


def test_a_judge_of_time_is_told_when_it_is_due_and_at_the_end() -> None:
    class Late(_Counts):
        timed = True

        def __init__(self) -> None:
            super().__init__()
            self.due_ms = 20

        def see(self, line: dict[str, object]) -> None:
            assert line["type"] == "RequestSeen"

        def passed(self, now_ms: int) -> None:
            self.blame({"seq": now_ms, "at_ms": now_ms}, "told")
            self.due_ms = 40

    panel = Panel([Late])
    for at_ms in (10, 25, 30):
        panel.see({"seq": at_ms, "at_ms": at_ms, "stream": "wire", "type": "RequestSeen"})
    (verdict,) = panel.verdicts()
    assert [finding.at_ms for finding in verdict.findings] == [25, 30]


def test_verdicts_may_be_asked_twice_and_with_other_streams() -> None:
    class Ends(_Counts):
        needs = frozenset({"data"})

        def finish(self) -> None:
            self.blame({"seq": 7, "at_ms": 7}, "it ended")

    panel = Panel([Ends])
    assert [str(verdict.judgement) for verdict in panel.verdicts()] == ["not judged"]
    (verdict,) = panel.verdicts(streams=frozenset({"data"}))
    assert [finding.seq for finding in verdict.findings] == [7]
