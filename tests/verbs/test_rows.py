"""The table of verbs agrees with itself, and what is not made of it agrees with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coordinator.events.vocabulary import FIELD_NAMES, names
from coordinator.kit.cluster_kit import ClusterKit
from coordinator.lab.simulator.swarm.random_scenarios import scenario_text
from coordinator.verbs import ROWS, Row
from coordinator.verbs.brokers import VERBS
from coordinator.verbs.members import MEMBER_VERBS

EACH = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)


@EACH
def test_its_sentence_and_its_lines_are_of_its_own_fields(row: Row) -> None:
    said = set(re.findall(r"{(\w+)}", row.sentence))
    assert said <= set(row.logged) <= FIELD_NAMES
    assert set(row.lines) <= set(names("fault"))
    assert row.sentence.format(**dict.fromkeys(row.logged, 1))


@EACH
def test_what_undoes_it_is_a_verb_or_a_line_of_its_own(row: Row) -> None:
    if not row.of_member and row.undone_by:
        assert ROWS[row.undone_by].undone_by == row.name
    elif row.undone_by:
        assert row.undone_by in row.lines


@EACH
def test_every_field_has_a_meaning_and_a_type(row: Row) -> None:
    for taken in row.takes:
        assert taken.doc, taken.name
        assert taken.several or taken.number or not taken.choices or taken.choices[0], taken.name


def test_every_verb_is_of_brokers_or_of_members_and_has_its_own_command() -> None:
    assert set(ROWS) == {*VERBS, *MEMBER_VERBS}
    commands = [row.command for row in ROWS.values() if row.command]
    assert len(commands) == len(set(commands))


def test_the_kit_has_a_method_for_each_verb_that_no_other_one_undoes_to() -> None:
    """What only undoes another verb is done by `undo`; topics have methods of their own."""
    only_undoes = {"UnfenceBroker", "HealLink", "HealClient"}
    of_topics = {"CreateTopic", "CreatePartitions", "DeleteTopic"}
    wanted = set(VERBS) - only_undoes - of_topics
    assert {re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() for name in wanted} <= set(
        dir(ClusterKit)
    )


def test_what_the_swarm_is_to_reach_is_drawn() -> None:
    texts = "\n".join(scenario_text(seed) for seed in range(600))
    drawn = {name for name in ROWS if f'verb = "{name}"' in texts}
    for row in ROWS.values():
        if row.drawn:
            assert drawn & {row.name, row.undone_by}, row.name


def test_the_pages_have_every_verb_with_its_fields(project_root: Path) -> None:
    docs = project_root / "docs"
    cluster, simulator = ((docs / f"{name}.md").read_text() for name in ("cluster", "simulator"))
    told = dict(re.findall(r"`([A-Z]\w+)\(([^)]*)\)`", cluster))
    for name in VERBS:
        fields = ", ".join(taken.name for taken in ROWS[name].takes)
        assert told[name] in (fields, "..."), name
    for name in MEMBER_VERBS:
        assert f"`{name}`" in simulator, name
