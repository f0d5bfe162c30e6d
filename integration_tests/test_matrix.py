"""The matrix of docs/clients.md: the newest Go and Node libraries show what the page says, as those of
Python and Java do in test_clients.py, test_consumer_clients.py and tests/clients; the page is as new
as the versions that the project locks.

Skipped with one line where a language's tools are missing, a failure if REQUIRE_REAL_BROKER is set.
@platformatic/kafka, which brings a Node of its own, is played by `make matrix` alone; the second Go
library, sarama, by `make matrix` and `make fuzz`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coordinator import Emulator
from integration_tests.matrix import acts, table
from integration_tests.matrix.__main__ import row
from integration_tests.matrix.libraries import LIBRARIES, make
from integration_tests.matrix.playing import Call
from integration_tests.test_control_examples import KAFKAJS, tools

IN_THE_GATE = [
    ("franz-go", "classic"),
    ("franz-go", "consumer"),
    ("franz-go", "share"),
    pytest.param("sarama", "classic", marks=pytest.mark.thorough),
    ("kafkajs", "classic"),
]
"""One library for each language that no other test of this folder plays."""
KNOWN = {(each.library, each.protocol, each.version): each for each in table.load()}
PLANTED = """
from integration_tests.matrix.players import aiokafka_player, stage

class Player(aiokafka_player.Player):
    {bug}

stage.play(Player)
"""


@pytest.mark.parametrize(("name", "protocol"), IN_THE_GATE)
def test_the_newest_shows_what_the_page_says(name: str, protocol: str, tmp_path: Path) -> None:
    library = LIBRARIES[name]
    tools(*library.tools)
    version = library.newest()
    found = row(library, version, protocol, make(library, version, protocol, tmp_path))
    limits = library.limits_of(protocol, version)
    assert {behaviour: why for behaviour, why in found.found.items() if why} == {
        behaviour: found.found[behaviour] for behaviour in limits
    }


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_page_is_as_new_as_the_versions_that_are_locked(name: str) -> None:
    """If it is older: `make matrix`."""
    library = LIBRARIES[name]
    assert {
        (library.name, protocol, version)
        for protocol in library.oldest
        for version in library.versions(protocol)
    } == {key for key in KNOWN if key[0] == name}


def test_the_page_is_made_from_the_data() -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.page(table.load())


def test_nothing_on_the_page_is_unexplained() -> None:
    """What does not work is a limit of the library, and a limit is something that does not work."""
    for found in KNOWN.values():
        library = LIBRARIES[found.library]
        failing = {behaviour for behaviour, why in found.found.items() if why}
        assert failing == set(library.limits_of(found.protocol, found.version)), found
        shown = {
            each for act in acts.acts_of(found.protocol, library.lacks) for each in acts.ACTS[act]
        }
        assert set(found.found) == shown


def test_the_cookbook_has_the_same_kafkajs() -> None:
    assert KAFKAJS.partition("@")[2] == LIBRARIES["kafkajs"].newest()


@pytest.mark.parametrize(
    ("act", "bug", "told"),
    [
        (acts.commits, "def commit(self): pass", "8 records behind"),
        (acts.transactions, "def transact(self, out, read, *, commits): pass", "4 records behind"),
        (acts.members, "def close(self): pass", "leave"),
        (
            acts.static,
            "def __init__(self, w): super().__init__(w._replace(instance=None))",
            "LookupError",
        ),
    ],
    ids=["commit", "transaction", "leave", "static"],
)
def test_a_library_that_does_not_do_it_is_found(
    act: acts.Act, bug: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acts, "SETTLING_S", 1.0)
    player = tmp_path / "planted.py"
    player.write_text(PLANTED.format(bug=bug))
    with Emulator(config=acts.CONFIG, remember=100_000) as kafka:
        call = Call([sys.executable, str(player)], tmp_path)
        found = acts.play(kafka, act, "planted", "classic", call)
    assert told in str({behaviour: why for behaviour, why in found.items() if why})
