"""What real brokers did in each story, kept in files: integration_tests/golden/clients, one file a
variant.

A line names a story; then a line for each member. Owns the files' form and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from integration_tests.clients.compare import Expected
from integration_tests.clients.perform import Part

HOME: Final = Path(__file__).resolve().parent.parent / "golden" / "clients"

Golden = dict[Part, dict[str, Expected]]


def load(home: Path = HOME) -> Golden:
    """What is expected of every variant's stories, by member."""
    found: Golden = {}
    for path in sorted(home.glob("*.jsonl")):
        members: dict[str, Expected] = {}
        for text in path.read_text().splitlines():
            entry = json.loads(text)
            if "story" in entry:
                members = found[path.stem, entry["story"]] = {}
            else:
                members[entry["member"]] = Expected(
                    entry["view"], entry["normal"], entry["records"], entry["ways"]
                )
    return found


def save(golden: Mapping[Part, dict[str, Expected]], home: Path = HOME) -> None:
    """Write the files anew."""
    home.mkdir(parents=True, exist_ok=True)
    variants: dict[str, list[str]] = {}
    for (variant, story), members in sorted(golden.items()):
        lines = variants.setdefault(variant, [])
        lines.append(json.dumps({"story": story}))
        lines.extend(
            json.dumps({"member": name, **expected._asdict()}) for name, expected in members.items()
        )
    for variant, lines in variants.items():
        (home / f"{variant}.jsonl").write_text("\n".join(lines) + "\n")
