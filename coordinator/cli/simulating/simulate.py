"""The command `coordinator simulate`: its options, output and exit status, for virtual time and for --live.
The simulator is in `coordinator/lab/simulator/`, the live world in `coordinator/lab/live_world/`."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from coordinator.base.contradictions import ContradictionError
from coordinator.events.line import Line, LogError

from .. import Subparsers, UsageError, command_config, log_options
from ..interrupts import INTERRUPTED, interruptible

DESCRIPTION: Final = """Run a scenario under virtual time and judge its event log.

FILE is a scenario file, or the name of one that comes with the package (`coordinator scenarios
list`). The same file and the same seed give the same log, byte for byte. Status 1 if what must hold
does not; then the command that replays the run is printed. Ctrl-C ends the run, and what is known
so far is judged; then the status is 130, or 1 if a promise was broken.

With --live the same file runs in real time: its members on real sockets, against an emulator that
is started for it, or with --bootstrap against any Kafka. There the scenario's topics are made first
and removed in the end, what befalls brokers or their requests cannot be had, and the log is what
the members saw."""

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.history.judges import Verdict
    from coordinator.lab.live_world.kafka import Kafka
    from coordinator.lab.live_world.world import LiveWorld
    from coordinator.lab.simulator.files.model import Scenario
    from coordinator.lab.simulator.world import World


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `simulate`."""
    parser = subparsers.add_parser(
        "simulate",
        help="run a scenario under virtual time and judge it",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "scenario", metavar="FILE", help="a scenario file, or the name of a shipped scenario"
    )
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="decides every draw (default: 1)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        dest="settings",
        help="another value for a key of the file, such as members.app.count=5; repeatable",
    )
    parser.add_argument("--live", action="store_true", help="run in real time, on real sockets")
    parser.add_argument(
        "--bootstrap",
        type=addresses,
        metavar="HOST:PORT",
        help="with --live: run on this Kafka; several addresses with commas",
    )
    parser.add_argument(
        "--command-config",
        metavar="FILE",
        help="with --bootstrap: client properties, as for --command-config of Kafka's tools",
    )
    parser.add_argument(
        "--every-heartbeat",
        action="store_true",
        help="simulate also heartbeats that change nothing: the same log, but slower",
    )
    parser.add_argument(
        "--log",
        metavar="LOG",
        help="write the event log to this file, for `coordinator explain` and `coordinator diff`",
    )
    parser.add_argument(
        "--log-replace",
        nargs="?",
        const=True,
        metavar="PATH",
        help="replace an existing log (--log PATH --log-replace)",
    )


def seed(text: str) -> int:
    """Return a seed, from an option's text."""
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise ArgumentTypeError(
            f"{text!r} is no seed: give a whole number from 0 to {(1 << 63) - 1}"
        )
    return int(text)


def addresses(text: str) -> list[tuple[str, int]]:
    """Return brokers' hosts and ports, from an option's text."""
    from coordinator.members.live.bootstrap import AddressError, parse_addresses

    try:
        return parse_addresses(text)
    except AddressError as error:
        raise ArgumentTypeError(str(error)) from None


def load(given: str, settings: Sequence[str]) -> Scenario:
    """Return the scenario in a file, or the shipped scenario of that name. Raises UsageError."""
    from coordinator.lab.simulator.files import catalogue
    from coordinator.lab.simulator.files.reading import ScenarioError
    from coordinator.lab.simulator.files.scenario import read_scenario

    try:
        if given.endswith(".toml") or "/" in given:
            return read_scenario(
                Path(given).read_text(encoding="utf-8-sig"), given, tuple(settings), _base
            )
        return read_scenario(catalogue.text(given), given, tuple(settings))
    except OSError as error:
        raise UsageError(
            f"cannot read {given}: {error.strerror or error}; shipped ones: `coordinator scenarios list`"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{given} is no text in UTF-8; a scenario is a TOML file") from None
    except ScenarioError as error:
        raise UsageError(str(error)) from None


def composed(given: str, settings: Sequence[str]) -> dict[str, Any]:
    """Return a scenario's values, with those of all scenarios that it extends, with settings
    applied and parameters filled in. Raises UsageError."""
    from coordinator.lab.simulator.files import catalogue
    from coordinator.lab.simulator.files.composing import ComposingError, with_parameters
    from coordinator.lab.simulator.files.reading import ScenarioError, raw_of, set_value

    load(given, settings)
    try:
        text = (
            Path(given).read_text(encoding="utf-8-sig")
            if given.endswith(".toml") or "/" in given
            else catalogue.text(given)
        )
        raw, _ = raw_of(text, given, _base)
        for setting in settings:
            set_value(raw, setting)
        return {key: value for key, value in with_parameters(raw).items() if key != "parameters"}
    except (OSError, ScenarioError, ComposingError) as error:
        raise UsageError(str(error)) from None


def _base(name: str, of: str) -> tuple[str, str]:
    """Return the text and the name of the file that a scenario extends: another file, relative
    to its folder, or a shipped scenario. Raises OSError, ScenarioError."""
    from coordinator.lab.simulator.files import catalogue

    if not name.endswith(".toml") and "/" not in name:
        return catalogue.text(name), name
    path = Path(of).parent / name
    return path.read_text(encoding="utf-8-sig"), str(path)


def run(args: Namespace) -> int:
    """Simulate; return 0, 1 if an expectation or invariant fails, 2 for a wrong file or option,
    or 130 if interrupted."""
    log_options.take(args, "replace")
    from coordinator.lab.simulator.run import run_scenario, verdicts
    from coordinator.lab.simulator.unreached import idle, skipped, unmet, unreached

    scenario = load(args.scenario, args.settings)
    if args.live and args.every_heartbeat:
        raise UsageError("--every-heartbeat: a run with --live sends every heartbeat; leave it out")
    for note in unreached(scenario):
        print(f"note: {note}", file=sys.stderr)
    if args.command_config is not None and args.bootstrap is None:
        raise UsageError(f"{command_config.OPTION}: to get in where? Give --bootstrap, too")
    if args.live:
        return _run_live(scenario, args)
    if args.bootstrap is not None:
        raise UsageError(
            "--bootstrap: give --live, too; without it a scenario runs in virtual time, on brokers of its own"
        )
    options = "".join(f", {each}" for each in args.settings)
    log, stop, interrupted = _open_log(args, scenario), _Stop(), False
    began = time.perf_counter()
    notes: list[str] = []
    try:
        with interruptible(stop):
            print(
                f"{scenario.name}: seed {args.seed}, {scenario.duration_ms / 1000:g} s of virtual time{options}",
                flush=True,
            )
            world = run_scenario(
                scenario, args.seed, log, stop.begin, skips=not args.every_heartbeat
            )
        notes = list(world.triggers.unseen())
    except KeyboardInterrupt:
        interrupted = True
        print(f"stopped after {stop.now_ms / 1000:g} s of virtual time; what is known so far:")
    except ContradictionError as error:
        log.close()
        raise UsageError(f"{args.log or scenario.name}: {error}") from error
    took = time.perf_counter() - began
    log.close()
    try:
        judged = verdicts(_as_far_as_known(scenario, interrupted), _lines(args.log, log))
    except LogError as error:
        raise UsageError(str(error)) from error
    _count(args, log, took, ended=not interrupted)
    if not interrupted:
        notes += idle(scenario, _lines(args.log, log))
        notes += unmet(scenario, _lines(args.log, log))
    for note in (*notes, *skipped(_lines(args.log, log))):
        print(f"note: {note}", file=sys.stderr)
    return _tell(judged, args, interrupted)


class _Stop:
    """Ends a run in virtual time at the first SIGINT, between two steps of its world; a second
    SIGINT ends it at once."""

    def __init__(self) -> None:
        self._world: World | None = None
        self._asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.default_int_handler)
        self._asked = True
        if self._world is not None:
            self._world.at(self._world.now, self._end)

    def begin(self, world: World) -> None:
        """Note the world, and end the run if SIGINT came before."""
        self._world = world
        if self._asked:
            self._end()

    @property
    def now_ms(self) -> int:
        """The instant that the world has reached, in ms."""
        return 0 if self._world is None else self._world.now

    @staticmethod
    def _end() -> NoReturn:
        raise KeyboardInterrupt


def _as_far_as_known(scenario: Scenario, interrupted: bool) -> Scenario:
    """Return the scenario to judge by: a run that ended early proves nothing about the time
    after churn and faults."""
    if not interrupted or scenario.stable_within_ms is None:
        return scenario
    print("stable_within: not judged: the run was interrupted")
    return replace(scenario, stable_within_ms=None)


def _run_live(scenario: Scenario, args: Namespace) -> int:
    """Run the scenario in real time."""
    from coordinator.lab.live_world.kafka import Kafka, KafkaError
    from coordinator.lab.live_world.run import live_verdicts, run_live
    from coordinator.lab.simulator.files.reading import ScenarioError
    from coordinator.lab.simulator.files.worlds import WorldKind, check_world

    entry = command_config.read(args.command_config)
    kafka = None if args.bootstrap is None else Kafka(args.bootstrap, scenario, entry)
    try:
        check_world(scenario, WorldKind.EMULATOR if kafka is None else WorldKind.KAFKA)
        log = _open_log(args, scenario, time.time_ns() // 1_000_000)
        if kafka is not None:
            kafka.prepare()
    except (ScenarioError, KafkaError) as error:
        raise UsageError(str(error)) from None
    for note in () if kafka is None else kafka.notes:
        print(f"note: {note}")

    worlds: list[LiveWorld] = []

    def began(where: str, world: LiveWorld) -> None:
        worlds.append(world)
        print(
            f"{scenario.name}: seed {args.seed}, live for {scenario.duration_ms / 1000:g} s on {where}",
            flush=True,
        )

    start = time.perf_counter()
    interrupted = False
    try:
        with interruptible():
            run_live(scenario, args.seed, log, kafka, began)
    except KeyboardInterrupt:
        interrupted = True
        print(f"stopped after {time.perf_counter() - start:.0f} s; what is known so far:")
        log.flush()
    finally:
        log.close()
        if kafka is not None:
            _tidy(kafka)
    _count(args, log, time.perf_counter() - start, ended=not interrupted)
    for note in (
        () if interrupted else (note for world in worlds for note in world.triggers.unseen())
    ):
        print(f"note: {note}", file=sys.stderr)
    judged = live_verdicts(
        _as_far_as_known(scenario, interrupted), _lines(args.log, log), foreign=kafka is not None
    )
    return _tell(judged, args, interrupted)


def _tidy(kafka: Kafka) -> None:
    from coordinator.lab.live_world.kafka import KafkaError

    try:
        kafka.tidy()
    except KafkaError as error:
        print(f"note: {error}")


def _count(args: Namespace, log: EventLog, took_s: float, *, ended: bool) -> None:
    from coordinator.events import groups, members
    from coordinator.events.groups.consumer import TargetAssigned

    kinds = Counter(line.kind for line in _lines(args.log, log))
    generations, assignments = kinds[groups.GenerationStarted], kinds[TargetAssigned]
    if args.bootstrap is not None:  # as many as members told of
        told = (line for line in _lines(args.log, log) if line.kind is members.PartitionsAssigned)
        generations = len(
            {(line.group, line.generation) for line in told if line.generation is not None}
        )
    rounds = _both({"generation": generations, "assignment": assignments}) or "0 generations"
    there = ""
    if ended:
        left = {
            who: kinds[started] - kinds[closed] - kinds[crashed]
            for who, started, closed, crashed in (
                ("member", members.MemberStarted, members.MemberClosed, members.MemberCrashed),
                (
                    "producer",
                    members.ProducerStarted,
                    members.ProducerClosed,
                    members.ProducerCrashed,
                ),
            )
        }
        there = f", {_both(left) or '0 members'} at the end"
    print(f"{rounds}, {log.seq} events{there}; {took_s:.2f} s")


def _both(counts: Mapping[str, int]) -> str:
    """Return the numbers that are not 0: "1 generation and 14 assignments"."""
    return " and ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items() if n)


def _open_log(args: Namespace, scenario: Scenario, epoch_ms: int | None = None) -> EventLog:
    """Return the log that the options ask for. `epoch_ms`: the wall clock of its zero, by
    default that of the simulated world."""
    from coordinator.events import EventLog, LogError
    from coordinator.lab.simulator.environment import EPOCH_MS

    epoch_ms = EPOCH_MS if epoch_ms is None else epoch_ms
    version = scenario.release.number
    if args.log is None:
        return EventLog(seed=args.seed, epoch_ms=epoch_ms, kafka_version=version)
    try:
        return EventLog.open(
            args.log,
            mode=args.log_mode or "new",
            seed=args.seed,
            epoch_ms=epoch_ms,
            kafka_version=version,
        )
    except FileExistsError:
        raise UsageError(
            f"--log {args.log}: it is there already; --log-replace starts it anew"
        ) from None
    except (LogError, OSError) as error:
        raise UsageError(
            f"--log {args.log}: cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from None


def _lines(path: str | None, log: EventLog) -> Iterable[Line]:
    from coordinator.events.files import read

    return log.read() if path is None else read(path)


def _tell(judged: Sequence[Verdict], args: Namespace, interrupted: bool) -> int:
    from coordinator.history.judges import Judgement

    broken = [verdict for verdict in judged if verdict.judgement is Judgement.BROKEN]
    kept = [verdict.judge for verdict in judged if verdict.judgement is Judgement.KEPT]
    print(f"kept: {', '.join(kept) or 'nothing'}")
    for verdict in judged:
        if verdict.judgement is not Judgement.KEPT:
            print(verdict)
    if broken:
        command = replay(args.scenario, args.seed, args.settings)
        if not args.live:
            print(f"to replay it: {command} --log failed.jsonl")
            return 1
        where = (
            ""
            if args.bootstrap is None
            else " --bootstrap " + ",".join(f"{host}:{port}" for host, port in args.bootstrap)
        )
        if args.command_config is not None:
            where += f" {command_config.OPTION} {shlex.quote(args.command_config)}"
        print(f"to run it again: {command} --live{where} --log failed.jsonl")
    return 1 if broken else INTERRUPTED if interrupted else 0


def replay(scenario: str, seed: int, settings: Sequence[str]) -> str:
    """Return the command that repeats a run."""
    return shlex.join(
        [
            "coordinator",
            "simulate",
            scenario,
            "--seed",
            str(seed),
            *(part for each in settings for part in ("--set", each)),
        ]
    )
