"""Random scenarios against two addresses until they part, or so many seeds have passed.

    python -m integration_tests.wire.fuzz A B [--of groups] [--first 1000] [--count 100]

Prints the transcript up to the first difference; the seed repeats it. Exit status 1 if any seed
differs.
"""

from __future__ import annotations

import argparse
import sys

from integration_tests.wire.codec import TableCodec
from integration_tests.wire.compare import difference, line
from integration_tests.wire.recorder import Scenario, await_coordinator, new_nonce, play
from integration_tests.wire.scenarios import (
    random_admin,
    random_batches,
    random_consumer_groups,
    random_frames,
    random_groups,
    random_lives,
    random_logs,
    random_requests,
    random_share_groups,
    random_shares,
)

EPISODES = {
    "admin": random_admin.episode,
    "batches": random_batches.episode,
    "consumers": random_consumer_groups.episode,
    "frames": random_frames.episode,
    "lives": random_lives.episode,
    "groups": random_groups.episode,
    "logs": random_logs.episode,
    "requests": random_requests.episode,
    "share_groups": random_share_groups.episode,
    "shares": random_shares.episode,
}


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.wire.fuzz", description=__doc__
    )
    parser.add_argument("address", nargs=2, metavar="HOST:PORT")
    parser.add_argument(
        "--of", choices=sorted(EPISODES), default="groups", help="what the episodes are about"
    )
    parser.add_argument("--first", type=int, default=1000, help="first seed")
    parser.add_argument("--count", type=int, default=100, help="how many seeds")
    parser.add_argument("--tail", type=int, default=12, help="steps to show before a difference")
    options = parser.parse_args(arguments)
    codec = TableCodec()
    for address in options.address:
        await_coordinator(address, codec)
    parted = 0
    for seed in range(options.first, options.first + options.count):
        nonce = new_nonce()
        left, right = (
            play(Scenario(f"seed {seed}", EPISODES[options.of](seed)), address, codec, nonce)
            for address in options.address
        )
        found = difference(left, right)
        if found is not None:
            parted += 1
            same = (
                next(i for i in range(len(left)) if i >= len(right) or left[i] != right[i])
                if left != right[: len(left)]
                else len(left)
            )
            print(
                f"seed {seed} parts at step {same}",
                *("  " + line(step) for step in left[max(same - options.tail, 0) : same]),
                sep="\n",
            )
            print(f"A {line(found[1])}", f"B {line(found[2])}", sep="\n")
    print(f"{options.count} seeds, {parted} differ")
    return 1 if parted else 0


if __name__ == "__main__":
    sys.exit(main())
