"""`coordinator diagnose`: its options, its forms, and bad input."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coordinator.cli import main

STORY = Path(__file__).parents[1] / "clusters" / "stories" / "missed-max-poll-java"


def diagnose(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[int, str, str]:
    try:
        status = main(["diagnose", *map(str, args)])
    except SystemExit as end:
        status = int(str(end.code))
    out, err = capsys.readouterr()
    return status, out, err


def plain(capsys: pytest.CaptureFixture[str], *args: str | Path) -> dict[str, Any]:
    status, out, _ = diagnose(capsys, *args, "--json")
    assert status == 0
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_text_quotes_its_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    log = STORY / "server.log"
    status, out, err = diagnose(capsys, log, STORY / "inv-app-1.log")
    assert (status, err) == (0, "")
    assert "Group invoices (classic): 4 rebalances" in out
    assert "max-poll-exceeded (shown): inv-app-1 did not poll" in out
    assert f"{log}:38: [2026-11-28 20:55:39,743] INFO [GroupCoordinator" in out
    assert "What the application of inv-app-1 did between its polls" in out


def test_the_frame(capsys: pytest.CaptureFixture[str]) -> None:
    log = str(STORY / "server.log")
    frame = plain(capsys, log)
    assert frame["version"] == 1
    assert frame["files"][log] == {
        "dialect": "kafka-broker-java",
        "lines": 50,
        "understood": 20,
        "passed_over": 30,
        "clock_offset_ms": 0,
        "zone": None,
    }
    group = frame["groups"]["invoices"]
    assert set(group) == {
        "protocol",
        "rebalances",
        "events",
        "findings",
        "states",
        "not_known",
    }
    assert group["rebalances"][1] == {
        "generation": 2,
        "at": "2026-11-28T20:55:41.312",
        "cause": "poll-timeout",
        "member": "inv-app-1",
        "held_up_by": None,
        "removed": [],
        "join_phase_s": 1.569,
        "members": 1,
        "returns": None,
        "empty": False,
        "certainty": "shown",
        "evidence": [{"file": log, "line": line} for line in (38, 37, 39)],
    }


def test_zone_and_window(capsys: pytest.CaptureFixture[str]) -> None:
    frame = plain(
        capsys,
        STORY / "server.log",
        "--zone",
        "+02:00",
        "--since",
        "20:55:45",
        "--until",
        "20:55:55",
    )
    (each,) = frame["groups"]["invoices"]["rebalances"]
    assert (each["generation"], each["at"]) == (3, "2026-11-28T20:55:50.334+02:00")
    assert each["returns"] is True, "what lies before the window is known all the same"


def test_member_and_group(capsys: pytest.CaptureFixture[str]) -> None:
    frame = plain(capsys, STORY / "server.log", "--member", "inv-app-0")
    assert [one["generation"] for one in frame["groups"]["invoices"]["rebalances"]] == [1]
    status, out, _ = diagnose(capsys, STORY / "server.log", "--group", "other")
    assert status == 0
    assert "--group other: not in these files; its groups are invoices" in out


def test_redaction_leaves_no_name(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(STORY.glob("*.log"))
    for form in ((), ("--json",), ("--markdown",)):
        _, out, _ = diagnose(capsys, *files, "--redact", *form)
        assert "group-1" in out and "member-1" in out
        for name in ("invoices", "inv-app", "kafka-1", "server.log", "127.0.0.1"):
            assert name not in out


def test_packed_files_and_standard_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (STORY / "server.log").read_bytes()
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("logs/server.log", content)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    for given in (tmp_path / "a.gz", tmp_path / "b.zip", Path("-")):
        frame = plain(capsys, given)
        assert len(frame["groups"]["invoices"]["rebalances"]) == 4


def test_only_unreadable_files_are_an_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, err = diagnose(capsys, tmp_path / "no.log")
    assert status == 2
    assert "no.log: No such file or directory" in err
    status, out, err = diagnose(capsys, tmp_path / "no.log", STORY / "server.log")
    assert status == 0
    assert "cannot read" in err and "4 rebalances" in out


def test_a_file_in_which_nothing_is_understood(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "nginx.log"
    log.write_bytes(b"GET /1 200\nGET /2 200\nPOST \x1b[2J\n" + b"x" * (3 << 20) + b"\n")
    status, out, _ = diagnose(capsys, log)
    assert status == 0
    assert "nothing understood in 4 lines. Looked for: a broker's [GroupCoordinator" in out
    assert "2 x GET /N N" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("option", [("--zone", "Mars"), ("--since", "yesterday")])
def test_options_that_are_none(capsys: pytest.CaptureFixture[str], option: tuple[str, str]) -> None:
    status, _, err = diagnose(capsys, "x.log", *option)
    assert status == 2
    assert repr(option[1]) in err


def test_a_page_of_html_has_no_markup_of_the_log(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "<b>.log"
    evil = "<script>alert(1)</script>"
    log.write_text(
        f"[2026-03-01 10:00:00,000] INFO [GroupCoordinator 1]: Preparing to rebalance group {evil} in state "
        f"PreparingRebalance with old generation 4 (reason: Adding new member {evil}-1 with group instance id None)\n"
        f"[2026-03-01 10:00:03,000] INFO [GroupCoordinator 1]: Stabilized group {evil} generation 5\n"
    )
    status, out, _ = diagnose(capsys, log, "--html")
    assert status == 0
    assert "<script" not in out and "<b>.log" not in out
    assert "&lt;script&gt;alert(1)&lt;/script&gt;-1" in out
    assert "default-src 'none'" in out
    assert "<svg" not in out, "one rebalance is no picture"


def test_the_page_quotes_and_redacted_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = diagnose(capsys, STORY / "server.log", "--html")
    assert "Preparing to rebalance group invoices" in out and "<svg" in out
    _, out, _ = diagnose(capsys, STORY / "server.log", "--html", "--redact")
    assert "invoices" not in out and "inv-app" not in out


STORIES = STORY.parent


@pytest.mark.parametrize("story", sorted(path.name for path in STORIES.iterdir()))
def test_a_redacted_log_tells_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, story: str
) -> None:
    files = [path for path in sorted((STORIES / story).iterdir()) if path.suffix != ".json"]
    status, out, _ = diagnose(capsys, *files, "--redact", "--text")
    assert status == 0
    copy = tmp_path / "posted.txt"
    copy.write_text(out)

    def causes(frame: dict[str, Any]) -> list[Any]:
        return [
            [[each["generation"], each["cause"], each["at"][:19]] for each in group["rebalances"]]
            + [finding["id"] for finding in group["findings"]]
            + [[state["state"], state["lag"]] for state in group["states"]]
            for group in frame["groups"].values()
        ]

    before, after = plain(capsys, *files), plain(capsys, copy)
    assert causes(after) == causes(before)
    for name, group in before["groups"].items():
        assert name not in out
        for each in group["rebalances"]:
            name = re.escape(each["member"] or "no member")
            assert not re.search(rf"(?<![\w-]){name}(?!\w)", out)
    assert "kafka-1" not in out and "127.0.0.1" not in out


def test_redaction_of_the_input_is_of_whole_files(capsys: pytest.CaptureFixture[str]) -> None:
    log = STORY / "server.log"
    for options in (["--text"], ["--redact", "--text", "--group", "g"]):
        status, _, err = diagnose(capsys, log, *options)
        assert status == 2 and "--text" in err
    status, _, err = diagnose(capsys, "-", "--redact", "--text")
    assert status == 2 and "in place of -" in err


def test_more_facts_than_are_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coordinator.clusters.diagnosis.MOST_FACTS", 3)
    status, out, err = diagnose(capsys, STORY / "server.log")
    assert status == 0
    assert "--group" in err and "Group invoices" in out


def test_an_event_log_that_exists_is_left_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The error names no option that this command does not have."""
    log = tmp_path / "told.jsonl"
    assert diagnose(capsys, STORY / "server.log", "--log", log)[0] == 0
    before = log.read_bytes()
    status, _, err = diagnose(capsys, STORY / "server.log", "--log", log)
    assert (status, log.read_bytes()) == (2, before)
    assert "exists already" in err and "--log-append" not in err
