"""Building blocks of the commands of `coordinator ctl`: nouns, verbs, common options, and the
options that an operation of the control port has by its path and its body."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

from coordinator.kit.http.options import OFFSET, PAIR, offsets, pairs
from coordinator.kit.http.shapes import Option, hints

from .. import Subparsers

if TYPE_CHECKING:
    from coordinator.kit.http.client import Client
    from coordinator.kit.http.operation import Operation

Call = Callable[["Client", argparse.Namespace], Any]
Tell = Callable[[Any], str]
_NOUNS = {
    "group": "consumer groups: show, wait, act on members",
    "share": "share groups: their records, locks and sessions",
    "peer": "simulated members that were started here",
    "fault": "faults of requests: add, wait until met, release, delete",
    "topic": "topics and their records",
    "broker": "brokers of a cluster: stop, start, pause, cut off, move leaders",
    "snapshot": "snapshots of the whole emulator: take, list, restore, delete",
    "journal": "requests of clients and their answers: list, count, clear",
    "events": "the event log: list lines, or wait for them",
    "acl": "ACLs: list, create, delete",
    "quota": "quotas of users and client ids: list, set",
    "user": "logins: change passwords, end sessions",
    "connection": "connections of clients: close them",
    "login": "logins that are refused",
    "handshake": "TLS handshakes: refuse, cut or delay them",
    "certificate": "certificate for new TLS handshakes",
}
_PLACES: dict[str, tuple[type, str]] = {
    "member": (str, "member id, client id, instance id, or a unique beginning of one"),
    "peer": (str, "number or client id"),
    "fault": (int, "its number"),
    "snapshot": (int, "its number"),
    "user": (str, "its name"),
    "partition": (int, "its number"),
    "offset": (int, "of a record"),
}
"""Of names in paths: which type, and what is meant."""


class Leaf(NamedTuple):
    """The call of a command, and the function that makes text of its answer. If the text is "",
    nothing is printed."""

    call: Call
    tell: Tell


class Words:
    """Builds the commands: each noun with its verbs, every verb with the common options."""

    def __init__(self, subparsers: Subparsers) -> None:
        self._words: dict[tuple[str, ...], Any] = {(): subparsers}
        self.common = argparse.ArgumentParser(add_help=False)
        self.common.add_argument(
            "--control",
            metavar="URL",
            help="the control port, such as http://127.0.0.1:8080 (COORDINATOR_CONTROL)",
        )
        self.common.add_argument(
            "--format",
            choices=("text", "json"),
            default="text",
            help="how to print the answer (default text)",
        )

    def command(self, words: tuple[str, ...], doc: str, leaf: Leaf) -> argparse.ArgumentParser:
        """Add a command of one word, or of a noun and a verb."""
        sentence = doc.partition(". ")[0].partition(": {")[0].rstrip(".")
        parser: argparse.ArgumentParser = self._verbs(words[:-1]).add_parser(
            words[-1],
            help=_plain(sentence[:1].lower() + sentence[1:]),
            description=_plain(doc),
            parents=[self.common],
            allow_abbrev=False,
        )
        parser.set_defaults(leaf=leaf)
        return parser

    def _verbs(self, noun: tuple[str, ...]) -> Any:
        if noun not in self._words:
            told = _NOUNS[noun[0]]
            parser = self._words[()].add_parser(
                noun[0],
                help=told,
                description=f"{told[:1].upper()}{told[1:]}.",
                allow_abbrev=False,
            )
            self._words[noun] = parser.add_subparsers(
                dest="verb", metavar="verb", title="verbs", required=True
            )
        return self._words[noun]

    def operation(self, entry: Operation) -> None:
        """Add the command of an operation."""

        def call(client: Client, args: argparse.Namespace) -> Any:
            return ask(client, entry, args)

        takes(self.command(entry.command, entry.summary, Leaf(call, entry.told)), entry)


def takes(parser: argparse.ArgumentParser, entry: Operation) -> None:
    """Declare an operation's parameters as options and arguments of its command."""
    for name in entry.parameters:
        kind, told = _PLACES.get(name, (str, None))
        parser.add_argument(name, type=kind, help=told)
    types = hints(entry.body)
    for each in fields(entry.body):
        if not option_of(each).hidden:
            _argument(parser, each, types[each.name])


def ask(client: Client, entry: Operation, args: argparse.Namespace) -> Any:
    """Call an operation with the arguments of its command; return its answer. Raises ShapeError."""
    types = hints(entry.body)
    given: dict[str, Any] = {}
    for each in fields(entry.body):
        option = option_of(each)
        words: Any = getattr(args, each.name, None)
        read = option.read or _reader(types[each.name])
        if words is not None and read is not None:
            words = read(_name(each), words, args)
        given.update(words if option.spread else {each.name: words})
    return client.ask(entry.method, entry.address(vars(args)), given, entry.limit_s)


def option_of(field: Field[Any]) -> Option:
    """Return the form of a body's field as an option."""
    found: Option = field.metadata.get("option", Option())
    return found


def _name(field: Field[Any]) -> str:
    """Return the name of an option: the field's name, in the singular if the option can be
    repeated."""
    if _needed(field):
        return field.name
    plural = "list[" in str(field.type) or "dict[" in str(field.type)
    return f"--{(field.name.removesuffix('s') if plural else field.name).replace('_', '-')}"


def _needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _reader(kind: Any) -> Callable[[str, Any, Any], Any] | None:
    inner = _inner(kind)
    if get_origin(inner) is not dict:
        return None
    return offsets if get_args(inner)[1] is int else pairs


def _inner(kind: Any) -> Any:
    """Return a type without None."""
    given = [each for each in get_args(kind) if each is not type(None)]
    return given[0] if len(given) < len(get_args(kind)) and len(given) == 1 else kind


def _argument(parser: argparse.ArgumentParser, field: Field[Any], kind: Any) -> None:
    inner, name, option = _inner(kind), _name(field), option_of(field)
    told: dict[str, Any] = {"help": _plain(field.metadata.get("doc", ""))}
    several = get_origin(inner) in (list, dict) or "list[" in str(kind)
    if inner is bool:
        told["action"] = "store_true" if inner is kind else argparse.BooleanOptionalAction
    else:
        told["type"] = inner if inner in (int, float) else str
        metavar = {offsets: OFFSET, pairs: PAIR}.get(_reader(kind) or option.read, "")  # type: ignore[arg-type]
        metavar = option.metavar or metavar or {int: "N", float: "SECONDS"}.get(inner, "")
        if metavar and not (_needed(field) and inner in (int, float)):
            told["metavar"] = metavar
        if several:
            told |= {"nargs": "+"} if _needed(field) else {"action": "append"}
    if name.startswith("--"):
        told |= {"dest": field.name, "default": None}
    parser.add_argument(name, **told)


def _plain(text: str) -> str:
    """Escape a text, so that argparse substitutes nothing in it."""
    return text.replace("%", "%%")
