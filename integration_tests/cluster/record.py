"""Keep what three real brokers did in every scenario, or compare the emulator with it.

    python -m integration_tests.cluster.record [--compare] [part of a name ...]

Starts the real cluster itself. Each scenario is played twice, under two marks, before it is kept:
one whose transcript does not repeat is refused, and its old record stays. With `--compare` the
emulator plays each once, nothing is started but that, and differences are printed.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from integration_tests.cluster.hosts import Hosts, emulated_cluster, real_cluster
from integration_tests.cluster.registry import all_scenarios, play
from integration_tests.cluster.stage import lay_out
from integration_tests.wire.compare import difference, line, told
from integration_tests.wire.record import Recorded, load, save
from integration_tests.wire.recorder import complete, new_nonce

HOME = Path(__file__).resolve().parents[1] / "golden" / "cluster"


def chosen(parts: Iterable[str]) -> list[str]:
    """The names of the scenarios that have one of the parts in them; all, if none is given."""
    wanted = list(parts)
    return [name for name in all_scenarios() if not wanted or any(part in name for part in wanted)]


def record(hosts: Hosts, names: list[str], home: Path = HOME) -> int:
    """Play these twice on real brokers, and keep them; how many were refused."""
    lay_out(hosts.bootstrap_servers.split(","))
    kept = {name: recorded for name, recorded in load(home).items() if name in all_scenarios()}
    refused = 0
    for name in names:
        nonce = new_nonce()
        once, again = (play(name, hosts, mark) for mark in (nonce, new_nonce()))
        found = difference(once, again)
        if found is None and complete(once):
            kept[name] = Recorded(nonce, once)
            save(kept, home)
            print(f"{name}: {len(once)} steps", flush=True)
        else:
            refused += 1
            reason = (
                f"does not repeat:\n{told(found, 'once', 'again')}"
                if found
                else f"did not end: {line(once[-1])}"
            )
            print(name, reason, flush=True)
    save(kept, home)
    return refused


def compare(hosts: Hosts, names: list[str], home: Path = HOME) -> int:
    """Play these on the emulator and print where each parts from its record; how many do."""
    lay_out(hosts.bootstrap_servers.split(","))
    kept = load(home)
    parted = 0
    for name in names:
        steps = play(name, hosts, kept[name].nonce) if name in kept else []
        found = (
            difference(kept[name].steps, steps)
            if name in kept
            else (None, {"recorded": False}, None)
        )
        if found is not None:
            parted += 1
            print(name, told(found, "Kafka", "we"), sep="\n", flush=True)
    print(f"{len(names)} scenarios, {parted} differ")
    return parted


def record_all(_: Callable[[str], str]) -> int:
    """Record all scenarios on a cluster of its own. 1 if any was refused."""
    with real_cluster() as hosts:
        return 1 if record(hosts, chosen(())) else 0


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.cluster.record", description=__doc__
    )
    parser.add_argument("--compare", action="store_true", help="the emulator with what is kept")
    parser.add_argument("names", nargs="*", help="parts of scenario names")
    options = parser.parse_intermixed_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # the Java processes end with this one
    with emulated_cluster() if options.compare else real_cluster() as hosts:
        return 1 if (compare if options.compare else record)(hosts, chosen(options.names)) else 0


if __name__ == "__main__":
    sys.exit(main())
