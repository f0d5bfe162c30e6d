"""`python -m benchmarks.curve_live`: some points of the curve (docs/curve) measured live, on a real
broker in Docker.

Groups of this project's own members, one for each protocol of the curve and all of one size at the
same time, go through the events of `docs/curve/scenario.toml`: all join, one leaves, one is killed,
one joins, a tenth is restarted in five steps. Time is real, so the pauses between events are as
short as sessions of 45 s allow. `docs/curve/live.csv` gets a row for each measure; `make curve`
puts them beside the simulation. Traffic is not measured. `--bootstrap` takes a running Kafka
instead of Docker; rows of sizes that are not measured this time stay.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from math import ceil
from pathlib import Path

from benchmarks.curve_ledger import Ledger
from coordinator.members import MemberConfig
from coordinator.members.live import Fleet, Peer
from coordinator.members.live.fleet import agree
from coordinator.members.live.recorder import Callback
from coordinator.pipeline.curve import EVENTS, LIVE_COLUMNS, LIVE_MEASURES, TOPICS
from coordinator.testing.containers import RealKafka
from integration_tests.targets import real_broker_image, why_no_docker
from integration_tests.wire.make_topic import create_topic

WAYS: dict[str, dict[str, object]] = {
    "eager range": {"partition.assignment.strategy": "range"},
    "eager sticky": {"partition.assignment.strategy": "sticky"},
    "cooperative-sticky": {"partition.assignment.strategy": "cooperative-sticky"},
    "static members, range": {"partition.assignment.strategy": "range"},
    "KIP-848, uniform": {"group.protocol": "consumer", "group.remote.assignor": "uniform"},
}
"""The consumer settings of each protocol of the curve."""
BEGINS_S = {"join": 0.0, "leave": 25.0, "crash": 85.0, "one more": 145.0, "deployment": 170.0}
END_S = 300.0
STEPS, STEP_S, DOWN_S = 5, 20.0, 5.0


class LiveGroup:
    """One group: its members, by the numbers of the places that they fill, and its ledger."""

    def __init__(
        self, fleet: Fleet, protocol: str, members: int, topics: Sequence[str], partitions: int
    ) -> None:
        self._fleet = fleet
        self._topics = topics
        self._partitions = partitions
        self._static = protocol.startswith("static")
        group_id = f"curve-{members}-{re.sub('[^a-z0-9]+', '-', protocol.lower())}"
        self._properties = {"group.id": group_id, "enable.auto.commit": False, **WAYS[protocol]}
        self._lives: dict[int, int] = {}
        self._peers: dict[int, Peer] = {}
        self._names: dict[Peer, str] = {}
        self._unsettled: set[Peer] = set()
        self.ledger = Ledger()

    def start(self, place: int) -> None:
        """Start the member of a place."""
        life = self._lives[place] = self._lives.get(place, 0) + 1
        name = f"{self._properties['group.id']}-{place}"
        own = {"client.id": name, **({"group.instance.id": name} if self._static else {})}
        peer = self._fleet.peer(
            MemberConfig.from_properties({**self._properties, **own}), topics=self._topics
        )
        self._names[peer] = name if self._static else f"{name} {life}"
        self._peers[place] = peer
        self._unsettled.add(peer)

    def stop(self, place: int) -> None:
        """Let the member of a place close its consumer."""
        peer = self._peers.pop(place)
        self._unsettled.discard(peer)
        peer.close()

    def crash(self, place: int) -> None:
        """Kill the member of a place."""
        peer = self._peers.pop(place)
        self._unsettled.discard(peer)
        peer.crash()

    def told(self, peer: Peer, callback: Callback) -> bool:
        """A callback of any peer; whether it is one of this group."""
        name = self._names.get(peer)
        if name is None:
            return False
        places = [(each.topic, each.partition) for each in callback.partitions]
        (self.ledger.assigned if callback.kind == "assigned" else self.ledger.gone)(
            name, places, callback.at_ms
        )
        return True

    def changed(self, peer: Peer) -> bool:
        """Something happened to a peer; whether it is one of this group."""
        name = self._names.get(peer)
        if name is None:
            return False
        if peer.ended:
            self.ledger.ended(name, peer.now_ms)
            self._unsettled.discard(peer)
        elif peer in self._peers.values():
            (self._unsettled.discard if peer.settled else self._unsettled.add)(peer)
        living = list(self._peers.values())
        settled = not self._unsettled and self.ledger.owned == self._partitions and agree(living)
        self.ledger.looked(
            settled=settled, generation=living[0].generation if living else -1, at_ms=peer.now_ms
        )
        return True


async def live_through(
    bootstrap: str, members: int, protocols: Sequence[str], topics: Sequence[str]
) -> dict[str, Ledger]:
    """Lead a group of each protocol through all events; their ledgers, whose zero is the
    fleet's."""
    async with Fleet(bootstrap) as fleet:
        partitions = TOPICS * ceil(2 * members / TOPICS)
        groups = [LiveGroup(fleet, protocol, members, topics, partitions) for protocol in protocols]

        def called_back(peer: Peer, callback: Callback) -> None:
            any(group.told(peer, callback) for group in groups)

        def changed(peer: Peer) -> None:
            any(group.changed(peer) for group in groups)

        fleet.on_callback, fleet.on_change = called_back, changed
        rolling = max(members // 10, 1)
        rest = members - rolling
        begin = fleet.loop.time()

        async def at(seconds: float) -> None:
            await asyncio.sleep(max(begin + seconds - fleet.loop.time(), 0))

        for place in range(members):
            for group in groups:
                group.start(place)
        await at(BEGINS_S["leave"])
        for group in groups:
            group.stop(rest - 1)
        await at(BEGINS_S["crash"])
        for group in groups:
            group.crash(rest - 2)
        await at(BEGINS_S["one more"])
        for group in groups:
            group.start(rest - 2)
        at_once = ceil(rolling / STEPS)
        for step, first in enumerate(range(rest, members, at_once)):
            places = range(first, min(first + at_once, members))
            await at(BEGINS_S["deployment"] + step * STEP_S)
            for group in groups:
                for place in places:
                    group.stop(place)
            await at(BEGINS_S["deployment"] + step * STEP_S + DOWN_S)
            for group in groups:
                for place in places:
                    group.start(place)
        await at(END_S)
        return {protocol: group.ledger for protocol, group in zip(protocols, groups, strict=True)}


def rows_of(ledgers: dict[str, Ledger], members: int, broker: str) -> list[list[object]]:
    """Rows of live.csv."""
    begins = [*BEGINS_S.values(), END_S]
    found: list[list[object]] = []
    for protocol, ledger in ledgers.items():
        for number, event in enumerate(EVENTS):
            cost = ledger.cost(round(begins[number] * 1000), round(begins[number + 1] * 1000))
            found.extend(
                [
                    protocol,
                    members,
                    event,
                    measure,
                    "" if (value := getattr(cost, measure)) is None else value,
                    broker,
                ]
                for measure in LIVE_MEASURES
            )
    return found


def write_rows(out: Path, rows: Sequence[Sequence[object]]) -> None:
    """Write live.csv; rows of other sizes that stand there already stay."""
    kept: list[list[str]] = []
    sizes = {str(row[1]) for row in rows}
    if out.exists():
        with out.open(encoding="utf-8", newline="") as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[1] not in sizes]
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(LIVE_COLUMNS)
        writer.writerows(
            sorted([*kept, *[list(map(str, row)) for row in rows]], key=lambda row: int(row[1]))
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; 0, or 2 for what cannot be."""
    parser = argparse.ArgumentParser(prog="curve_live", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--sizes",
        default="10,50,100",
        help="members of the groups, with commas (default: %(default)s)",
    )
    parser.add_argument(
        "--bootstrap",
        metavar="HOST:PORT",
        help="a Kafka that runs already (default: a real broker in Docker)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("docs/curve/live.csv"),
        help="where the rows go (default: %(default)s)",
    )
    args = parser.parse_args(argv)
    try:
        sizes = [int(size) for size in args.sizes.split(",")]
    except ValueError:
        sizes = [0]
    if min(sizes) < 10:
        print(
            "curve_live: error: --sizes: whole numbers from 10 on, such as 10,100", file=sys.stderr
        )
        return 2
    with ExitStack() as stack:
        bootstrap, broker = args.bootstrap, "a running Kafka"
        if bootstrap is None:
            if reason := why_no_docker():
                print(
                    f"curve_live: error: {reason}; --bootstrap names a Kafka that runs already",
                    file=sys.stderr,
                )
                return 2
            image = real_broker_image()
            kafka = stack.enter_context(
                RealKafka(config={"group.initial.rebalance.delay.ms": "3000"}, image=image)
            )
            bootstrap, broker = kafka.bootstrap_servers, "Apache Kafka 4.3.1"
        for members in sizes:
            topics = [f"curve-{members}-{number}" for number in range(TOPICS)]
            for topic in topics:
                create_topic(bootstrap, topic, ceil(2 * members / TOPICS))
            ledgers = asyncio.run(live_through(bootstrap, members, list(WAYS), topics))
            write_rows(args.out, rows_of(ledgers, members, broker))
            print(f"groups of {members} members: {args.out}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
