"""`make docs` builds the documentation: no warning, which a link to a page or a heading that is not there would be, and
nothing that a reader's browser would fetch from elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tools.docs.__main__ import inside
from tools.public_names import NAMES

ROOT: Final = Path(__file__).resolve().parents[1]
_FETCHED: Final = re.compile(
    r"<(?:script|img|source|iframe)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\"'> ]+"
    r"|<link\b[^>]*\brel=[\"']?(?:stylesheet|preload|preconnect|icon)[^>]*\bhref=[\"']?(?:https?:)?//[^\"'> ]+"
)


def run(*command: str) -> str:
    """One step of `make docs`, in this environment: what it says."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def site() -> Path:
    run("make", "--no-print-directory", ".venv-docs/.ready", f"PYTHON={sys.executable}")
    run(sys.executable, "-m", "tools.docs")
    said = run(".venv-docs/bin/python", "-m", "mkdocs", "build", "--quiet")
    assert not re.search("WARNING|ERROR", said), said
    return ROOT / "build" / "docs"


def test_it_can_be_searched(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {each["location"].partition("#")[0] for each in index["docs"]}
    assert {"tutorial/", "rules/", "api/coordinator/"} <= found


def test_every_public_name_has_its_reference(site: Path) -> None:
    missing = [
        f"{module}.{name}"
        for module, names in NAMES.items()
        for name in names
        if not name.startswith("__")
        and f'id="{module}.{name}"' not in (site / "api" / module / "index.html").read_text()
    ]
    assert missing == []


def test_no_page_fetches_from_elsewhere(site: Path) -> None:
    pages = [*(site / "api").rglob("*.html"), *site.glob("*/index.html"), site / "index.html"]
    assert len(pages) > 30
    assert [
        (page.name, found[0]) for page in pages for found in _FETCHED.finditer(page.read_text())
    ] == []
    assert _FETCHED.search('<link rel="stylesheet" href="https://fonts.example/css">')
    assert _FETCHED.search("<script src=//cdn.example/x.js></script>")


def test_links_out_of_the_pages() -> None:
    text = "see [examples](../examples/go), [curve](curve), [tables](tables.md#runs)"
    assert inside(text, "") == "see examples, [curve](curve/README.md), [tables](tables.md#runs)"
    assert "(https://x.example/a/blob/main/examples/go)" in inside(text, "https://x.example/a")
