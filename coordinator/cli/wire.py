"""The commands `coordinator wire decode` and `coordinator wire encode`: their options, and one JSON object
a line. The message tables are in `coordinator/wire/messages/`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from coordinator.wire.json_values import from_hex, from_plain, to_plain, wrong
from coordinator.wire.messages import API_KEYS, request_type, response_type
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import check_version

DESCRIPTION: Final = """Look into captured messages, or make
some.

Standard input to standard output, one JSON object a line: `api` or `key`, `dir` ("request" or
"response"), `version`, and `hex` (decode) or `value` (encode); the other one is added, whatever
else stands there passes through. `hex` is the body, without size prefix and header. The first line
that is wrong ends the run with status 2; the lines before it are out."""

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from coordinator.wire.schema import Message

_EXAMPLE = """\
example:
  echo '{"api":"Heartbeat","dir":"response","version":4,"hex":"00000000001b00"}' | coordinator wire decode

The form is the protocol's: snake_case names, bytes and UUIDs in hex, tagged fields only where present."""


def add_parser(subparsers: _SubParsersAction[ArgumentParser]) -> None:
    """Declare `wire` and its two commands."""
    parser = subparsers.add_parser(
        "wire",
        help="decode or encode protocol messages, as JSON Lines",
        description=DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="wire_command", required=True, metavar="decode|encode")
    for name, text in (
        ("decode", "add `value` to lines that have `hex`"),
        ("encode", "add `hex` to lines that have `value`"),
    ):
        command = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=_EXAMPLE,
            formatter_class=RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Convert line by line and write each line at once; return 2 if a line was wrong."""
    convert = decode_line if args.wire_command == "decode" else encode_line
    for number, raw in enumerate(sys.stdin.buffer, 1):
        if not raw.strip():
            continue
        try:
            line = parse_line(raw)
            convert(line)
        except WireError as fault:
            sys.stdout.flush()
            print(f"coordinator wire: line {number}: {fault}", file=sys.stderr)
            return 2
        print(json.dumps(line, separators=(",", ":")), flush=True)
    return 0


def parse_line(raw: bytes) -> dict[str, Any]:
    """Return the JSON object on a line. Raises WireError."""
    try:
        line = json.loads(raw)
    except UnicodeDecodeError as fault:
        raise WireError(
            f"not UTF-8 at byte {fault.start + 1}; give one JSON object a line, in UTF-8"
        ) from fault
    except (ValueError, RecursionError) as fault:
        raise WireError(f"not JSON ({fault}); give one JSON object a line") from fault
    if not isinstance(line, dict):
        raise wrong(
            "the line",
            line,
            'one JSON object, such as {"api":"Heartbeat","dir":"request","version":4,"hex":"..."}',
        )
    return line


def decode_line(line: dict[str, Any]) -> None:
    """Add `value` to a line that has `hex`. Raises `WireError`."""
    message, version = subject(line)
    if "hex" not in line:
        raise WireError(
            '"hex" is missing: give the body of the message in hex, without size prefix and header'
        )
    line["value"] = to_plain(message.decode(version, from_hex(line["hex"], "hex")), version)


def encode_line(line: dict[str, Any]) -> None:
    """Add `hex` to a line that has `value`. Raises `WireError`."""
    message, version = subject(line)
    if "value" not in line:
        raise WireError(
            f'"value" is missing: give an object with the fields of {message.__name__} version {version}'
        )
    encoded: bytes = from_plain(message, version, line["value"]).encode(version)
    line["hex"] = encoded.hex()


def subject(line: dict[str, Any]) -> tuple[type[Message], int]:
    """Return the message class and the version of a line. Raises `WireError`."""
    key = api_key(line)
    direction, version = line.get("dir"), line.get("version")
    if direction not in ("request", "response"):
        raise WireError(f'"dir" is {json.dumps(direction)}; give "request" or "response"')
    message: type[Message] = request_type(key) if direction == "request" else response_type(key)
    if not isinstance(version, int) or isinstance(version, bool):
        raise WireError(
            f'"version" is {json.dumps(version)}; give an integer from {message.versions[0]} to {message.versions[1]}'
        )
    check_version(message, version)
    return message, version


def api_key(line: dict[str, Any]) -> int:
    """Return the API's key, given by `key`, `api` or both. Raises WireError."""
    key, name = line.get("key"), line.get("api")
    if key is None and name is None:
        raise WireError(
            'neither "api" nor "key" is given; give one, such as "api":"JoinGroup" or "key":11'
        )
    if key is not None and (
        not isinstance(key, int) or isinstance(key, bool) or key not in API_KEYS
    ):
        raise WireError(
            f'"key" is {json.dumps(key)}, which is no API; the keys are {min(API_KEYS)} to {max(API_KEYS)} with gaps'
        )
    if name is not None:
        named = next((known_key for known_key, known in API_KEYS.items() if known == name), None)
        if named is None:
            close = get_close_matches(str(name), API_KEYS.values(), n=3) or [
                "JoinGroup",
                "Heartbeat",
            ]
            raise WireError(
                f'"api" is {json.dumps(name)}, which is no API; perhaps {" or ".join(close)}'
            )
        if key is not None and key != named:
            raise WireError(
                f'"api" is {json.dumps(name)}, whose key is {named}, but "key" is {key}; make them agree, or give one'
            )
        return named
    assert key is not None
    return key
