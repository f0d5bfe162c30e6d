"""The judge of the log: after every test, the groups that were live are compared with what their
events say.

(a) The live hard state equals a replay of the events: groups, availability, and what each partition
keeps. Sessions and parked requests are soft state and are left out. (b) After every partition was
unloaded and loaded, the live groups equal a load of the events, which folds the durable ones alone.
(c) Of several brokers that write a log, the log gives back the cluster, the groups that each broker
serves, and the transactional ids that their coordinators know.
(d) What share groups have in flight at each broker, and what the share coordinator keeps of it,
equals a replay of their events. (e) What it keeps equals a load of the records of
`__share_group_state`.

The fixture `log_is_the_truth` in conftest does this for every test; `@pytest.mark.unjudged` is for
tests that break the coordinator on purpose. test_log_judge.py plants bugs to show that the judge
finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from coordinator.core.group_coordinator import GroupCoordinator, LoggedEvent
from coordinator.core.groups.evolve import evolve
from coordinator.core.groups.group import Group
from coordinator.core.shards.shard import Shard
from coordinator.core.share_partitions.model import SharePartitionKey
from coordinator.core.share_states.model import ShareState, ShareStateKey
from coordinator.events import groups as ev
from coordinator.events.availability import PartitionsEmptied
from coordinator.events.line import Line
from coordinator.server.cluster import Cluster
from coordinator.server.cluster.model import SHARE_GROUP_STATE
from coordinator.server.cluster_runtime import Brokers
from coordinator.server.replay.several_brokers import ReplayedBrokers
from coordinator.server.shares.partitions import SharePartitions
from coordinator.server.shares.service import Shares
from coordinator.server.shares.state_loads import UPDATES, read_back
from coordinator.server.shares.states import ShareStates
from tests.replayed_shares import ReplayedShares

Groups = dict[str, dict[str, object]]
_DURABLE = ev.DURABLE


class Recorder:
    """The coordinators that a test makes, and everything that happens in them, in order."""

    def __init__(self) -> None:
        self.coordinators: list[GroupCoordinator] = []
        self.events: dict[int, list[LoggedEvent]] = {}
        """What happened in each of them, by the id of its index. They are kept alive here, so no
        other index gets such an id."""
        self.derived = 0
        self.clusters: list[Brokers] = []
        self.shares: list[tuple[SharePartitions, ShareStates, ReplayedShares]] = []
        """The share partitions of each broker, and what their events lead to."""

    def judge(self) -> None:
        """Compare. Raises AssertionError."""
        for coordinator in self.coordinators:
            events = self.events[id(coordinator._index)]
            if events and coordinator._durable is None:
                judge_replay(coordinator, events)
                judge_load(coordinator, events)
        for live, states, replayed in self.shares:
            judge_shares(id(live), live, replayed)
            if states.loads is None:
                judge_states(0, states, replayed)
            judge_state_log(states)
        for cluster in self.clusters:
            log = cluster.log
            if (
                log is not None and log._file is None and log.lines
            ):  # a log in a file has none once it is closed
                lines = list(log.read())
                if lines[0].seq == 0:
                    judge_brokers(cluster, lines)


def judge_replay(coordinator: GroupCoordinator, events: list[LoggedEvent]) -> None:
    """(a) What is live is what a replay of the events gives."""
    replayed = GroupCoordinator.replay(coordinator.config, events, events[-1].at_ms)
    assert snapshots(coordinator) == snapshots(replayed), (
        "a replay of the log gives other groups than those that were live"
    )
    assert kept(coordinator) == kept(replayed), "a replay of the log keeps other durable events"
    assert kept(coordinator) == folded(events), (
        "what the partitions keep is not what the durable events say"
    )
    assert coordinator.availability.snapshot() == replayed.availability.snapshot(), (
        "a replay of the log serves other partitions"
    )


def judge_load(coordinator: GroupCoordinator, events: list[LoggedEvent]) -> None:
    """(b) What an unload and a load of every partition make of the live groups is what a load of
    the events gives."""
    if coordinator.availability.stopped:
        return
    now = events[-1].at_ms
    coordinator._log = None
    for shard in coordinator.shards.values():
        shard.log = None
    coordinator.unload(now)
    coordinator.finish_load(now)
    loaded = GroupCoordinator.load(coordinator.config, events, now)
    assert snapshots(coordinator) == snapshots(loaded), (
        "an unload and a load give other groups than a load of the log"
    )


def judge_brokers(cluster: Brokers, lines: list[Line]) -> None:
    """(c) The log of several brokers gives back what was live."""

    config = cluster.brokers[1].coordinator.config
    replayed = ReplayedBrokers(lines, cluster.configs[1], config)
    assert registrations(cluster.controller.cluster) == registrations(replayed.cluster), (
        "the log gives another cluster than there was"
    )
    shares = ReplayedShares(lines, cluster.configs[1])
    for node, broker in cluster.brokers.items():
        if broker.services.started_shares is not None:
            judge_shares(node, broker.services.shares.partitions, shares)
            judge_states(node, broker.services.shares.states, shares)
    for node, broker in cluster.brokers.items():
        again = replayed.coordinators.get(node) or GroupCoordinator(config)
        live, told = serving(broker.coordinator), serving(again)
        assert live == told, f"the log gives broker {node} other groups than it serves"
    found = {name: one.snapshot() for name, one in replayed.transactions().items()}
    for node, broker in cluster.brokers.items():
        for name, one in broker.services.transactions.coordinator.transactions.items():
            if (
                cluster.network.running(node)
                and cluster.controller.in_contact(node)
                and not broker.services.transactions.availability(name)
            ):
                assert one.snapshot() == found[name], (
                    f"the log gives another {name} than broker {node} knows"
                )


def judge_shares(node: int, live: SharePartitions, replayed: ReplayedShares) -> None:
    """(d) The events of share partitions give back those that are open."""
    again = replayed.open_ones.get(node, {})
    assert {key: of.snapshot() for key, of in live.open_ones.items()} == {
        key: of.snapshot() for key, of in again.items()
    }, "a replay of the log has other records in flight than share groups have"


def judge_states(node: int, states: ShareStates, replayed: ReplayedShares) -> None:
    """(d) So do those of what is stored. What is loading is not whole yet."""
    if states.loads is not None and states.loads.next_deadline() is not None:
        return
    again = replayed.states.get(node, {})
    assert {key: of.snapshot() for key, of in states.states.items()} == {
        key: of.snapshot() for key, of in again.items()
    }, "a replay of the log has other states of share partitions than there are"


def judge_state_log(states: ShareStates) -> None:
    """(e) A load of each partition's records gives the states that are served of it."""
    topic = states._broker.cluster.topics.get(SHARE_GROUP_STATE)
    for index, live in states.by_partition.items():
        if topic is None or states.error_of(index):
            continue
        log = topic.partitions[index].log
        if log.log_start_offset:
            continue
        loaded: dict[ShareStateKey, ShareState] = {}
        for _ in read_back(log, loaded, states._broker.configs.get_int(UPDATES)):
            pass
        assert {key: of.snapshot() for key, of in live.items()} == {
            key: of.snapshot() for key, of in loaded.items()
        }, "a load of __share_group_state has other states of share partitions than there are"


def serving(coordinator: GroupCoordinator) -> Groups:
    """The hard state of every group that is served."""
    served = [
        shard
        for index, shard in coordinator.shards.items()
        if not coordinator.availability.error(index)
    ]
    return {
        group_id: group.snapshot() for shard in served for group_id, group in shard.groups.items()
    }


def registrations(cluster: Cluster) -> dict[str, object]:
    """Brokers, topics and partitions, as the controller knows them."""
    kinds = (
        "leader",
        "leader_epoch",
        "partition_epoch",
        "replicas",
        "isr",
        "elr",
        "last_known_elr",
        "adding",
        "removing",
        "offline",
    )
    return {
        "controller": (cluster.controller_id, cluster.controller_epoch),
        "brokers": {
            node: (one.rack, one.fenced, one.epoch, one.shutting_down)
            for node, one in cluster.brokers.items()
        },
        "topics": {
            name: (
                topic.id,
                [[getattr(partition, kind) for kind in kinds] for partition in topic.partitions],
            )
            for name, topic in cluster.topics.items()
        },
    }


def snapshots(coordinator: GroupCoordinator) -> Groups:
    """The hard state of every group, those of partitions that are loading too."""
    return {
        group_id: group.snapshot()
        for shard in coordinator.shards.values()
        for group_id, group in shard.groups.items()
    }


def kept(coordinator: GroupCoordinator) -> Groups:
    """What a load of every partition would find."""
    stores = [shard.durable for shard in coordinator.shards.values()]
    return {
        group_id: store.fold(group_id).snapshot() for store in stores for group_id in store.groups()
    }


def folded(events: Iterable[LoggedEvent]) -> Groups:
    """The same, found in the plainest way: every durable event folded, none compacted."""
    groups: dict[str, Group] = {}
    for at_ms, group_id, event in events:
        if isinstance(event, PartitionsEmptied):
            groups.clear()
        elif group_id is not None and isinstance(event, ev.GroupDeleted):
            groups.pop(group_id, None)
        elif group_id is not None and type(event) in _DURABLE:
            group = groups.setdefault(group_id, Group(group_id, at_ms, loading=True))
            evolve(group, event, at_ms)  # type: ignore[arg-type]
    return {group_id: group.snapshot() for group_id, group in groups.items()}


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record every coordinator that is made meanwhile, but for those that `replay` and `load`
    make."""
    recorder = Recorder()
    with pytest.MonkeyPatch.context() as patch:
        init, write, change = GroupCoordinator.__init__, Shard._write, GroupCoordinator._change
        replay, load = GroupCoordinator.replay.__func__, GroupCoordinator.load.__func__  # type: ignore[attr-defined]

        def made(self: GroupCoordinator, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            if not recorder.derived:
                recorder.coordinators.append(self)
                recorder.events[id(self._index)] = []

        def written(self: Shard, group: Any, event: Any, effects: Any, before: Any) -> Any:
            if id(self._index) in recorder.events:
                recorder.events[id(self._index)].append(
                    LoggedEvent(effects.now, group.group_id, event)
                )
            return write(self, group, event, effects, before)

        def changed(self: GroupCoordinator, event: Any, effects: Any) -> None:
            if id(self._index) in recorder.events:
                recorder.events[id(self._index)].append(LoggedEvent(effects.now, None, event))
            change(self, event, effects)

        def derive(make: Any) -> Any:
            def derived(cls: type, *args: Any, **kwargs: Any) -> Any:
                recorder.derived += 1
                try:
                    return make(cls, *args, **kwargs)
                finally:
                    recorder.derived -= 1

            return classmethod(derived)

        open_shares, fold, keep = Shares.__init__, SharePartitions.fold, ShareStates._write
        replays: dict[int, ReplayedShares] = {}

        def opened(self: Shares, broker: Any) -> None:
            open_shares(self, broker)
            replayed = replays.setdefault(id(self.states), ReplayedShares())
            replays[id(self.partitions)] = replayed
            recorder.shares.append((self.partitions, self.states, replayed))

        def folded_one(self: SharePartitions, partition: Any, event: Any, *rest: Any) -> None:
            replayed = replays.get(id(self))
            if replayed is not None:  # brokers that outlive a test were made in another
                replayed.fold(id(self), partition.key, event)
            fold(self, partition, event, *rest)

        def kept_one(self: ShareStates, index: int, key: Any, event: Any, *rest: Any) -> None:
            replayed = replays.get(id(self))
            if replayed is not None:
                replayed.fold(0, SharePartitionKey(key.group_id, "", key.partition), event)
            keep(self, index, key, event, *rest)

        patch.setattr(Shares, "__init__", opened)
        patch.setattr(SharePartitions, "fold", folded_one)
        patch.setattr(ShareStates, "_write", kept_one)
        begin = Brokers.__init__

        def begun(self: Brokers, *args: Any, **kwargs: Any) -> None:
            begin(self, *args, **kwargs)
            recorder.clusters.append(self)

        patch.setattr(Brokers, "__init__", begun)
        patch.setattr(GroupCoordinator, "__init__", made)
        patch.setattr(Shard, "_write", written)
        patch.setattr(GroupCoordinator, "_change", changed)
        patch.setattr(GroupCoordinator, "replay", derive(replay))
        patch.setattr(GroupCoordinator, "load", derive(load))
        yield recorder
