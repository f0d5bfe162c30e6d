"""Which scenarios touch which rules, from the scenarios' docstrings.

    python -m integration_tests.wire.coverage [--by scenario|rule] [part of a name or rule ...]

By rule, rules that no scenario cites are listed too (many are about the client's side, assignors,
loading or failover, which no raw request shows; unit tests cite those).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Final

from integration_tests.wire.registry import all_scenarios

RULES: Final = Path(__file__).resolve().parents[2] / "docs" / "rules.md"
_RULE = re.compile(r"\*\*([A-Z]+-\d+)\*\*")
_CITED = re.compile(r"\b([A-Z]{2,})-(\d+)(?: to (?:\1-)?(\d+))?")  # JOIN-4, VER-1 to VER-4


def cited(text: str) -> list[str]:
    """The rule ids in a text, in order, ranges spelled out."""
    found = [
        f"{kind}-{n}"
        for kind, first, last in _CITED.findall(text)
        for n in range(int(first), int(last or first) + 1)
    ]
    return list(dict.fromkeys(found))


def by_scenario() -> dict[str, list[str]]:
    """The rules that each scenario cites, known ones only."""
    known = set(_RULE.findall(RULES.read_text()))
    return {
        name: [rule for rule in cited(s.play.__doc__ or "") if rule in known]
        for name, s in sorted(all_scenarios().items())
    }


def by_rule() -> dict[str, list[str]]:
    """The scenarios that cite each rule, in the order of docs/rules.md."""
    citing = by_scenario()
    return {
        rule: [name for name, rules in citing.items() if rule in rules]
        for rule in dict.fromkeys(_RULE.findall(RULES.read_text()))
    }


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.wire.coverage", description=__doc__
    )
    parser.add_argument("--by", choices=("scenario", "rule"), default="scenario")
    parser.add_argument("parts", nargs="*", help="parts of scenario names or rule ids")
    options = parser.parse_intermixed_args(arguments)
    table = by_scenario() if options.by == "scenario" else by_rule()
    rows = {
        name: others
        for name, others in table.items()
        if not options.parts or any(part in name for part in options.parts)
    }
    width = max(map(len, rows), default=0)
    for name, others in rows.items():
        print(f"{name:{width}}  {', '.join(others) or '-'}")
    touched = sum(1 for others in by_rule().values() if others)
    print(f"{len(all_scenarios())} scenarios; {touched} rules touched")
    return 0


if __name__ == "__main__":
    sys.exit(main())
