"""`coordinator simulate FILE --seed 7`: run a scenario under virtual time and judge its event log.

FILE is a scenario file, or the name of one that comes with the package (`coordinator scenarios list`). The same file and the same
seed give the same log, byte for byte. Status 1 if what must hold does not; then the command that replays the run is printed.
"""

from __future__ import annotations

import shlex
import time
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import Subparsers, UsageError, description

if TYPE_CHECKING:
    from coordinator.event_log import EventLog
    from coordinator.judges import Verdict
    from coordinator.simulator.scenario import Scenario


def add_parser(subparsers: Subparsers) -> None:
    """The options of `simulate`."""
    parser = subparsers.add_parser(
        "simulate", help="run a scenario under virtual time and judge it", description=description(__doc__), allow_abbrev=False)
    parser.add_argument("scenario", metavar="FILE", help="a scenario file, or the name of a shipped scenario")
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="decides every draw (default: 1)")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", dest="settings",
                        help="another value for a key of the file, such as members.app.count=5; may be given several times")
    parser.add_argument("--log", metavar="LOG", help="write the event log to this file, for `coordinator explain` and `coordinator diff`")
    parser.add_argument("--log-replace", action="store_true", help="replace the log if it is there already")


def seed(text: str) -> int:
    """A seed."""
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise ArgumentTypeError(f"{text!r} is no seed: give a whole number from 0 to {(1 << 63) - 1}")
    return int(text)


def load(given: str, settings: Sequence[str]) -> Scenario:
    """The scenario in a file, or the shipped one of that name. Raises UsageError."""
    from coordinator.simulator import catalogue
    from coordinator.simulator.reading import ScenarioError
    from coordinator.simulator.scenario import read_scenario

    try:
        if given.endswith(".toml") or "/" in given:
            return read_scenario(Path(given).read_text(encoding="utf-8"), given, tuple(settings), _base)
        return read_scenario(catalogue.text(given), given, tuple(settings))
    except OSError as error:
        raise UsageError(f"cannot read {given}: {error.strerror or error}; shipped ones: `coordinator scenarios list`") from None
    except UnicodeDecodeError:
        raise UsageError(f"{given} is no text in UTF-8; a scenario is a TOML file") from None
    except ScenarioError as error:
        raise UsageError(str(error)) from None


def composed(given: str, settings: Sequence[str]) -> dict[str, Any]:
    """A scenario's values with all that it extends and with settings on top, parameters filled in. Raises UsageError."""
    from coordinator.simulator import catalogue
    from coordinator.simulator.composing import ComposingError, with_parameters
    from coordinator.simulator.reading import ScenarioError, raw_of, set_value

    load(given, settings)
    try:
        text = Path(given).read_text(encoding="utf-8") if given.endswith(".toml") or "/" in given else catalogue.text(given)
        raw, _ = raw_of(text, given, _base)
        for setting in settings:
            set_value(raw, setting)
        return {key: value for key, value in with_parameters(raw).items() if key != "parameters"}
    except (OSError, ScenarioError, ComposingError) as error:
        raise UsageError(str(error)) from None


def _base(name: str, of: str) -> tuple[str, str]:
    """What a file extends: another file, named from its folder on, or a shipped scenario. Raises OSError, ScenarioError."""
    from coordinator.simulator import catalogue

    if not name.endswith(".toml") and "/" not in name:
        return catalogue.text(name), name
    path = Path(of).parent / name
    return path.read_text(encoding="utf-8"), str(path)


def run(args: Namespace) -> int:
    """Simulate; 0, 1 if something that must hold does not, 2 for a wrong file or option."""
    from coordinator.simulator.run import run_scenario, verdicts

    scenario = load(args.scenario, args.settings)
    options = "".join(f", {each}" for each in args.settings)
    print(f"{scenario.name}: seed {args.seed}, {scenario.duration_ms / 1000:g} s of virtual time{options}")
    log = _open_log(args)
    began = time.perf_counter()
    world = run_scenario(scenario, args.seed, log)
    took = time.perf_counter() - began
    log.close()
    judged = verdicts(scenario, _lines(args.log, log))
    kinds = Counter(line["type"] for line in _lines(args.log, log))
    generations, assignments = kinds["GenerationStarted"], kinds["TargetAssigned"]
    rounds = f"{assignments} assignments" if assignments and not generations else f"{generations} generations"
    print(f"{rounds}, {log.seq} events, {len(world.members)} members at the end; {took:.2f} s")
    return _tell(judged, args)


def _open_log(args: Namespace) -> EventLog:
    from coordinator.event_log import EventLog, LogError
    from coordinator.simulator.world import EPOCH_MS

    if args.log is None:
        return EventLog(seed=args.seed, epoch_ms=EPOCH_MS)
    try:
        return EventLog.open(args.log, mode="replace" if args.log_replace else "new", seed=args.seed, epoch_ms=EPOCH_MS)
    except FileExistsError:
        raise UsageError(f"--log {args.log}: it is there already; --log-replace starts it anew") from None
    except (LogError, OSError) as error:
        raise UsageError(f"--log {args.log}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


def _lines(path: str | None, log: EventLog) -> Iterable[dict[str, Any]]:
    from coordinator.event_log import read

    return log.events() if path is None else read(path)


def _tell(judged: Sequence[Verdict], args: Namespace) -> int:
    from coordinator.judges import Judgement

    broken = [verdict for verdict in judged if verdict.judgement is Judgement.BROKEN]
    kept = [verdict.judge for verdict in judged if verdict.judgement is Judgement.KEPT]
    print(f"kept: {', '.join(kept) or 'nothing'}")
    for verdict in judged:
        if verdict.judgement is not Judgement.KEPT:
            print(verdict)
    if broken:
        print(f"to replay it: {replay(args.scenario, args.seed, args.settings)} --log failed.jsonl")
    return 1 if broken else 0


def replay(scenario: str, seed: int, settings: Sequence[str]) -> str:
    """The command that repeats a run."""
    return shlex.join(["coordinator", "simulate", scenario, "--seed", str(seed), *(part for each in settings for part in ("--set", each))])
