"""The page's JavaScript is checked as TypeScript checks it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

from tools.page_site.__main__ import HERE, PICTURE, readme_picture


def test_the_javascript_is_well_typed(site: Path) -> None:
    """`site` has brought the compiler."""
    command = [
        "node",
        str(HERE / "node_modules" / "typescript" / "bin" / "tsc"),
        "-p",
        str(HERE / "tsconfig.json"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout


def test_the_readmes_picture_is_what_make_site_draws(site: Path) -> None:
    """The same lanes and rows; instants may differ as the simulator changes, until `make site`
    draws it anew."""
    kept, drawn = PICTURE.read_text(encoding="utf-8"), readme_picture()
    for part in ('class="lane', 'class="axis', "orders-8", "PreparingRebalance"):
        assert kept.count(part) == drawn.count(part) > 0, part
    assert "<script" not in kept
    ET.fromstring(kept)
