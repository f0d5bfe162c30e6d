"""`python -m tools.incidents` draws a picture of each shipped incident."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from coordinator.lab.simulator.files import catalogue
from tools.incident_pictures import pictures
from tools.incidents import log_of

QUICK: Final = (
    "bad_readiness_probe",
    "everything_restarts_at_once",
    "hot_key",
    "liveness_probe_kills_the_busy",
    "many_stop_at_once",
    "network_blip",
    "one_transactional_id_twice",
)
"""Those that take half a second; between them they have all that is drawn."""


def shown(svg: str) -> dict[str, list[str]]:
    """What a picture shows, by kind."""
    _, _, labels = svg.partition('<g class="labels">')
    _, _, happens = svg.partition('<g class="happens">')
    return {
        "states": re.findall(r'class="state (\w+)"', svg),
        "generations": re.findall('class="number"', svg),
        "lanes": re.findall('class="lane"', svg),
        "owners": sorted(set(re.findall(r'class="cell[^"]*" +(?:fill="[^"]*")?', svg))),
        "labels": re.findall("<text[^>]*>([^<]*)</text>", labels.partition("</g><g clip-path")[0]),
        "happens": re.findall("<text[^>]*>([^<]*)</text>", happens),
    }


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(QUICK, id="quick"),
        pytest.param(
            [each for each in catalogue.incidents() if each not in QUICK],
            id="others",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_each_picture_shows_states_members_and_what_happens(
    site: Path, names: tuple[str, ...]
) -> None:
    """`site` has brought what draws."""
    drawn = pictures((name, log_of(name)) for name in names)
    for name, svg in drawn.items():
        told = shown(svg)
        assert [kind for kind in ("states", "lanes", "happens") if not told[kind]] == [], name
