"""What makes the wheel small changes nothing that is in it, but for scripts' comments."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator.simulator.files import catalogue
from hatch_build import COMMENT, SCENARIOS, SCRIPTS, pack_scenarios, shortened, without_comments


def smallest(data: bytes) -> bytes:
    made = zlib.compressobj(9, zlib.DEFLATED, -15)
    return made.compress(data) + made.flush()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """As hatchling writes one, with a text, an empty file and one that is not compressed."""
    path = tmp_path / "made.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        made.writestr("package/text.py", "a line of text\n" * 1000)
        made.writestr("package/empty.py", "")
        made.writestr(zipfile.ZipInfo("package/é.bin"), b"\0\1" * 50)
    return path


def test_the_same_files_come_out_of_a_shortened_archive(archive: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.whl"
    short.write_bytes(shortened(archive, smallest))
    assert short.stat().st_size < archive.stat().st_size
    with zipfile.ZipFile(archive) as before, zipfile.ZipFile(short) as after:
        assert after.testzip() is None
        assert after.namelist() == before.namelist()
        for old, new in zip(before.infolist(), after.infolist(), strict=True):
            assert after.read(new) == before.read(old)
            assert (new.date_time, new.external_attr) == (old.date_time, old.external_attr)
    assert short.read_bytes() == shortened(archive, smallest), "made twice it is the same"


def test_what_does_not_get_shorter_stays(archive: Path) -> None:
    assert shortened(archive, lambda data: data + b"more") == archive.read_bytes()


@pytest.fixture
def fresh() -> Iterator[None]:
    catalogue._texts.cache_clear()
    yield
    catalogue._texts.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_the_archive_of_scenarios_is_read_as_the_folders_are(
    project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = {name: catalogue.text(name) for name in catalogue.names() + catalogue.incidents()}
    one, real = catalogue.names(), catalogue.incidents()
    pack_scenarios(project_root / SCENARIOS, tmp_path / "shipped.zip")
    monkeypatch.setattr(catalogue, "files", lambda package: tmp_path)
    catalogue._texts.cache_clear()
    assert (catalogue.names(), catalogue.incidents()) == (one, real)
    assert {name: catalogue.text(name) for name in one + real} == shipped


def test_a_script_loses_the_comments_that_have_lines_of_their_own() -> None:
    script = """// @ts-check
/** What it does. @param {number} a
 * @param {number} b */
export function sum(a, b) {
  // Both at once.
  return a + b; // the sum
}
/** @type {Worker} */ (worker).start();
"""
    assert (
        without_comments(script)
        == """export function sum(a, b) {
  return a + b; // the sum
}
/** @type {Worker} */ (worker).start();
"""
    )


def test_no_script_has_such_a_line_within_a_text(project_root: Path) -> None:
    """A text in backquotes may have lines of its own, which only look like comments."""
    for path in sorted((project_root / SCRIPTS).glob("*.js")):
        script = path.read_text("utf-8")
        for found in COMMENT.finditer(script):
            before = without_comments(script[: found.start()])
            assert before.count("`") % 2 == 0, f"{path.name}: {found[0]}"
