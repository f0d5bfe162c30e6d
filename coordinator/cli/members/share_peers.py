"""`coordinator peers --protocol share`: consumers of a share group of any Kafka (KIP-932), which work on
what they are given until SIGINT or SIGTERM.

Prints a line whenever what they are assigned, or how much they have done, has changed, once a second
at most. Status as `peers`.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .. import UsageError, command_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coordinator.members.applications.sharing import Work
    from coordinator.members.live.sharing import SharePeer
    from coordinator.members.share.config import ShareConfig

_NOT_FOR_CONFIG = {
    "group.id": "--group",
    "client.id": "--client-id",
    "client.rack": "--racks",
}
_REFUSED = {
    "pattern": "share groups subscribe to topics by name: give --topics",
    "assignor": "the coordinator assigns in a share group, by the assignor simple",
    "server_assignor": "a share group has one assignor, simple",
    "static": "share groups have no static members",
}
_TELL_S = 1.0
_LOOK_S = 0.1
_REACH_TIMEOUT_S = 10.0


def share_configs(args: argparse.Namespace) -> tuple[list[ShareConfig], Work]:
    """Return a configuration for each member, and how the members process records. Raises
    UsageError."""
    from coordinator.members import MemberConfigError
    from coordinator.members.applications.sharing import Work
    from coordinator.members.share.config import ShareConfig

    for name, why in _REFUSED.items():
        if getattr(args, name):
            option = name.replace("_", "-")
            raise UsageError(f"--{option}: {why}")
    properties: dict[str, object] = {}
    work = Work(args.processing, args.release, args.reject, renew_ms=args.renew)
    if work.is_explicit:
        properties["share.acknowledgement.mode"] = "explicit"
    for text in args.config:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--config {text!r}: write NAME=VALUE, such as max.poll.records=10")
        if name in _NOT_FOR_CONFIG:
            raise UsageError(f"--config {name}: there is {_NOT_FOR_CONFIG[name]} for this")
        properties[name] = value
    racks = args.racks.split(",") if args.racks else [""]
    try:
        configs = [
            ShareConfig.from_properties(
                {
                    **properties,
                    "group.id": args.group,
                    "client.id": f"{args.client_id}-{i + 1}",
                    "client.rack": racks[i % len(racks)].strip(),
                }
            )
            for i in range(args.count)
        ]
        return configs, work.checked(implicit=configs[0].implicit)
    except MemberConfigError as error:
        raise UsageError(str(error)) from None


async def live(
    args: argparse.Namespace, configs: Sequence[ShareConfig], work: Work, topics: list[str]
) -> int:
    """Run the members until a signal comes."""
    import asyncio

    from coordinator.members.live import Fleet
    from coordinator.members.live.sharing import SharePeer

    from ..interrupts import stop_on_signals
    from .table import how_many

    asked_to_stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    stop_on_signals(loop, asked_to_stop)
    entry = command_config.read(args.command_config)
    fleet = Fleet(args.bootstrap, seed=args.seed, client_id=args.client_id, entry=entry)
    peers = [SharePeer(fleet, config, topics, work) for config in configs]
    told, began, last = "", loop.time(), 0.0
    try:
        while not asked_to_stop.is_set() and any(not peer.ended for peer in peers):
            past = loop.time() - began
            if args.seconds is not None and past >= args.seconds:
                break
            if past >= _REACH_TIMEOUT_S and not any(peer.reached for peer in peers):
                print(f"error: no broker could be reached at {args.bootstrap}", flush=True)
                return 1
            seen = headline(peers)
            if seen != told and (past - last >= _TELL_S or not told):
                print(seen, flush=True)
                told, last = seen, past
            try:
                await asyncio.wait_for(asked_to_stop.wait(), _LOOK_S)
            except TimeoutError:
                continue
        seen = headline(peers)
        if seen != told:
            print(seen, flush=True)
        print(f"leaving: {how_many(sum(not peer.ended for peer in peers))}", flush=True)
    finally:
        await fleet.close()
    faults = [peer for peer in peers if peer.fault is not None]
    for peer in faults:
        print(f"{peer.client_id}: {peer.fault}", flush=True)
    return 1 if faults else 0


def headline(peers: Sequence[SharePeer]) -> str:
    """Return one line: the members in the group, their partitions, and the records that they
    acknowledged."""
    stable = sum(str(peer.state) == "STABLE" for peer in peers)
    partitions = sum(len(peer.consumer.assigned) for peer in peers)
    words = {"accept": 0, "release": 0, "reject": 0}
    for peer in peers:
        for word, count in peer.words.items():
            words[word] += count
    return (
        f"{stable} of {len(peers)} in the group, {partitions} partitions; records: "
        f"{words['accept']} accepted, {words['release']} released, {words['reject']} rejected"
    )
