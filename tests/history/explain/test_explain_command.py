"""The command coordinator explain: its texts, its JSON, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.events import EventLog
from coordinator.events.wire import AuthenticationFailed
from coordinator.history.explain.output import as_plain, as_text, timeline_of
from tests.events.kit import a_long_story
from tests.history.explain.test_explain import GOLDEN, A, three


def explain(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    try:
        status = main(["explain", *args])
    except SystemExit as end:  # argparse's own refusals
        status = int(str(end.code))
    out, err = capsys.readouterr()
    return status, out, err


def test_the_text_of_the_golden_log(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = explain(capsys, str(GOLDEN))
    assert status == 0
    assert out == GOLDEN.with_suffix(".txt").read_text()
    timeline = a_long_story().timeline()
    assert out.splitlines()[2:] == list(as_text(timeline, timeline.groups.values()))[2:]


def test_the_text_of_a_slow_member_among_real_clients(capsys: pytest.CaptureFixture[str]) -> None:
    """Three librdkafka consumers with range; one takes 4.5 s to give up its partitions, so that an
    eager one stands still as long."""
    log = GOLDEN.with_name("slow_member.jsonl")
    status, out, _ = explain(capsys, str(log), "--detail")
    assert status == 0
    assert out == log.with_suffix(".txt").read_text()
    assert "orders 0-1   (- orders 2, stood still for 4.5 s, from 3.862 s to 8.365 s)" in out
    assert "two-9463's heartbeat is answered REBALANCE_IN_PROGRESS (10 times)" in out


def test_the_json_of_the_golden_log(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = explain(
        capsys, str(GOLDEN), "--format", "json", "--group", "g", "--generation", "4"
    )
    assert status == 0
    plain = json.loads(out)
    assert plain["version"] == 1
    (group,) = plain["groups"]
    (rebalance,) = group["rebalances"]
    assert rebalance["generation"] == 4
    assert rebalance["outcome"] == "stable"
    assert rebalance["join_phase_ms"] == 0
    assert rebalance["trigger"]["type"] == "AssignmentRejected"
    assert [cause["type"] for cause in rebalance["causes"]] == [
        "AssignmentRejected",
        "MemberSynced",
        "RequestSeen",
    ]
    assert rebalance["assignments"][1]["revoked"] == {"orders": [2, 3]}
    whole = json.loads(explain(capsys, str(GOLDEN), "--format", "json")[1])
    assert [row["generation"] for row in whole["groups"][0]["rebalances"]] == [1, 2, 3, 4, 5, 6]
    assert [note["type"] for note in whole["groups"][0]["notes"]] == [
        "PendingMemberRemoved",
        "MemberReplaced",
        "OffsetsRemoved",
        "GroupUnloaded",
        "GroupLoaded",
        "GroupDeleted",
    ]


def test_members_in_json() -> None:
    timeline = three().timeline()
    (group,) = as_plain(timeline, timeline.groups.values())["groups"]
    assert group["leader"] == A
    assert group["members"][0]["topics"] == ["orders"]
    assert {member["name"]: member["partitions"] for member in group["members"]}[A] == {
        "orders": (0, 1)
    }


def test_a_log_without_groups(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    EventLog.open(path).close()
    status, out, _ = explain(capsys, str(path))
    assert status == 0
    assert "no group in this log" in out


def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with GOLDEN.open() as log:
        monkeypatch.setattr("sys.stdin", log)
        status, out, _ = explain(capsys, "-")
    assert status == 0
    assert out == GOLDEN.with_suffix(".txt").read_text()


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (
            ["no/such.jsonl"],
            "cannot read no/such.jsonl: No such file or directory; write one with `coordinator serve --log no/such.jsonl`",
        ),
        ([str(Path(__file__))], "line 1: not JSON"),
        ([str(GOLDEN), "--group", "G"], "--group G: not in this log; its groups are g"),
        ([str(GOLDEN), "--group", "gg"], "--group gg: not in this log; did you mean g?"),
        (
            [str(GOLDEN), "--generation", "77"],
            "--generation 77: no such generation in this log; its highest is 6",
        ),
        ([str(GOLDEN), "--generation", "x"], "'x' is no generation: give a number from 0 on"),
        ([str(GOLDEN), "--format", "xml"], "invalid choice: 'xml'"),
        ([], "the following arguments are required: LOG"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], args: list[str], complaint: str) -> None:
    status, out, err = explain(capsys, *args)
    assert status == 2
    assert out == ""
    assert complaint in err


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        ('"leader":"a', '"ladder":"a'),
        ('"protocols":[', '"protocols":7,"x":['),
        ('"metadata":"00', '"metadata":"zz'),
        ('"assignment":"00', '"assignment":"0'),
    ],
)
def test_lines_that_are_not_as_their_type_has_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, found: str, instead: str
) -> None:
    path = tmp_path / "run.jsonl"
    text = GOLDEN.read_text()
    assert found in text
    path.write_text(text.replace(found, instead))
    status, out, err = explain(capsys, str(path))
    assert status == 2
    assert out == ""
    assert f"{path}, line " in err
    assert "as docs/event_log.md has it" in err


def test_a_whole_log_is_told_without_its_end(tmp_path: Path) -> None:
    """A log may stop anywhere: each part of it can be explained."""
    lines = list(a_long_story().log_file.read())

    def tell(end: int) -> list[str]:
        timeline = timeline_of(lines[:end], details=True)
        return list(as_text(timeline, timeline.groups.values()))

    for end in range(1, len(lines)):
        assert tell(end)


def test_a_group_that_clients_only_tried_to_reach_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    refused = AuthenticationFailed("User:app", "PLAIN", "wrong password", "SASL", "app", "h:1")
    log = EventLog.open(path, seed=1)
    log.append(refused, at_ms=5)
    log.close()
    status, out, _ = explain(capsys, str(path), "--group", "billing")
    assert status == 0
    assert "User:app at h could not log in by PLAIN" in out
