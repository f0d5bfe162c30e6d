"""Record anew what a real Kafka does, for machines that have none: `python -m
integration_tests.record [part ...]`.

Starts real brokers, one for each profile, and writes integration_tests/golden/. Read the difference
before it is committed. Exit status 1 if something did not repeat, 2 if no real broker can be had.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Final

from integration_tests.targets import KafkaTarget, NoBroker
from integration_tests.wire.registry import PROFILES

PARTS: Final = ("wire", "clients", "tools", "java_admin", "cluster", "upgrade")


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m integration_tests.record", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; all when none is named"
    )
    options = parser.parse_args(arguments)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(PARTS)}")
    try:
        kafka = KafkaTarget()
    except NoBroker as reason:
        print(f"no real broker: {reason}", file=sys.stderr)
        return 2
    print(f"recording a real Kafka ({kafka.kind})", flush=True)
    status = 0
    kafka.begin(PROFILES)
    try:
        for part in options.parts or PARTS:
            status |= importlib.import_module(f"integration_tests.{part}.record").record_all(
                kafka.address
            )
    finally:
        kafka.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
