"""A panel calls the handlers of a line's class of events, and tells judges of the passing of time."""

from __future__ import annotations

import pytest

from coordinator.events.faults import RunEnded
from coordinator.events.groups import GroupCreated
from coordinator.events.handlers import kinds_of, on
from coordinator.events.line import Line, line_of
from coordinator.history.judges import Judge, Panel
from coordinator.verbs.members import PauseMember
from tests.lines import event, line_from


class _Counts(Judge):
    """Tells of each line that it is shown."""

    name = promise = "counts"
    needs = frozenset()

    @on(RunEnded)
    def _ended(self, line: Line, _: RunEnded) -> None:
        self.blame(line, line.name)


def _ended(at_ms: int = 0, seq: int = 0) -> Line:
    return line_of(RunEnded(), seq=seq, at_ms=at_ms)


def _told(panel: Panel) -> list[str]:
    (verdict,) = panel.verdicts()
    return [finding.text for finding in verdict.findings]


def test_a_judge_is_shown_what_it_handles_and_nothing_else() -> None:
    panel = Panel([_Counts])
    for each in (PauseMember(member="app"), RunEnded(), event(GroupCreated)):
        panel.see(line_of(each))
    assert _told(panel) == ["RunEnded"]


def test_a_judge_of_a_stream_is_shown_all_of_it() -> None:
    class OfGroups(_Counts):
        @on(*kinds_of("group"))
        def _of_group(self, line: Line, _: object) -> None:
            self.blame(line, line.name)

    panel = Panel([OfGroups])
    panel.see(line_from({"stream": "wire", "type": "RequestSeen"}))
    panel.see(line_from({"type": "GroupCreated", "group": "g"}))
    panel.see(line_from({"type": "MemberJoined", "group": "g"}))
    assert _told(panel) == ["GroupCreated", "MemberJoined"]


def test_lines_of_other_groups_are_not_shown() -> None:
    class OfGroups(_Counts):
        @on(GroupCreated)
        def _of_group(self, line: Line, _: GroupCreated) -> None:
            self.blame(line, line.group or "")

    panel = Panel([OfGroups], group="g")
    for group in ("g", "h"):
        panel.see(line_from({"type": "GroupCreated", "group": group}))
    panel.see(_ended())
    assert _told(panel) == ["g", "RunEnded"]


def test_lines_of_types_that_are_not_known_tell_that_their_stream_is_there() -> None:
    class NeedsBoth(_Counts):
        needs = frozenset({"group", "wire"})

    plain = {"seq": 0, "at_ms": 0, "run": "0", "cause": None, "type": "FromTheFuture"}
    panel = Panel([NeedsBoth])
    panel.see(Line.of({**plain, "stream": "group"}))
    assert [str(each.judgement) for each in panel.verdicts()] == ["not judged"]
    panel.see(Line.of({**plain, "stream": "wire"}))
    assert [str(each.judgement) for each in panel.verdicts()] == ["kept"]


@pytest.mark.parametrize("first", [False, True])
def test_a_judge_of_time_is_told_when_it_is_due_and_at_the_end(first: bool) -> None:
    class Late(_Counts):
        timed = True
        time_first = first

        def __init__(self) -> None:
            super().__init__()
            self.due_ms = 20

        def passed(self, now_ms: int) -> None:
            self.blame(_ended(now_ms), "late")
            self.due_ms = 40

    panel = Panel([Late])
    for at_ms in (10, 25, 30):
        panel.see(
            line_from({"seq": at_ms, "at_ms": at_ms, "stream": "wire", "type": "RequestSeen"})
        )
    panel.see(_ended(45))
    (verdict,) = panel.verdicts()
    told = [(finding.at_ms, finding.text) for finding in verdict.findings]
    late = [(45, "late"), (45, "RunEnded")] if first else [(45, "RunEnded"), (45, "late")]
    again = [(45, "late")] * (2 if first else 1)  # it is due still, and the log has ended
    assert told == [(25, "late"), *late, *again]


def test_a_judge_alone_looks_at_its_lines() -> None:
    one = _Counts()
    one.see(line_from({"type": "GroupCreated", "group": "g"}))
    one.see(_ended())
    assert [finding.text for finding in one.findings] == ["RunEnded"]


def test_verdicts_may_be_asked_twice_and_with_other_streams() -> None:
    class Ends(_Counts):
        needs = frozenset({"data"})

        def finish(self) -> None:
            self.blame(_ended(7, 7), "it ended")

    panel = Panel([Ends])
    assert [str(verdict.judgement) for verdict in panel.verdicts()] == ["not judged"]
    (verdict,) = panel.verdicts(streams=frozenset({"data"}))
    assert [finding.seq for finding in verdict.findings] == [7]
