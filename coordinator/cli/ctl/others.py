"""Commands of `coordinator ctl` that are not made from one operation's path and body:
assertions, faults, verbs for brokers, and waits for a peer."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from coordinator.kit.faults import ACTIONS
from coordinator.kit.http.options import OFFSET, number_or_text, offsets
from coordinator.kit.http.shapes import ShapeError
from coordinator.kit.http.table import all_operations
from coordinator.verbs import ROWS, Row
from coordinator.verbs.brokers import StopBroker
from coordinator.verbs.row import Taken

from .command_parts import Leaf, Words, ask, takes

if TYPE_CHECKING:
    from coordinator.kit.http.client import Client

BY_HAND = ("group_verify", "fault_add", "broker_control")
"""Operations whose commands are made here."""
_FLAGS = ("single-owner", "revoked-before-assigned", "no-stale-commit", "left-cleanly")
_COUNTS = ("exactly", "at_least", "at_most")


def add(words: Words) -> None:
    """Add `group peer`, `group verify`, `fault add`, and the verbs of `broker`."""
    start = all_operations()["peer_start"]
    told = "Start a simulated member, and wait until it has its assignment."
    peer = words.command(("group", "peer"), told, Leaf(_peer, start.told))
    takes(peer, start)
    peer.add_argument(
        "--no-wait", action="store_true", help="do not wait until it has its assignment"
    )
    peer.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (30)")
    _add_verify(words)
    _add_fault(words)
    _add_brokers(words)


def _peer(client: Client, args: argparse.Namespace) -> Any:
    table = all_operations()
    started = ask(client, table["peer_start"], args)
    if args.no_wait:
        return started
    path = table["peer_wait"].address({"peer_id": started["peer_id"]})
    return client.ask("POST", path, {"timeout": args.timeout})


def _add_verify(words: Words) -> None:
    entry = all_operations()["group_verify"]
    told = "Check assertions about a group's history; status 1 if one does not hold."
    parser = words.command(entry.command, told, Leaf(_verify, entry.told))
    parser.add_argument("group")
    parser.add_argument(
        "--since", type=int, default=0, metavar="MARK", help="only what happened from this mark on"
    )
    for name in _FLAGS:
        check = name.replace("-", "_")
        parser.add_argument(f"--{name}", action="append_const", dest="checks", const=check)
    for name in _COUNTS:
        parser.add_argument(f"--rebalances-{name.replace('_', '-')}", type=int, metavar="N")
    parser.add_argument("--committed", metavar=OFFSET, action="append", help="exactly; repeatable")


def _verify(client: Client, args: argparse.Namespace) -> Any:
    checks: list[dict[str, Any]] = [{"check": name} for name in args.checks or ()]
    given = {name: getattr(args, f"rebalances_{name}") for name in _COUNTS}
    counts = {name: count for name, count in given.items() if count is not None}
    if counts:
        checks.append({"check": "rebalances", **counts})
    if args.committed:
        checks.append({"check": "committed", "offsets": offsets("--committed", args.committed)})
    if not checks:
        raise ShapeError(
            "verify what? Give --single-owner, --no-stale-commit, --rebalances-at-most N or another check (--help)"
        )
    path = all_operations()["group_verify"].address({"group": args.group})
    return client.post(path, {"checks": checks, "since": args.since})


# -- faults


def _add_fault(words: Words) -> None:
    """Add `fault add`: the action and the API, and an option for each further field of a fault."""
    entry = all_operations()["fault_add"]
    told = "Add a fault; prints its number."
    parser = words.command(entry.command, told, Leaf(_fault, entry.told))
    parser.add_argument("action", type=lambda text: text.replace("-", "_"), choices=tuple(ACTIONS))
    parser.add_argument(
        "api",
        nargs="?",
        help="Kafka's name of the API, such as OffsetCommit; without it every request",
    )
    for name, how in entry.schema["properties"].items() if entry.schema else ():
        if name not in ("action", "api"):
            parser.add_argument(
                "--ms" if name == "duration_ms" else f"--{name.replace('_', '-')}",
                dest=name,
                help=how.get("description"),
                **_takes(how["type"]),
            )


def _takes(kind: Any) -> dict[str, Any]:
    """Return how argparse reads an option of this JSON type."""
    if kind == "boolean":
        return {"action": "store_true", "default": None}
    if "integer" in kind and "string" not in kind:
        return {"type": int, "metavar": "N"}
    return {"type": float, "metavar": "P"} if kind == "number" else {}


def _fault(client: Client, args: argparse.Namespace) -> Any:
    entry = all_operations()["fault_add"]
    assert entry.schema is not None
    given = {name: getattr(args, name) for name in entry.schema["properties"]}
    if given["error"] is not None:
        given["error"] = number_or_text("--error", given["error"])
    return client.ask(entry.method, entry.path, given)


# -- brokers


def _add_brokers(words: Words) -> None:
    """Add a command for each verb that has one."""
    entry = all_operations()["broker_control"]

    def command(word: str, row: Row, doc: str, **said: str) -> argparse.ArgumentParser:
        def call(client: Client, args: argparse.Namespace) -> Any:
            given = {taken.name: getattr(args, taken.name, None) for taken in row.takes} | said
            verb = {name: value for name, value in given.items() if value is not None}
            if "replicas" in given:
                verb["replicas"] = _replicas(given["replicas"], cancel=args.cancel)
            return client.post(entry.path, {"verb": row.name, **verb})

        return words.command(("broker", word), doc, Leaf(call, lambda answer: ""))

    pause = command(
        "pause", ROWS[StopBroker.__name__], "Pause a broker, as SIGSTOP does.", how="pause"
    )
    pause.add_argument("broker", type=int)
    for row in ROWS.values():
        if row.command:
            parser = command(
                row.command, row, " ".join(row.summary.split()).partition(" Inverse: ")[0]
            )
            for taken in row.takes:
                _take(parser, taken)


def _take(parser: argparse.ArgumentParser, taken: Taken) -> None:
    """Add a field of a verb as a positional argument or as an option."""
    if taken.several:
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--to", metavar="ID,ID,...", dest=taken.name, help=taken.doc)
        cancel = "cancel the reassignment"
        where.add_argument("--cancel", action="store_true", help=cancel)
        return
    if taken.flag:
        option = f"--{taken.option or taken.name}".replace("_", "-")
        action = argparse.BooleanOptionalAction
        parser.add_argument(option, dest=taken.name, action=action, help=taken.doc)
        return
    kind: dict[str, Any] = {"type": int} if taken.number else {"type": str}
    kind |= {"choices": taken.choices} if taken.choices else {"help": taken.doc}
    if taken.required:
        parser.add_argument(taken.name, **kind)
    else:
        kind |= {"metavar": "N"} if taken.number else {}
        option = (taken.option or taken.name).replace("_", "-")
        parser.add_argument(f"--{option}", dest=taken.name, **kind)


def _replicas(given: str | None, *, cancel: bool) -> list[int] | None:
    """Return the brokers of a reassignment; None cancels it."""
    brokers = [] if given is None else given.split(",")
    if not all(broker.isdecimal() for broker in brokers):
        raise ShapeError(
            f"--to {given!r}: write the ids of brokers, preferred leader first, such as 2,3"
        )
    return None if cancel else [int(broker) for broker in brokers]
