"""The command `coordinator scenarios`: its options, output and exit status. The catalogue is in
`coordinator/lab/simulator/files/catalogue.py`."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Final

from .. import Subparsers, UsageError

DESCRIPTION: Final = """Look at the scenarios that come with the package,
or copy one.

Each is a TOML file whose header says what it teaches. `copy` writes one into the current directory,
to be changed; `schema` prints the JSON schema with which editors complete such files."""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `scenarios`."""
    parser = subparsers.add_parser(
        "scenarios",
        help="list, show and copy shipped scenarios",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument("what", choices=("list", "show", "copy", "schema"), help="what to do")
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="of `show` and `copy`: which scenario"
    )


def run(args: Namespace) -> int:
    """Run the command; return 0, or 2 for an unknown scenario."""
    from coordinator.lab.simulator.files import catalogue
    from coordinator.lab.simulator.files.reading import ScenarioError
    from coordinator.lab.simulator.files.scenario import read_scenario
    from coordinator.lab.simulator.files.schema import json_schema

    if args.what in ("show", "copy") and args.name is None:
        raise UsageError(
            f"{args.what}: which one? They are {', '.join(catalogue.names() + catalogue.incidents())}"
        )
    if args.what in ("list", "schema") and args.name is not None:
        raise UsageError(
            f"{args.what} takes no name; `coordinator scenarios show {args.name}` shows one"
        )
    if args.what == "schema":
        print(json.dumps(json_schema(), indent=2))
        return 0
    if args.what == "list":
        for name in catalogue.names():
            print(f"{name:24} {read_scenario(catalogue.text(name), name).lesson}")
        print("\nIncidents, as they happen to consumers:")
        for name in catalogue.incidents():
            print(f"{name:24} {read_scenario(catalogue.text(name), name).lesson}")
        return 0
    try:
        text = catalogue.text(args.name)
    except ScenarioError as error:
        raise UsageError(str(error)) from None
    if args.what == "show":
        print(text, end="")
        return 0
    path = Path(f"{args.name}.toml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    print(f"{path} is written; run it with `coordinator simulate {path}`")
    return 0
