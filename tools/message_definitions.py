"""Prints what a release of Kafka adds to the message tables of `coordinator/wire/messages`, by the
message definitions in its kafka-clients jar; no broker is started.

    python -m tools.message_definitions 4.5.0
    python -m tools.message_definitions path/to/kafka-clients-4.5.0.jar

A version is fetched by Maven as for `python -m integration_tests.release`, which compares what
running brokers advertise and do. Status 1 if there is a difference, 2 if there is no such jar.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile, ZipFile

from coordinator.wire.fields import FOREVER, Field, StructType
from coordinator.wire.messages import request_type, response_type
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Message
from tools import kafka_jars

Plain = Mapping[str, Any]
_FOLDER: Final = "common/message/"
_NEVER: Final = "none"


class Definition(NamedTuple):
    """One request or response of Kafka, as its JSON file defines it. `versions`: None if Kafka has
    removed the API. `unstable`: Kafka does not advertise the last version yet."""

    name: str
    key: int
    versions: tuple[int, int] | None
    flexible: int
    unstable: bool
    fields: tuple[Plain, ...]
    structs: Mapping[str, tuple[Plain, ...]]


def definitions(jar: Path) -> Iterator[Definition]:
    """Yield the requests and responses that a kafka-clients jar defines."""
    with ZipFile(jar) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith(_FOLDER) and name.endswith(".json"):
                plain = json.loads(_without_comments(archive.read(name).decode("utf-8")))
                if plain["type"] in ("request", "response"):
                    yield _definition(plain)


def differences(defined: Iterable[Definition]) -> Iterator[str]:
    """Yield a line for each version, field or message that our tables lack or define differently.
    Versions that only older releases have are not compared."""
    for one in defined:
        if one.versions is None:
            continue
        try:
            table = _table(one)
        except WireError:
            yield f"{one.name} (key {one.key}): versions {_range(*one.versions)}, no table"
            continue
        yield from _of_message(one, table)


def _of_message(one: Definition, table: type[Message]) -> Iterator[str]:
    low, high = one.versions or (0, -1)
    low = max(low, table.versions[0])
    if high > table.versions[1]:
        unstable = f"; {high} is unstable" if one.unstable else ""
        yield f"{one.name}: versions {_range(low, high)}, ours {_range(*table.versions)}{unstable}"
    if max(one.flexible, low) != max(table.flexible, low) and one.flexible <= high:
        yield f"{one.name}: flexible from {one.flexible} on, ours from {table.flexible} on"
    yield from _of_fields(one.name, one.fields, table, one, (low, high))


def _of_fields(
    where: str, fields: Iterable[Plain], table: StructType, one: Definition, within: tuple[int, int]
) -> Iterator[str]:
    ours = {field.name: field for field in table.fields}
    for plain in fields:
        low, high = _bounds(plain["versions"], within)
        if low > high:
            continue
        name = f"{where}.{plain['name']}"
        field = _named(ours, plain["name"])
        if field is None:
            tag = f", tag {plain['tag']}" if "tag" in plain else ""
            yield f"{name}: {plain['type']}, versions {_range(low, high)}{tag}, not in the table"
            continue
        if (low, high) != (max(field.since, within[0]), min(field.until, within[1])):
            yield f"{name}: versions {_range(low, high)}, ours {_range(field.since, field.until)}"
        inner = plain.get("fields") or one.structs.get(str(plain["type"]).removeprefix("[]"), ())
        element = _struct(field)
        if inner and element is not None:
            yield from _of_fields(name, inner, element, one, (low, high))


def _struct(field: Field) -> StructType | None:
    element = field.elem
    while isinstance(element, Field):
        element = element.elem
    return element


def _named(ours: Mapping[str, Field], name: str) -> Field | None:
    plain = {key.replace("_", "").rstrip("s"): field for key, field in ours.items()}
    return plain.get(name.lower().rstrip("s"))


def _table(one: Definition) -> type[Message]:
    of_request = one.name.endswith("Request")
    return request_type(one.key) if of_request else response_type(one.key)


def _definition(plain: Plain) -> Definition:
    structs = {each["name"]: tuple(each["fields"]) for each in plain.get("commonStructs", ())}
    whole = (0, FOREVER)
    flexible = plain.get("flexibleVersions", _NEVER)
    return Definition(
        plain["name"],
        plain["apiKey"],
        None if plain["validVersions"] == _NEVER else _bounds(plain["validVersions"], whole),
        FOREVER if flexible == _NEVER else _bounds(flexible, whole)[0],
        bool(plain.get("latestVersionUnstable")),
        tuple(plain.get("fields", ())),
        structs,
    )


def _bounds(text: str, within: tuple[int, int]) -> tuple[int, int]:
    """Return the first and last version of `3`, `3-5` or `3+` that lie within others."""
    if text == _NEVER:
        return 0, -1
    first, dash, last = text.partition("-")
    low = int(first.rstrip("+"))
    high = int(last) if dash else FOREVER if text.endswith("+") else low
    return max(low, within[0]), min(high, within[1])


def _range(low: int, high: int) -> str:
    return f"{low}+" if high >= FOREVER else str(low) if low == high else f"{low}-{high}"


def _without_comments(text: str) -> str:
    """Return JSON without the `//` comments of Kafka's files, of which no string has any."""
    return re.sub(r"^\s*//.*$|(?<=[,{}\[\]\"\d])\s+//.*$", "", text, flags=re.MULTILINE)


def _jar(given: str) -> Path:
    path = Path(given)
    if path.suffix == ".jar":
        return path
    return kafka_jars.jars(given) / f"kafka-clients-{given}.jar"


def main(arguments: Sequence[str]) -> int:
    """Print the differences; see the module."""
    if len(arguments) != 1:
        print("give a release, such as 4.5.0, or a kafka-clients jar", file=sys.stderr)
        return 2
    try:
        found = list(differences(definitions(_jar(arguments[0]))))
    except (OSError, BadZipFile, kafka_jars.NoJavaError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2
    print("\n".join(found) or "no message differs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
