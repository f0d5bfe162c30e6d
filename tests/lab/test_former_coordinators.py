"""Former coordinators and share leaders in all outputs of a log: what they write changes none of
them. Bugs that are planted in the stage that accepts lines are noticed by who counts apart from it, or
by judges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from coordinator.events.line import Line
from coordinator.history.explain.output import timeline_of
from coordinator.history.judges import OF_SHARE_GROUPS, judge
from coordinator.history.world.accepted_lines import AcceptedLines
from coordinator.lab.page.picture import Picture
from coordinator.lab.pipeline.schemas import TABLES
from tests.frozen.outputs import Lines
from tests.frozen.stored import stored_log
from tests.lab.test_one_number import disagreements

pytestmark = pytest.mark.unmeasured
_COMMIT = 137
"""A commit in the log zone_lost, that its coordinator acknowledges."""


def of_logs(log: Lines) -> list[str]:
    """Disagreements of outputs, but for /metrics, where each broker counts what it does itself."""
    return [told for told in disagreements(log) if not told.startswith("/metrics: ")]


def zone_lost() -> Lines:
    """A log whose first coordinator is cut off, and goes on: members expire there."""
    log = Lines(stored_log("zone_lost"))
    removed_by = [line.broker for line in log.lines if line.name == "MemberRemoved"]
    assert removed_by[:4] == [1, 1, 1, 2]
    return log


def acknowledged_late() -> Lines:
    """The same log, where the former coordinator takes a commit and acknowledges it."""
    texts = stored_log("zone_lost").splitlines(keepends=True)
    assert '"type":"OffsetsCommitted"' in texts[_COMMIT] and '"broker":2' in texts[_COMMIT]
    texts[_COMMIT] = texts[_COMMIT].replace('"broker":2', '"broker":1')
    return Lines("".join(texts))


@pytest.mark.parametrize("name", ["zone_lost", "share_zone_lost"])
def test_outputs_say_the_same(name: str) -> None:
    assert of_logs(Lines(stored_log(name))) == []


def test_members_that_expire_at_a_former_coordinator_stay_members() -> None:
    view = timeline_of(iter(zone_lost().lines)).groups["app"]
    second = view.rebalances[1]
    assert (second.outcome, second.members) == ("stable", ["in-b-1-5e99"])


def test_a_commit_that_a_former_coordinator_acknowledges_counts_once() -> None:
    log = acknowledged_late()
    assert of_logs(log) == []
    assert len(log.tables["commits"]) == len(zone_lost().tables["commits"])


def test_locks_are_those_of_the_leader() -> None:
    """The page draws one holder of a record at a time."""
    drawn = Picture(Lines(stored_log("share_zone_lost")).lines).plain()
    (queue,) = drawn["groups"][0]["queues"]
    starts = [start for _, _, start in queue["start"] if start is not None]
    assert starts == sorted(starts), "the start offset goes on only"


def a_former_coordinator_counts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AcceptedLines, "_is_former", lambda *_: False)


def a_commit_is_lost(patch: pytest.MonkeyPatch) -> None:
    see = AcceptedLines.see

    def lossy(self: AcceptedLines, line: Line) -> Sequence[Line]:
        return see(self, line)[-1:]

    patch.setattr(AcceptedLines, "see", lossy)


def a_refused_commit_counts(patch: pytest.MonkeyPatch) -> None:
    see = AcceptedLines.see

    def early(self: AcceptedLines, line: Line) -> Sequence[Line]:
        accepted = see(self, line)
        return accepted if accepted or line.name != "OffsetsCommitted" else (line,)

    patch.setattr(AcceptedLines, "see", early)


def refused_late() -> Lines:
    """The log of `acknowledged_late`, where the commit is refused in the end."""
    log = acknowledged_late()
    texts = log.text.splitlines(keepends=True)
    asked = log.lines[_COMMIT].cause
    (at,) = [
        at
        for at, line in enumerate(log.lines)
        if line.cause == asked and line.name == "RequestAnswered"
    ]
    refused = '"type":"RequestRefused","errors":["NOT_COORDINATOR"]'
    texts[at] = texts[at].replace('"type":"RequestAnswered"', refused)
    return Lines("".join(texts))


@pytest.mark.parametrize(
    ("make", "bug"),
    [
        (zone_lost, a_former_coordinator_counts),
        (acknowledged_late, a_commit_is_lost),
        (refused_late, a_refused_commit_counts),
    ],
)
def test_the_plain_counts_notice(
    make: Callable[[], Lines],
    bug: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = make()
    assert of_logs(log) == []
    bug(monkeypatch)
    assert of_logs(Lines(log.text))


def _gaps(log: Lines) -> tuple[int, int]:
    [row] = log.tables["runs"]
    run = dict(zip(TABLES["runs"].names(), row, strict=True))
    return run["gaps"], run["missing"]


def test_a_gap_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = stored_log("zone_lost").splitlines(keepends=True)
    holes = "".join(texts[:50] + texts[53:60] + texts[61:])
    assert _gaps(Lines(holes)) == (2, 4)
    monkeypatch.setattr(AcceptedLines, "_number", lambda *_: None)
    assert _gaps(Lines(holes)) == (0, 0), "who looks at the numbers is the stage alone"


def test_judges_notice_a_lock_that_a_former_leader_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines(stored_log("share_zone_lost")).lines
    assert not [of for of in judge(lines, OF_SHARE_GROUPS) if of.findings]
    monkeypatch.setattr(AcceptedLines, "_is_of_share_leader", lambda *_: True)
    broken = {of.judge for of in judge(lines, OF_SHARE_GROUPS) if of.findings}
    assert {"one_holder", "done_stays_done"} <= broken
