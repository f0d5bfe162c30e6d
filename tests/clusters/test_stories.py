"""Recorded logs of real brokers and clients: each generation's cause is right, nobody is accused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator.clusters.diagnosis import Diagnosis, diagnose, diagnose_text
from coordinator.clusters.lines.stamps import iso

STORIES = Path(__file__).with_name("stories")


def told(story: str, *files: str) -> Diagnosis:
    place = STORIES / story
    paths = [place / file for file in files] or [
        path for path in sorted(place.iterdir()) if path.name != "expected.json"
    ]
    return diagnose(map(str, paths))


def expected(story: str) -> dict[str, Any]:
    groups: dict[str, Any] = json.loads((STORIES / story / "expected.json").read_text())["groups"]
    return groups


@pytest.mark.parametrize("story", sorted(path.name for path in STORIES.iterdir()))
def test_every_generation_has_its_cause(story: str) -> None:
    found = told(story)
    for group, right in expected(story).items():
        assert found.groups[group].protocol == right["protocol"]
        rebalances = found.groups[group].rebalances
        assert [each.generation for each in rebalances] == [
            each["generation"] for each in right["generations"]
        ]
        for each, truth in zip(rebalances, right["generations"], strict=True):
            assert each.cause in (truth["cause"], *truth.get("also", []))
            assert each.member in (truth["member"], truth["member_id"])
            assert str(iso(each.at, 0))[:19] == truth["at"][:19]
            assert (
                bool(each.returns) == truth.get("returns", False)
                or each.returns is None
                or (each.cause == "static-restart")
            )
            assert each.evidence
            assert each.held_up_by == truth.get("held_up_by", each.held_up_by)
            assert each.certainty == truth.get("certainty", each.certainty)


@pytest.mark.parametrize("story", sorted(path.name for path in STORIES.iterdir()))
def test_nobody_else_is_accused(story: str) -> None:
    for group, right in expected(story).items():
        findings = told(story).groups[group].findings
        assert {finding.member for finding in findings} - {None} == {right["worst_member"]} - {None}
        assert {finding.setting for finding in findings} - {None} == {right["setting"]} - {None}


def test_what_a_client_alone_cannot_know_is_unknown() -> None:
    """The leader of librdkafka lists the members: who came is known, why one is gone is not."""
    story = told("join-leave-expire-scala", "orders-1.log").groups["orders"]
    assert [each.cause for each in story.rebalances] == [
        "first-join",
        "joined",
        "unknown",
        "joined",
        "unknown",
    ]
    assert [each.member for each in story.rebalances if each.cause == "joined"] == [
        "orders-2",
        "orders-3",
    ]
    assert not story.findings
    assert any("orders-3 left or fell silent" in sentence for sentence in story.not_known)


def test_a_client_that_did_not_poll_knows_it() -> None:
    story = told("missed-max-poll-java", "inv-app-1.log").groups["invoices"]
    assert [(each.generation, each.cause) for each in story.rebalances] == [
        (1, "first-join"),
        (3, "joined"),
    ]
    assert story.rebalances[0].member is None, "this client does not know who was first"
    finding = story.findings[0]
    assert [each.id for each in story.findings] == ["max-poll-exceeded", "commits-refused"]
    assert "it is 10000 ms here" in finding.sentence
    assert any("generation 2" in sentence for sentence in story.not_known)


def test_describes_are_states_and_blame_nobody() -> None:
    story = told("describes-stable-rebalancing-empty").groups["warehouse"]
    assert [state.described.state for state in story.states] == [
        None,
        "rebalancing",
        "PreparingRebalance",
        "Empty",
    ]
    assert story.states[2].described.members == 3
    assert story.states[3].described.lag == 15
    assert not story.rebalances and not story.findings
    assert any("left or their sessions ended" in sentence for sentence in story.not_known)


def test_a_twin_that_joins_later_is_no_clock_that_differs() -> None:
    """Both join generation 1, half a minute apart: a static member takes its predecessor's place."""
    found = told("static-restart-and-twin-java", "l-0.log", "l-1-twin.log")
    assert {report.clock_offset_ms for report in found.reports.values()} <= {0, None}
    found = told("static-restart-and-twin-java")
    assert [event.kind for event in found.groups["ledger"].events] == [
        "replaced",
        "replaced",
        "fenced",
    ]


def test_members_that_come_and_go_are_no_deployment() -> None:
    """Each member that leaves came minutes before: an autoscaler, and nobody's fault."""
    (finding,) = told("autoscaler-broker-only").groups["thumbs"].findings
    assert (finding.id, finding.member) == ("flapping", None)


def test_who_joins_last_is_known_from_the_clients_only() -> None:
    story = told("slow-but-in-time-java", "server.log").groups["cslow"]
    assert [each.held_up_by for each in story.rebalances] == [None, None]
    assert any("For whom generation 2 waited 16.4 s" in one for one in story.not_known)
    story = told("slow-but-in-time-java").groups["cslow"]
    assert story.rebalances[1].held_up_by == "cs-2"
    assert not story.findings, "it joined in time"


def test_a_binding_that_repeats_a_missed_poll_counts_once() -> None:
    line = (
        '2026-03-01 10:00:40,000 WARNING app: KafkaError{code=_MAX_POLL_EXCEEDED,val=-147,str="Application maximum poll '
        'interval (8000ms) exceeded by 210ms"}'
    )
    lines = [
        (
            "%7|1772359200.000|JOINGROUP|r-1#consumer-1| [thrd:main]: JoinGroup response: GenerationId 1, Protocol range, "
            "LeaderId r-1-x, my MemberId r-1-y, member metadata count 0: (no error)"
        ),
        (
            "%4|1772359230.000|MAXPOLL|r-1#consumer-1| [thrd:main]: Application maximum poll interval (8000ms) exceeded by "
            "210ms (adjust max.poll.interval.ms for long-running message processing): leaving group"
        ),
        line,
    ]
    (story,) = diagnose_text("\n".join(lines) + "\n").groups.values()
    assert ", once" in next(one.sentence for one in story.findings if one.id == "max-poll-exceeded")
