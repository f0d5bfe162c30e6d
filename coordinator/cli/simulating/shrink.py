"""The command `coordinator shrink`: its options, output and exit status. The search for a smaller scenario
is in `coordinator/lab/simulator/swarm/shrinking.py`."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import Any, Final

from .. import Subparsers, UsageError
from ..interrupts import INTERRUPTED, interruptible
from .ab import check_place
from .simulate import composed, replay, seed
from .swarm import _count

DESCRIPTION: Final = """Find a smaller scenario that breaks the same promise, and
write it as a scenario file.

Churn, faults, members and settings are left out or made less, one after the other, as long as one
of the judges that found something still does. The rest sees the same draws, because each draw is
keyed by whom it is for. Ctrl-C writes the smallest one found so far."""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `shrink`."""
    parser = subparsers.add_parser(
        "shrink",
        help="find a smaller scenario that fails in the same way",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "scenario",
        metavar="FILE",
        help="a scenario file that fails, or the name of a shipped scenario",
    )
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="seed with which it fails (default: 1)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        dest="settings",
        help="as of `simulate`",
    )
    parser.add_argument(
        "--for",
        type=_count,
        default=120,
        metavar="SECONDS",
        dest="bound_s",
        help="seconds after which the search stops (default: 120)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="file for the smaller scenario (default: FILE-small.toml, in this directory)",
    )


def run(args: Namespace) -> int:
    """Shrink; return 0, 1 if the scenario does not fail, 2 for a wrong file or option, or 130 if
    interrupted."""
    from coordinator.lab.simulator.files.toml_text import to_toml
    from coordinator.lab.simulator.swarm.shrinking import shrink

    path = Path(args.out or f"{Path(args.scenario).stem}-small.toml")
    check_place("--out", str(path))
    raw = composed(args.scenario, args.settings)
    try:
        with interruptible():
            wanted = _findings(raw, args.seed)
    except KeyboardInterrupt:
        print(f"interrupted: whether {args.scenario} fails with seed {args.seed} is not known yet")
        return INTERRUPTED
    if wanted is None:
        raise UsageError(
            f"{args.scenario}: cannot be run; `coordinator simulate {args.scenario}` says why"
        )
    if not wanted:
        print(
            f"{args.scenario} breaks no promise with seed {args.seed}: there is nothing to shrink"
        )
        return 1
    began, tried, small, interrupted = time.monotonic(), 0, raw, False

    def fails(smaller: dict[str, Any]) -> bool:
        nonlocal tried, small
        tried += 1
        found = _findings(smaller, args.seed)
        if not found or not found & wanted:
            return False
        small = smaller
        return True

    try:
        with interruptible():
            shrink(raw, fails, lambda: time.monotonic() - began < args.bound_s)
    except KeyboardInterrupt:
        interrupted = True
        print("interrupted: the smallest one found so far")
    text = to_toml(small)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {path}: cannot be written: {error.strerror or error}") from None
    before, after = len(to_toml(raw).splitlines()), len(text.splitlines())
    print(
        f"{', '.join(sorted(wanted))}: {before} lines became {after}, {tried} smaller ones were tried"
    )
    print(f"to replay it: {replay(str(path), args.seed, ())}")
    return INTERRUPTED if interrupted else 0


def _findings(raw: dict[str, Any], seed_: int) -> frozenset[str] | None:
    """Return the names of the judges that find something, or the kind of error that ends the
    run; None if the scenario is invalid."""
    from coordinator.events import EventLog
    from coordinator.history.judges import Judgement
    from coordinator.lab.simulator.files.reading import ScenarioError
    from coordinator.lab.simulator.files.scenario import read_scenario
    from coordinator.lab.simulator.files.toml_text import to_toml
    from coordinator.lab.simulator.run import run_scenario, verdicts

    try:
        scenario = read_scenario(to_toml(raw), "a smaller scenario")
    except ScenarioError:
        return None
    log = EventLog(seed=seed_, kafka_version=scenario.release.number)
    try:
        run_scenario(scenario, seed_, log)
    except Exception as error:  # a run that ends with an error is a finding as any other
        return frozenset({type(error.__cause__ or error).__name__})
    return frozenset(
        verdict.judge
        for verdict in verdicts(scenario, log.read())
        if verdict.judgement is Judgement.BROKEN
    )
