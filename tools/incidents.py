"""What the shipped incidents cost, as a table, and a picture of each: `python -m tools.incidents` writes
both, into docs/simulator_incidents.md and docs/incidents/. Needs Node and npm, as `make site` does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from coordinator.events import EventLog
from coordinator.events.line import Line
from coordinator.lab.simulator.comparing.measures import measure
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files import catalogue
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from tools.incident_pictures import FOLDER, markdown, pictures
from tools.page_site.__main__ import ROOT, install

PAGE: Final = ROOT / "docs" / "simulator_incidents.md"
WRITTEN: Final = "<!-- Written by `python -m tools.incidents`. -->\n"
"""In the page, what follows is made."""
HEAD: Final = (
    "| incident | what it teaches | rebalances | without an owner, partition-s | processed again |",
    "|---|---|---|---|---|",
)


def row(name: str, lines: Iterable[Line]) -> str:
    """The row of one incident, by its log."""
    cost = measure(lines)
    lesson = read_scenario(catalogue.text(name), name).lesson
    unowned = f"{cost.unavailable_partition_s:.1f}"
    return f"| [`{name}`](#{name}) | {lesson} | {cost.rebalances:.0f} | {unowned} | {cost.duplicates:.0f} |"


def section(name: str) -> str:
    """The picture of one incident below its name."""
    return f"## {name}\n\n{markdown(name)}\n"


def log_of(name: str, seed: int = 1) -> list[Line]:
    """One incident's run."""
    log = EventLog(seed=seed, epoch_ms=EPOCH_MS)
    run_scenario(read_scenario(catalogue.text(name), name), seed, log)
    return list(log.read())


def written(logs: Iterable[tuple[str, list[Line]]]) -> Iterator[str]:
    """The part of the page that is made: the table, and a picture for each row."""
    logs = list(logs)
    yield "\n".join([*HEAD, *(row(name, lines) for name, lines in logs)]) + "\n"
    for name, _ in logs:
        yield section(name)


def main() -> None:
    """Write the page and the pictures."""
    install()
    logs = [(name, log_of(name)) for name in catalogue.incidents()]
    FOLDER.mkdir(exist_ok=True)
    for name, svg in pictures(logs).items():
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
    begun = PAGE.read_text(encoding="utf-8").partition(WRITTEN)[0]
    PAGE.write_text(begun + WRITTEN + "\n" + "\n".join(written(logs)), encoding="utf-8")


if __name__ == "__main__":
    main()
