"""Docker images of this project: `python -m tools.images emulator | example | base | kafka`.

Each is made from a context prepared outside, so that no build needs the network; one that is there
and has the same sources is kept. Status 0 with the image's name as the last line, 2 with one line
about what is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from coordinator import __version__
from tools.docker_build import ImageError
from tools.emulator_base import LOCAL_BASE_TAG, PLATFORMS, build_base
from tools.emulator_image import build_emulator, build_example, default_base

EMULATOR_TAG = f"kafka-group-coordinator:{__version__}"
EMULATOR_ALIAS = "kafka-group-coordinator:latest"
EXAMPLE_TAG = "kafka-group-coordinator-orders:latest"
KAFKA_TAG = "local/kafka:4.4.0"


def main(argv: Sequence[str] | None = None) -> int:
    """Build what is asked for; the exit status."""
    args = _parser().parse_args(argv)
    try:
        _build(args)
    except ImageError as error:
        print(f"{args.image}: {error}", file=sys.stderr)
        return 2
    print(args.tag)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.images", description=__doc__.partition("\n\n")[2], allow_abbrev=False
    )
    images = parser.add_subparsers(dest="image", required=True, metavar="IMAGE")
    emulator = images.add_parser("emulator", help="the emulator's own image", allow_abbrev=False)
    example = images.add_parser(
        "example", help="the sample application's image, and the emulator's", allow_abbrev=False
    )
    for image in (emulator, example):
        image.add_argument(
            "--base",
            metavar="IMAGE",
            help="a Python image to stand on (default: python:3.13-slim; else the local base)",
        )
    base = images.add_parser(
        "base",
        help="a small Python of Debian's packages, where no image can be pulled",
        allow_abbrev=False,
    )
    kafka = images.add_parser(
        "kafka", help="a real Kafka broker, where its image cannot be pulled", allow_abbrev=False
    )
    for image in (emulator, base):
        image.add_argument(
            "--platform",
            default="",
            choices=tuple(PLATFORMS),
            help="another platform than the daemon's, on a local base; it has to be emulated here",
        )
    for image, tag in (
        (emulator, EMULATOR_TAG),
        (example, EXAMPLE_TAG),
        (base, LOCAL_BASE_TAG),
        (kafka, KAFKA_TAG),
    ):
        image.add_argument("--tag", default=tag, help=f"the image's name (default {tag})")
    return parser


def _build(args: argparse.Namespace) -> None:
    if args.image == "kafka":
        from tools.kafka_image import build_kafka

        build_kafka(args.tag)
    elif args.image == "base":
        build_base(args.tag, args.platform)
    elif args.image == "example":
        chosen = args.base or default_base()
        build_emulator(EMULATOR_TAG, chosen, [EMULATOR_ALIAS])
        build_example(args.tag, chosen)
    else:
        aliases = [EMULATOR_ALIAS] if args.tag == EMULATOR_TAG else []
        build_emulator(args.tag, args.base, aliases, args.platform)


if __name__ == "__main__":
    sys.exit(main())
