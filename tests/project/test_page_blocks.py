"""Who runs the blocks of docs/: each shell, Python and TOML block is run by a test that names its page,
or it is said here why not. Those that no other test runs are run here, as they stand; an address of a
page becomes that of a free port.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from coordinator import Emulator
from coordinator.lab.pipeline.sweeps import read_sweep
from tests.ports import kept_port
from tests.project.test_readme import BLOCK, PORT, here, run_line, run_python

THIS: Final = "tests/project/test_page_blocks.py"
_TESTING: Final = "tests/testing/test_testing_page.py"
RUN_BY: Final = {
    ("README", "sh"): "tests/project/test_readme.py",
    ("README", "python"): "tests/project/test_readme.py",
    ("agents", "python"): "tests/testing/test_agents_page.py",
    ("assignors", "python"): "tests/assignors/test_documentation.py",
    ("cluster", "python"): THIS,
    ("control", "sh"): "tests/kit/http/test_control_page.py",
    ("control", "python"): "tests/kit/http/test_control_page.py",
    ("event_log", "python"): THIS,
    ("judging", "python"): "tests/assignors/test_judge.py",
    ("lessons_teaching", "sh"): THIS,
    ("lessons_teaching", "toml"): THIS,
    ("members", "sh"): THIS,
    ("members", "python"): THIS,
    ("pipeline", "toml"): THIS,
    ("releases", "python"): THIS,
    ("security", "python"): "tests/server/security/test_page.py",
    ("security_clients", "python"): "tests/server/security/test_page.py",
    ("security_clients", "sh"): "integration_tests/test_control_examples.py",
    ("share_curve", "toml"): "tests/lab/simulator/test_share_curve.py",
    ("simulator", "sh"): THIS,
    ("testcontainers", "python"): "tests/testing/test_page.py",
    ("testing", "python"): _TESTING,
    ("testing_cookbook", "python"): "tests/testing/test_cookbook_page.py",
    ("testing_cookbook", "sh"): "integration_tests/test_control_examples.py",
    ("testing_faults", "python"): _TESTING,
    ("testing_queues", "python"): _TESTING,
    ("testing_ready", "python"): _TESTING,
    ("testing_records", "python"): _TESTING,
    ("testing_deleted", "python"): _TESTING,
    ("testing_time", "python"): _TESTING,
    ("tutorial", "python"): "tests/testing/test_tutorial_page.py",
}
NOT_RUN: Final = {
    ("client_suites", "sh"): "a server for another project's suite",
    ("clients", "sh"): "`make matrix` plays all clients on all versions, for minutes",
    (
        "lessons",
        "sh",
    ): "the first is run here; `make site` needs Node: integration_tests/page builds it",
    ("diagnose", "sh"): "logs of other people: tests/cli/test_diagnose.py gives it some",
    ("pipeline", "sh"): "Spark: pipeline_tests run the same commands",
    (
        "pipeline",
        "python",
    ): "polars, which the pipeline's environment has: pipeline_tests/test_tables.py",
    ("releases", "sh"): "two real brokers of a release, by `make fuzz`",
    (
        "tutorial",
        "sh",
    ): "`pip install`, done in empty environments by integration_tests/test_installed.py",
}


def blocks(root: Path, page: str, language: str) -> list[str]:
    path = root / ("README.md" if page == "README" else f"docs/{page}.md")
    return [text for tag, text in BLOCK.findall(path.read_text()) if tag == language]


def test_each_block_has_somebody_who_runs_it(project_root: Path) -> None:
    pages = [project_root / "README.md", *sorted((project_root / "docs").glob("*.md"))]
    there = {
        (page.stem, language)
        for page in pages
        for language, _ in BLOCK.findall(page.read_text())
        if language in ("sh", "python", "toml")
    }
    assert there == RUN_BY.keys() | NOT_RUN.keys()
    for (page, _), test in RUN_BY.items():
        assert page in (project_root / test).read_text(), f"{test} does not name {page}"


def test_no_block_stands_in_a_folder_below_docs(project_root: Path) -> None:
    """They would be overlooked above."""
    pages = [page for page in (project_root / "docs").rglob("*.md") if page.parent.name != "docs"]
    tags = Counter(tag for page in pages for tag, _ in BLOCK.findall(page.read_text()))
    assert not tags.keys() & {"sh", "python", "toml"}


@pytest.mark.parametrize("page", ["simulator", "members", "lessons"])
def test_commands_run(page: str, project_root: Path, tmp_path: Path) -> None:
    """The first block of each."""
    place = here(project_root, tmp_path)
    address = f"127.0.0.1:{kept_port()}"
    block = blocks(project_root, page, "sh")[0].replace(PORT, address)
    block = re.sub("^coordinator serve", rf"\g<0> --listen {address}", block, flags=re.MULTILINE)
    with ExitStack() as running:
        if page == "members":
            run_line(f"coordinator serve --listen {address} --topic orders:12", place, running)
        for line in block.splitlines():
            if "static=false" in line:  # breaks a promise, as the page says
                with pytest.raises(AssertionError, match="most_rebalances: broken"):
                    run_line(line, place, running)
            else:
                run_line(line, place, running)


def test_a_lesson_of_lessons_teaching_is_checked_served_and_built(
    project_root: Path, tmp_path: Path
) -> None:
    (lesson,) = blocks(project_root, "lessons_teaching", "toml")
    (commands,) = blocks(project_root, "lessons_teaching", "sh")
    place = here(project_root, tmp_path)
    (place.folder / "mine.toml").write_text(lesson)
    with ExitStack() as running:
        for line in commands.splitlines():
            run_line(line, place, running)
    assert (place.folder / "my-site" / "mine.html").exists()


@pytest.mark.parametrize("page", ["cluster", "releases"])
def test_python_runs(page: str, project_root: Path, tmp_path: Path) -> None:
    (block,) = blocks(project_root, page, "python")
    run_python(["-c", f"from coordinator import Emulator\n{block}"], here(project_root, tmp_path))


def test_the_peer_and_the_fleet_of_members(project_root: Path, tmp_path: Path) -> None:
    """The first block of the page has the only member of its group; it says that another may be there."""
    peer, fleet = blocks(project_root, "members", "python")
    peer = peer.replace("members=2", "members=1").replace(
        "after_generation=3", "after_generation=0"
    )
    place = here(project_root, tmp_path)
    run_python(["-c", f"from coordinator import Emulator\n{peer}"], place)
    inner = re.sub("^", "    ", fleet, flags=re.MULTILINE)
    with Emulator({"orders": 12}) as kafka:
        text = (
            "import asyncio\n"
            "from coordinator.members.config import MemberConfig\n"
            "from coordinator.members.live import Fleet\n"
            f"async def main():\n{inner}\nasyncio.run(main())\n"
        )
        run_python(["-c", text.replace(PORT, kafka.bootstrap_servers)], place)


def test_the_reader_of_event_log(project_root: Path, tmp_path: Path) -> None:
    (block,) = blocks(project_root, "event_log", "python")
    place = here(project_root, tmp_path)
    simulate = ["simulate", "one_crash_one_join", "--log", "run.jsonl"]
    run_python(["-m", "coordinator", *simulate], place)
    run_python(["-c", f"{block}\nassert rebalances('run.jsonl') > 0"], place)


def test_the_sweep_of_pipeline(project_root: Path, tmp_path: Path) -> None:
    (block,) = blocks(project_root, "pipeline", "toml")
    assert tomllib.loads(block)["seeds"] == 20
    (tmp_path / "sweep.toml").write_text(block)
    assert read_sweep(str(tmp_path / "sweep.toml"))
