"""Records that come again are explained by what an application could not commit, and by nothing
else."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.events.groups import GroupLoaded
from coordinator.kit.ready_tests import explained, findings
from coordinator.kit.ready_tests.explained import Broken
from coordinator.kit.ready_tests.findings import CommitSeen, Line, Processed
from coordinator.kit.ready_tests.holders import Written
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from examples.consumers.application import ConsumerApplication
from examples.consumers.bugs import buggy
from tests.lines import line_from
from tests.testing.applications import application_class

PLACE = ("orders", 0)
NOTHING = Broken((), (), (), (), ())


def rows(*offsets: int) -> list[Processed]:
    return [(*PLACE, offset) for offset in offsets]


def line(seq: int, kind: str, **fields: Any) -> Line:
    stream = "wire" if kind.startswith("Request") else "group"
    of = {"seq": seq, "stream": stream, "type": kind, "group": "g", "at_ms": seq}
    return line_from({**of, **fields})


def committed(seq: int, offset: int, **fields: Any) -> Line:
    offsets = [{"topic": "orders", "partition": 0, "offset": offset}]
    return line(seq, "OffsetsCommitted", offsets=offsets, member="app", cause=seq - 1, **fields)


def judge(
    processed: list[Processed],
    lines: list[Line],
    known: Broken = NOTHING,
    *,
    commits: tuple[CommitSeen, ...] = (),
    written: tuple[Written, ...] = (Written(0, {PLACE: 0}),),
    **most: Any,
) -> list[findings.Finding]:
    found = explained.breaks(lines, "g", known)
    return explained.unexplained(
        processed, commits, lines, found, written, **{"clean": 0, "death": None} | most
    )


class TestPlainLines:
    def test_nothing_comes_again(self) -> None:
        assert judge(rows(0, 1, 2), []) == []

    def test_without_a_break_every_repeat_is_one_too_many(self) -> None:
        (found,) = judge(rows(0, 1, 1), [])
        assert found.name == findings.DUPLICATES
        assert "orders-0 offset 1 cannot" in found.text
        assert judge(rows(0, 1, 1), [], clean=1) == []

    def test_a_death_explains_what_was_not_committed(self) -> None:
        known = NOTHING._replace(killed=[5], starts=[1, 8])
        lines = [committed(4, 1), line(9, "GenerationStarted")]
        assert judge(rows(0, 1, 2, 1, 2), lines, known) == []
        (found,) = judge(rows(0, 1, 2, 0, 1, 2), lines, known)
        assert "3 records were processed again" in found.text
        assert "2 of them can be explained" in found.text

    def test_each_death_explains_one_repeat_of_a_record(self) -> None:
        known = NOTHING._replace(killed=[5], starts=[1, 8])
        assert judge(rows(0, 0, 0), [], known) != []
        twice = known._replace(killed=[5, 12], starts=[1, 8, 15])
        assert judge(rows(0, 0, 0), [], twice) == []

    def test_what_was_written_after_the_next_start_is_not_explained(self) -> None:
        known = NOTHING._replace(killed=[5], starts=[1, 8])
        later = (Written(0, {PLACE: 0}), Written(9, {PLACE: 3}))
        assert judge(rows(0, 1, 2, 2), [], known, written=later) == []
        assert judge(rows(0, 1, 2, 3, 3), [], known, written=later) != []

    @pytest.mark.parametrize(
        "broken",
        [
            line(3, "MemberRemoved", member="app", reason="session expired"),
            line(3, "ConsumerMemberRemoved", member="app", reason="fenced"),
            line(3, "RequestRefused", member="app", api="offset_commit", errors=["X"]),
            line(3, "GroupLoaded", member=None),
        ],
    )
    def test_removals_and_refused_commits_explain_it_as_well(self, broken: Line) -> None:
        assert judge(rows(0, 0), [broken]) == []
        assert judge(rows(0, 0), [broken], NOTHING._replace(peers=["app"])) == (
            [] if broken.kind is GroupLoaded else judge(rows(0, 0), [])
        )

    def test_a_member_that_left_was_in_no_hurry(self) -> None:
        left = line(3, "MemberRemoved", member="app", reason="left")
        assert judge(rows(0, 0), [left]) != []
        assert judge(rows(0, 0), [left], NOTHING._replace(removed=["app"])) == []

    def test_what_was_committed_in_between_is_judged_by_others(self) -> None:
        commit = CommitSeen({PLACE: 1}, 1, "app", 2)
        assert judge(rows(0, 0), [committed(3, 1)], commits=(commit,)) == []
        assert judge(rows(0, 0), [], commits=(commit,)) != []  # it was not accepted

    def test_an_application_that_commits_late_says_so(self) -> None:
        rebalance = line(3, "GenerationStarted", member=None)
        assert judge(rows(0, 0), [rebalance]) != []
        assert judge(rows(0, 0), [rebalance], NOTHING._replace(late=True)) == []

    def test_a_number_for_each_death_overrules_the_log(self) -> None:
        known = NOTHING._replace(killed=[5], starts=[1, 8])
        assert judge(rows(0, 1, 0, 1), [], known, death=2) == []
        assert judge(rows(0, 1, 0, 1), [], known, death=1) != []


class CommitsWhenIdle(ConsumerApplication):
    """Commits when nothing has come for a while, and not when it is to lose partitions."""

    idle_turns = 0

    def to_commit(self) -> dict[tuple[str, int], int]:
        self.idle_turns = 0 if self.waiting or not self.idle else self.idle_turns + 1
        return {} if self.idle_turns < 3 else super().to_commit()

    def revoked(self, partitions: Any) -> dict[tuple[str, int], int]:
        return {}

    idle = False


def moved_in_the_middle(kafka: Emulator, application: Any, **words: Any) -> None:
    app = ApplicationUnderTest(kafka, application, patience_s=120.0, **words)
    try:
        app.start()
        app.produce(60)
        app.wait_until(lambda: len(app.processed() or ()) >= 60, "not all is processed")
        with app.peer():
            app.wait_shared()
        app.wait_alone()
        application.idle = True
        app.wait_done()
        app.verify()
    finally:
        app.close()


@pytest.mark.parametrize("library", ["aiokafka", "confluent-kafka"])
class TestPlanted:
    """kafka-python reads on from its position in partitions that it gets back."""

    def test_who_does_not_commit_before_it_loses_partitions_is_found(
        self, kafka: Emulator, library: str
    ) -> None:
        application = buggy(CommitsWhenIdle, application_class(library))()
        with pytest.raises(ApplicationError) as found:
            moved_in_the_middle(kafka, application)
        assert found.value.findings[0].name == findings.DUPLICATES

    def test_and_not_if_it_says_so(self, kafka: Emulator, library: str) -> None:
        application = buggy(CommitsWhenIdle, application_class(library))()
        application.commits_late = True
        moved_in_the_middle(kafka, application)

    def test_nor_with_one_number_for_all(self, kafka: Emulator, library: str) -> None:
        application = buggy(CommitsWhenIdle, application_class(library))()
        with pytest.warns(DeprecationWarning, match="duplicates_clean and duplicates_death"):
            moved_in_the_middle(kafka, application, duplicates=120)

    def test_who_commits_before_has_none(self, kafka: Emulator, library: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            moved_in_the_middle(kafka, application_class(library)())
