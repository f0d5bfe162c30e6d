"""A log that is followed as it grows, and the server that shows it on loopback."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator.cli import main
from coordinator.events import LogError
from coordinator.lab.page.engine import play
from coordinator.lab.page.following import Follower
from coordinator.lab.page.server import PageServer, assets

from .test_picture import SCENARIO


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return play(SCENARIO, "test", 1)


@pytest.fixture
def log(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(lines[:150]) + "\n")
    return path


def seen(follower: Follower) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(follower.plain())
    return value


def test_growth_is_taken_line_by_line(log: Path, lines: list[str]) -> None:
    follower = Follower(log)
    before = seen(follower)["picture"]["end_ms"]
    assert not follower.poll()
    with log.open("a") as file:
        file.write(
            "\n".join(lines[150:]) + "\n" + lines[-1][:10]
        )  # the last line is still being written
    assert follower.poll() and not follower.poll()
    grown = seen(follower)
    assert grown["name"] == "run.jsonl" and grown["picture"]["end_ms"] == 60_000 > before
    whole = log.with_name("whole.jsonl")
    whole.write_text("\n".join(lines) + "\n")
    assert seen(Follower(whole))["picture"] == grown["picture"]


def test_a_new_run_begins_a_new_picture(log: Path, lines: list[str]) -> None:
    follower = Follower(log)
    with log.open("a") as file:
        file.write(
            "\n".join(line.replace('"run":"1"', '"run":"1-2"') for line in lines[:120]) + "\n"
        )
    follower.poll()
    assert seen(follower)["picture"]["run"] == "1-2"
    assert seen(Follower(log, "1"))["picture"]["run"] == "1"
    with pytest.raises(LogError, match="there is no run 7 in this log; its runs are 1, 1-2"):
        Follower(log, "7")


def test_a_replaced_file_begins_anew(log: Path, lines: list[str]) -> None:
    follower = Follower(log)
    log.write_text("\n".join(lines[:110]) + "\n")
    assert follower.poll()
    assert follower.problem is None and seen(follower)["picture"]["end_ms"] <= 55


def test_what_becomes_no_log_is_told(log: Path) -> None:
    follower = Follower(log)
    with log.open("a") as file:
        file.write("hello\n")
    assert follower.poll()
    assert "line 151: not JSON" in seen(follower)["error"]


def test_damaged_lines_of_a_file_that_does_not_grow_are_left_out(
    log: Path, lines: list[str]
) -> None:
    log.write_text("\n".join([*lines[:50], "hello", lines[50], "{}", *lines[51:90]]) + "\n")
    follower = Follower(log, grows=False)
    count, first = seen(follower)["damaged"]
    assert count == 2
    assert "line 51: not JSON" in first
    log.write_text("\n".join(lines[:90]) + "\n")
    whole = Follower(log, grows=False)
    assert "damaged" not in seen(whole)
    assert seen(whole)["picture"] == seen(follower)["picture"]


def test_a_log_that_was_mended_is_shown_again(log: Path, lines: list[str]) -> None:
    follower = Follower(log)
    with log.open("a") as file:
        file.write("hello\n")
    assert follower.poll() and "error" in seen(follower)
    assert not follower.poll(), "what cannot be shown is not read again and again"
    log.write_text("\n".join(lines[:110]) + "\n")
    assert follower.poll()
    assert follower.problem is None and seen(follower)["picture"]["end_ms"] <= 55


@pytest.mark.parametrize("limit", ["MOST_FOLDED", "MOST_LINES"])
def test_a_run_too_long_for_the_page_says_which_part_can_be_shown(
    log: Path,
    lines: list[str],
    limit: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(f"coordinator.lab.page.following.{limit}", 160)
    first = log.read_text().replace('"run":"1"', '"run":"0"')
    log.write_text(first + log.read_text())  # the run that is shown begins at line 151
    follower = Follower(log)
    with log.open("a") as file:
        file.write("\n".join(lines[150:]) + "\n")
    assert follower.poll()
    assert "line 311: this run is longer than the page can show" in seen(follower)["error"]
    assert main(["watch", str(log)]) == 2
    told = capsys.readouterr().err
    assert "`sed -n '151,310p' LOG > part.jsonl; coordinator watch part.jsonl`" in told
    part = log.with_name("part.jsonl")
    part.write_text("".join(log.read_text().splitlines(keepends=True)[150:310]))
    assert seen(Follower(part))["picture"]["run"] == "1"


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"seq":0}\n')
    with pytest.raises(LogError, match="line 1"):
        Follower(path)
    path.write_text("")
    with pytest.raises(LogError, match="empty"):
        Follower(path)


@pytest.mark.parametrize(
    ("text", "told"), [(None, "cannot read"), ("nonsense\n", "line 1: not JSON")]
)
def test_watch_refuses_what_it_cannot_show(
    tmp_path: Path, text: str | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    if text is not None:
        path.write_text(text)
    assert main(["watch", str(path)]) == 2
    assert told in capsys.readouterr().err


def test_watch_of_a_folder_asks_for_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith(
        "Is a directory; give the event log itself, a file in it\n"
    )


# -- the server


@pytest.fixture
def server(log: Path) -> Iterator[PageServer]:
    served = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(log))
    served.start()
    yield served
    served.stop()


def get(server: PageServer, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return (
            answer.status,
            {name.lower(): value for name, value in answer.getheaders()},
            answer.read(),
        )
    finally:
        connection.close()


def test_the_page_and_its_picture_are_served(server: PageServer) -> None:
    status, headers, body = get(server, "/")
    assert status == 200 and b"watch.js" in body and headers["content-type"].startswith("text/html")
    assert (
        "script-src 'self'" in headers["content-security-policy"]
        and headers["x-content-type-options"] == "nosniff"
    )
    assert json.loads(get(server, "/picture")[2])["picture"]["groups"][0]["group"] == "app"
    assert len(json.loads(get(server, "/steps?begin=0&end=3")[2])["steps"]) == 3
    assert get(server, "/stage.js")[1]["content-type"].startswith("text/javascript")


def test_a_file_that_has_not_changed_is_not_sent_again(server: PageServer) -> None:
    status, headers, body = get(server, "/stage.js")
    assert status == 200 and body
    again, unchanged, nothing = get(server, "/stage.js", **{"If-None-Match": headers["etag"]})
    assert (again, nothing) == (304, b"")
    assert unchanged["etag"] == headers["etag"]
    assert get(server, "/stage.js", **{"If-None-Match": '"other"'})[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/none.html",
        "/../server.py",
        "/%2e%2e/server.py",
        "/vendor/../../server.py",
        "/..%5cserver.py",
    ],
)
def test_nothing_but_the_pages_files_is_served(server: PageServer, path: str) -> None:
    assert get(server, path)[0] == 404


@pytest.mark.parametrize("query", ["", "?begin=x&end=2", "?begin=-1&end=2"])
def test_steps_want_numbers(server: PageServer, query: str) -> None:
    assert get(server, f"/steps{query}")[0] == 400


def test_a_foreign_site_cannot_read_through_a_browser(server: PageServer) -> None:
    assert get(server, "/picture", Host="evil.example:80")[0] == 421


def test_a_reader_is_told_when_the_log_grows(
    server: PageServer, log: Path, lines: list[str]
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/events")
    answer = connection.getresponse()
    assert answer.getheader("Content-Type") == "text/event-stream"
    assert answer.readline() == b"event: grown\n"  # at once: what is there
    answer.readline(), answer.readline()
    with log.open("a") as file:
        file.write("\n".join(lines[150:]) + "\n")
    assert answer.readline() == b"event: grown\n"
    connection.close()
    assert json.loads(get(server, "/picture")[2])["picture"]["end_ms"] == 60_000


def test_lessons_want_a_built_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", str(tmp_path)]) == 2
    assert "`make site` builds one" in capsys.readouterr().err


def test_a_long_log_is_read_in_slices_and_its_picture_is_there_from_the_first_on(
    log: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_text("\n".join(lines) + "\n")
    whole = seen(Follower(log))
    assert "reading" not in whole
    monkeypatch.setattr("coordinator.lab.page.following.MOST_AT_ONCE", 2000)
    follower = Follower(log)
    first, versions = seen(follower), {follower.version}
    assert first["picture"]["step_count"] < whole["picture"]["step_count"]
    done, of = first["reading"]
    assert 0 < done <= 2000 < of == log.stat().st_size
    slices = 1
    while follower.behind:
        assert follower.poll()
        versions.add(follower.version)
        slices += 1
    assert seen(follower) == whole
    assert not follower.poll()
    assert slices > of // 2000 and len(versions) < slices / 2, "not every slice is told"


def test_a_line_longer_than_a_slice_is_taken_whole(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = seen(Follower(log))
    monkeypatch.setattr("coordinator.lab.page.following.MOST_AT_ONCE", 10)
    follower = Follower(log)
    while follower.behind:
        assert follower.poll()
    assert seen(follower) == whole


def test_what_is_no_log_in_the_midst_of_a_long_one_is_told(
    log: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_text("\n".join([*lines[:200], "hello", *lines[200:]]) + "\n")
    monkeypatch.setattr("coordinator.lab.page.following.MOST_AT_ONCE", 2000)
    follower = Follower(log)
    while follower.behind:
        follower.poll()
    assert "line 201: not JSON" in seen(follower)["error"]
