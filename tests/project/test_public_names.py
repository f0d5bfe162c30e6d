"""What README and docs tell users to import: it stays where it is, or leaves a warning for one version."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tools.public_names import NAMES

FIXTURES = ("kafka", "akafka", "session_kafka", "kafka_factory", "kafka_emulator")


def test_the_page_of_promises_lists_the_same(project_root: Path) -> None:
    page = (project_root / "docs" / "compatibility.md").read_text()
    rows = re.findall(
        r"^\| `([\w.]+)` \| (.*) \|$", page.partition("## Public names")[2], re.MULTILINE
    )
    assert {module: tuple(re.findall(r"`(\w+)`", names)) for module, names in rows} == NAMES
    promised = re.search(r"the fixtures (.*), the marker", page)
    assert promised
    assert tuple(re.findall(r"`(\w+)`", promised[1])) == FIXTURES


def test_the_plugin_has_its_fixtures(request: pytest.FixtureRequest) -> None:
    told = request.config.pluginmanager.get_plugin("kafka-group-coordinator")
    assert told is not None
    assert [name for name in FIXTURES if not hasattr(told, name)] == []
    assert request.config.getoption("--kafka", default="missing") != "missing"
    assert any(line.startswith("kafka") for line in request.config.getini("markers"))


@pytest.mark.parametrize("module", sorted(NAMES))
def test_a_public_module_has_its_names(module: str) -> None:
    there = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(there, name)] == []


def test_every_import_of_the_documents_is_listed(project_root: Path) -> None:
    pages = [project_root / "README.md", *sorted((project_root / "docs").glob("*.md"))]
    imported = {
        (module, name)
        for page in pages
        for module, names in re.findall(
            r"^ *from ((?:coordinator|assignors)[\w.]*) import ([\w, ]+)",
            page.read_text(),
            re.MULTILINE,
        )
        if module.startswith("coordinator")
        for name in names.replace(" ", "").split(",")
    }
    assert imported, "the documents show no import any more"
    assert {
        (module, name) for module, name in imported if name not in NAMES.get(module, ())
    } == set()
