"""Which classes and functions keep state of members, generations, owners or rebalances from the lines
of a log: `python -m tools.folds [--all]`. None may stand elsewhere than named here.

A class counts if it names at least two of the classes of events below, in its own code or in a table
beside it whose functions are its own, and writes to its own state; a function likewise, with local
state. `coordinator.history.world` is where they belong, beside `groups`, which a log is folded into when it
is replayed. What looks like a fold and is none has its reason in `NO_FOLDS`, and is listed with it.
`--all` lists history's and the judges' own, too. Status 1: a fold stands elsewhere, or a reason is given
for what is not found.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

WATCHED: Final = frozenset(
    {
        "MemberJoined",
        "MemberRejoined",
        "MemberReplaced",
        "MemberRemoved",
        "RebalanceStarted",
        "GenerationStarted",
        "GenerationStored",
        "GroupEmptied",
        "GroupLoaded",
        "ConsumerMemberSubscribed",
        "ConsumerMemberReplaced",
        "ConsumerMemberRemoved",
        "ConsumerMemberReconciled",
        "GroupEpochBumped",
        "TargetAssigned",
        "PartitionsAssigned",
        "PartitionsRevoked",
        "PartitionsLost",
    }
)
_OF_HISTORY: Final = "coordinator/history/world/"
_PROMISES: Final = "coordinator/history/judges/"
"""Judges keep promises of their own, on history's facts: they are listed apart."""


NO_FOLDS: Final[Mapping[str, str]] = {
    "coordinator/kit/ready_tests/held_rebalances.py: _cooperative": "times between lines of one member",
    "coordinator/kit/ready_tests/held_rebalances.py: _reconciling": "times between lines of one member",
    "coordinator/kit/ready_tests/identities.py: clients_that_joined": "a set of client ids, in no order",
    "coordinator/kit/ready_tests/repeats.py: _overtaken": "keeps a committed offset, and the numbers of lines",
    "coordinator/kit/ready_tests/withheld_news.py: WithheldNews": "selects lines, in no order",
    "coordinator/kit/verifying/verification.py: Verification": "selects lines, in no order",
    "coordinator/kit/emulator/peers.py: callback_logger": "writes the lines",
    "coordinator/history/explain/narrator.py: Narrator": "words for what history's timeline found",
    "coordinator/history/explain/cause_sentences.py: _course": "words for what history's timeline found",
    "coordinator/lab/page/exports/as_pytest.py: _Anchors": "counts lines of a type",
    "coordinator/lab/page/fold.py: Fold": "lanes to draw: members, owners and deadlines are history's",
    "coordinator/lab/page/line_sentences.py: Teller": "words for what history's timeline found",
    "coordinator/lab/pipeline/alerts.py: Watch": "counts lines of a type in a time; states are history's",
    "coordinator/lab/pipeline/fold/epochs.py: Epochs": "rows of what history's settlings found",
    "coordinator/lab/pipeline/fold/rebalances.py: Rebalances": "rows of what history's timeline found",
    "coordinator/lab/simulator/clients/member.py: SimulatedMember": "a member, which writes the lines",
    "coordinator/lab/simulator/swarm/coverage.py: Coverage": "counts; phases and leaders are history's",
    "coordinator/lab/simulator/triggers.py: Triggers": "counts lines of a type",
}
"""What names types of lines and stores something, but keeps no members, generations, owners or
rebalances."""


def _named(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in WATCHED}


def _keeps_state(node: ast.AST) -> bool:
    """Whether something is stored under a key or in an attribute, but for what `__init__` sets."""
    for each in ast.walk(node):
        targets: list[ast.expr] = []
        if isinstance(each, ast.Assign):
            targets = each.targets
        elif isinstance(each, ast.AugAssign):
            targets = [each.target]
        if any(isinstance(target, ast.Subscript | ast.Attribute) for target in targets):
            return True
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            if each.func.attr in ("add", "setdefault", "update", "append", "pop", "discard"):
                return True
    return False


def folds(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The folds of one module, and the types that each names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tables: dict[str, set[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    tables[target.id] = _named(node.value)
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            continue
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        named = _named(node).union(*(kinds for name, kinds in tables.items() if name in used))
        if len(named) > 1 and _keeps_state(node):
            yield node.name, named


def kind_of(path: Path, name: str) -> str:
    """Where a fold belongs: `history`, `judges`, `none` (it has a reason) or `elsewhere`."""
    if path.as_posix().startswith(_OF_HISTORY):
        return "history"
    if path.as_posix().startswith(_PROMISES):
        return "judges"
    return "none" if f"{path.as_posix()}: {name}" in NO_FOLDS else "elsewhere"


def main(arguments: list[str]) -> int:
    """Print each fold that stands outside of history; return the exit status."""
    elsewhere = False
    stale = dict(NO_FOLDS)
    for path in sorted(Path("coordinator").rglob("*.py")):
        if path.as_posix().startswith(("coordinator/core/groups/", "coordinator/core/shards/")):
            continue
        for name, kinds in folds(path):
            kind = kind_of(path, name)
            elsewhere |= kind == "elsewhere"
            reason = stale.pop(f"{path.as_posix()}: {name}", "")
            if kind in ("elsewhere", "none") or "--all" in arguments:
                told = f"no fold, {reason}" if reason else ", ".join(sorted(kinds))
                print(f"{path.as_posix()}: {name} ({told})")
    for each in stale:
        print(f"{each} has a reason in NO_FOLDS, and is not found", file=sys.stderr)
    return 1 if stale or elsewhere else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
