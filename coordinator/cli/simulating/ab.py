"""The command `coordinator ab`: its options, the table that it prints and its exit status. The statistics
are in `coordinator/lab/statistics.py`."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .. import Subparsers, UsageError
from ..interrupts import INTERRUPTED, interruptible
from .simulate import load

DESCRIPTION: Final = """Run a scenario under variants of
its settings and compare what it costs.

Each seed runs under every variant with the same churn, so that differences are paired by seed. A
table shows medians and their 95 % intervals: first of each variant, then of its differences from
the first one. Ctrl-C prints the table of the seeds that are done."""

_COMMA = re.compile(r",(?![^\[]*\])")
"""Between values: not within [...]."""

if TYPE_CHECKING:
    from coordinator.lab.simulator.files.model import Scenario
    from coordinator.lab.statistics import Estimate


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `ab`."""
    parser = subparsers.add_parser(
        "ab",
        help="compare variants of a scenario",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "scenario", metavar="FILE", help="a scenario file, or the name of a shipped scenario"
    )
    parser.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="PATH=A,B",
        help="values of a key, such as members.app.static=true,false; a key of members without a name applies to "
        "all members",
    )
    parser.add_argument(
        "--seeds",
        type=_seeds,
        default=20,
        metavar="N",
        help="number of seeds (default: 20)",
    )
    parser.add_argument("--svg", metavar="FILE", help="also draw the comparison as an SVG picture")
    parser.add_argument(
        "--png",
        metavar="FILE",
        help="also draw it as PNG; needs Matplotlib (extra `spark`)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        dest="settings",
        help="as in `simulate`, for all variants",
    )


def _seeds(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100_000:
        raise ArgumentTypeError(f"{text!r}: give a whole number from 1 to 100000")
    return int(text)


def run(args: Namespace) -> int:
    """Compare; return 0, 2 for a wrong file or option, or 130 if interrupted."""
    from coordinator.base.counting import how_many
    from coordinator.events import EventLog
    from coordinator.lab.simulator.comparing.measures import NAMES, measure
    from coordinator.lab.simulator.comparing.share_measures import NAMES as OF_SHARES
    from coordinator.lab.simulator.comparing.share_measures import measure_shares
    from coordinator.lab.simulator.run import run_scenario
    from coordinator.lab.statistics import quantile

    draw_png = None if args.png is None else _png()
    variants = list(_variants(args.vary, _kinds(args.scenario, args.settings), args.settings))
    for option, path in (("--svg", args.svg), ("--png", args.png)):
        check_place(option, path)
    scenarios = {
        name: _varied(args.scenario, args.settings, settings) for name, settings in variants
    }
    base = scenarios[variants[0][0]]
    names = (*(NAMES if base.members else ()), *(OF_SHARES if base.share_members else ()))
    results: dict[str, list[tuple[float, ...]]] = {name: [] for name in scenarios}
    seeds = 0
    try:
        with interruptible():
            for seed in range(1, args.seeds + 1):
                measured = {}
                for name, scenario in scenarios.items():
                    log = EventLog(seed=seed, kafka_version=scenario.release.number)
                    run_scenario(scenario, seed, log)
                    lines = list(log.read())
                    measured[name] = (
                        *(measure(lines) if base.members else ()),
                        *(measure_shares(lines) if base.share_members else ()),
                    )
                for name, row in measured.items():
                    results[name].append(row)
                seeds = seed
    except KeyboardInterrupt:
        for rows in results.values():
            del rows[seeds:]
        print("interrupted: what is known so far")
        if not seeds:
            print(f"{base.name}: no seed is done")
            return INTERRUPTED
    print(
        f"{base.name}: {how_many(seeds, 'seed')}, medians, their 95 % intervals by ranks, and how sure those are"
    )
    if args.svg is not None or draw_png is not None:
        title = f"{base.name}: {how_many(seeds, 'seed')}"
        estimates = {
            name: [quantile([row[column] for row in rows], 0.5) for column in range(len(names))]
            for name, rows in results.items()
        }
        if args.svg is not None:
            _draw(args.svg, title, names, estimates)
        if draw_png is not None:
            _write("--png", args.png, draw_png(title, names, estimates))
    first = results[variants[0][0]]
    for name, _ in variants:
        print(f"\n{name}")
        for column, what in enumerate(names):
            values = [row[column] for row in results[name]]
            differences = [
                value - base_row[column] for value, base_row in zip(values, first, strict=True)
            ]
            paired = "" if results[name] is first else f"   difference {quantile(differences, 0.5)}"
            print(f"  {what:24} {quantile(values, 0.5)!s:38}{paired}".rstrip())
    return 0 if seeds == args.seeds else INTERRUPTED


def _kinds(given: str, settings: Sequence[str]) -> list[str]:
    """Return the names of a scenario's kinds of members. Raises UsageError.

    The settings alone may contradict each other as long as the varied ones do not settle it;
    then they are left out here.
    """
    try:
        scenario = load(given, settings)
    except UsageError:
        scenario = load(given, [])
    return [kind.name for kind in scenario.kinds]


def _varied(given: str, settings: Sequence[str], varied: Sequence[str]) -> Scenario:
    """Return the scenario of one variant. Raises UsageError, which names --vary if that is where
    the wrong setting came from."""
    try:
        return load(given, [*settings, *varied])
    except UsageError as error:
        text = str(error)
        blamed = any(text.startswith(f"--set {each}: ") for each in varied)
        raise UsageError("--vary" + text.removeprefix("--set") if blamed else text) from None


def _draw(
    path: str, title: str, names: Sequence[str], variants: Mapping[str, Sequence[Estimate]]
) -> None:
    """Write the SVG picture. Raises UsageError."""
    from coordinator.lab.simulator.comparing.drawing import svg

    _write("--svg", path, svg(title, names, variants).encode())


def _png() -> Callable[[str, Sequence[str], Mapping[str, Sequence[Estimate]]], bytes]:
    """Return the function that draws PNG pictures. Raises UsageError without Matplotlib, before
    anything runs."""
    try:
        from coordinator.lab.pipeline.spark.variants import png
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        from coordinator.base.installing import pip_install

        raise UsageError(
            f"--png needs Matplotlib: {pip_install('spark')}; --svg needs nothing"
        ) from None
    return png


def _write(option: str, path: str, content: bytes) -> None:
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise UsageError(f"{option} {path}: cannot be written: {error.strerror or error}") from None


def check_place(option: str, path: str | None) -> None:
    """Check, before anything runs, that the folder of a picture exists. Raises UsageError."""
    if path is not None and (Path(path).is_dir() or not Path(path).parent.is_dir()):
        why = "Is a directory" if Path(path).is_dir() else "No such file or directory"
        raise UsageError(f"{option} {path}: cannot be written: {why}")


def _near(path: str) -> str:
    from coordinator.lab.simulator.files.schema import TABLES

    close = get_close_matches(path, [*TABLES["members"].keys, *TABLES[""].keys], 1)
    return f": did you mean {close[0]}?" if close else "; other tables' are such as links.delay"


def _variants(
    given: Sequence[str], kinds: Sequence[str], settings: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield every combination: its name and its settings. Raises UsageError."""
    from coordinator.lab.simulator.files.schema import TABLES

    axes: list[list[tuple[str, list[str]]]] = []
    set_once = {each.partition("=")[0].strip() for each in settings}
    varied: set[str] = set()
    for each in given:
        path, equals, values = each.partition("=")
        options = [value.strip() for value in _COMMA.split(values) if value.strip()]
        if not equals or len(options) < 2:
            raise UsageError(
                f"--vary {each}: give a path and at least two values, such as assignor=range,sticky"
            )
        twice = next((option for at, option in enumerate(options) if option in options[:at]), None)
        if twice is not None:
            raise UsageError(f"--vary {each}: {twice} stands there twice: give each value once")
        of_members = (
            "." not in path and path not in TABLES[""].keys and path in TABLES["members"].keys
        )
        if not of_members and "." not in path and path not in TABLES[""].keys:
            raise UsageError(
                f"--vary {each}: {path} is no key of members or of a scenario{_near(path)}"
            )
        paths = [f"members.{kind}.{path}" for kind in kinds] if of_members else [path]
        if not varied.isdisjoint(paths):
            raise UsageError(f"--vary {each}: {path} is varied twice: give all its values at once")
        if not set_once.isdisjoint(paths):
            raise UsageError(
                f"--vary {each}: --set gives {path} one value: leave one of the two out"
            )
        varied.update(paths)
        axes.append(
            [(f"{path}={option}", [f"{one}={option}" for one in paths]) for option in options]
        )
    for combination in product(*axes):
        yield (
            " ".join(name for name, _ in combination),
            [setting for _, chosen in combination for setting in chosen],
        )
