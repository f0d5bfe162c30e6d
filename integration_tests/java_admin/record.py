"""What the Java clients say of a broker, call by call: admin calls (`Calls.java`) and share consumers
(`Shares.java`); and what they said of a real one.

    python -m integration_tests.java_admin.record ADDRESS

Owns the run of the calls and the record (integration_tests/golden/java_admin). A record is kept if
it repeats.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Final

from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import await_coordinator
from tools import kafka_jars

PROFILES: Final = {"calls": "plain", "shares": "shares"}
"""Which broker configuration each program wants."""
PATIENCE_S: Final = 240
GOLDEN: Final = Path(__file__).resolve().parents[1] / "golden" / "java_admin"
_HOME: Final = Path(__file__).parent
_QUIET: Final = f"-Dlog4j2.configurationFile={_HOME / 'log4j2-quiet.properties'}"
_JVM: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")


class CallsError(Exception):
    """The calls did not come to their end; the text says where."""


def said(program: str, address: str) -> list[str]:
    """A line for each call of a program: what it said of the broker at this address. Raises
    NoJavaError, CallsError."""
    main = program.capitalize()
    jars = kafka_jars.class_path()
    classes = kafka_jars.compiled(jars, _HOME / f"{main}.java")
    command = [
        kafka_jars.java(),
        *_JVM,
        _QUIET,
        "-cp",
        os.pathsep.join((str(classes), jars)),
        main,
        address,
    ]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, encoding="utf-8", timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired as late:
        heard = (late.stdout or b"").decode().splitlines()
        raise CallsError(
            f"the calls did not end within {PATIENCE_S} s; the last was: {heard[-1:]}"
        ) from None
    lines = done.stdout.splitlines()
    if done.returncode:
        raise CallsError(f"the calls broke off after {lines[-1:]}: {done.stderr.strip()[:1000]}")
    return lines


def expected(program: str) -> list[str]:
    """What a program said of a real Kafka 4.4.0."""
    return (GOLDEN / f"{program}.txt").read_text().splitlines()


def differences(kafka: list[str], ours: list[str]) -> list[str]:
    """Where the second parts from the first, two lines each."""
    return [
        f"Kafka    {theirs}\nemulator {mine}"
        for theirs, mine in zip_longest(kafka, ours, fillvalue="(nothing)")
        if theirs != mine
    ]


def record_all(addresses: Callable[[str], str]) -> int:
    """Record the broker whose address by profile is given; how many programs did not repeat
    themselves."""
    refused = 0
    for program, profile in PROFILES.items():
        address = addresses(profile)
        await_coordinator(address, TableCodec())
        first, second = said(program, address), said(program, address)
        if first != second:
            print(
                f"java_admin: {program} is not recorded, it does not repeat:",
                *differences(first, second),
                sep="\n",
            )
            refused += 1
            continue
        GOLDEN.mkdir(parents=True, exist_ok=True)
        (GOLDEN / f"{program}.txt").write_text("\n".join(first) + "\n")
        print(f"java_admin: {len(first)} lines of {program}")
    return refused


if __name__ == "__main__":
    sys.exit(record_all(lambda _: sys.argv[1]))
