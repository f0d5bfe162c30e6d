"""Topics of one replica, of which nobody else has anything: what stays and goes when the broker
stops, crashes, and its partition moves."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.assignments import TOPIC, alter, described
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.scenarios.moved_transactions import ends
from integration_tests.cluster.scenarios.open_transactions import known_producers, stable, written
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.scenarios.reassignments import UNCLEAN, elect, reassign, running
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch, listed
from integration_tests.cluster.scenarios.sequences import producing
from integration_tests.cluster.scenarios.sessions import Fetcher
from integration_tests.cluster.stage import TRANSACTIONS, Cluster


@scenario
def a_replica_is_taken_away_and_given_back(c: Cluster) -> None:
    """What a broker had of a partition before it was moved away is not there when it comes back;
    epochs go on."""
    name = c.topic("t", [3])
    write = producing(c, name)
    for sequence in range(3):
        write(3, sequence)
    reassign(c, name, {0: [1]})
    c.until(name, 0, replica_nodes=[1], isr_nodes={1})
    served(c, name, 1)
    write(1, 3)
    reassign(c, name, {0: [3]})
    c.until(name, 0, replica_nodes=[3], isr_nodes={3})
    served(c, name, 3)
    write(3, 2)
    write(3, 4)
    for epoch in range(4):
        epoch_end(c.at(3), name, epoch)
    fetch(c.at(1), name, c.topic_id(name))
    listed(c.at(1), name)
    listed(c.at(3), name)


@scenario
def the_only_replica_moves_off_a_broker_that_is_gone(c: Cluster) -> None:
    """Nothing can be copied: an unclean election takes the target, which has no records, and the
    move ends when the broker is back."""
    name = c.topic("t", [3])
    c.produce(name, b"lost", broker=3)
    c.crash(3)
    c.until(name, 0, leader_id=-1)
    reassign(c, name, {0: [2]})
    c.show(name)
    elect(c, name, 0, kind=UNCLEAN)
    c.show(name)
    running(c, name)
    c.s.until(lambda: c.partition(name)["leader_id"] == 2, "nobody came to lead")
    served(c, name, 2)
    c.show(name)
    running(c, name)
    listed(c.at(2), name)
    c.produce(name, b"new", broker=2)
    c.start(3)
    c.until(name, 0, replica_nodes=[2], isr_nodes={2})
    c.show(name)
    running(c, name)
    epoch_end(c.at(2), name, 0)


@scenario
def unclean_with_open_transactions(c: Cluster) -> None:
    """A leader that lacks a marker, or a transaction's records: what is open there, and what ends
    it."""
    name = c.topic("t", [3, 2])
    kept, lost = Transactor(c, "kept"), Transactor(c, "lost")
    for one in (kept, lost):
        one.name = c.name(one.name.partition("~")[0], 1)
        one.init(1)
        one.add(name, 1)
    written(c, kept, name, 3)
    c.committed_at(name, 2, 1)
    c.stop(2)
    c.until(name, 0, isr_nodes={3})
    written(c, lost, name, 3)
    kept.end(1)
    ends(c, kept, 1)
    stable(c, name, 3)
    c.crash(3, noticed=False)
    c.start(2)
    c.until(name, 0, leader_id=-1)
    elect(c, name, 0, kind=UNCLEAN)
    served(c, name, 2)
    stable(c, name, 2)
    known_producers(c, name, 2)
    for index in (0, 3):
        c.until(
            TRANSACTIONS, index, isr_nodes={1, 2}
        )  # those of broker 1, which could write nothing meanwhile
    lost.end(1)
    ends(c, lost, 1)
    stable(c, name, 2)
    c.start(3)
    c.until(name, 0, isr_nodes={2, 3})
    c.lead(name, 0, 3)
    served(c, name, 3)
    stable(c, name, 3)
    known_producers(c, name, 3)
    kept.add(name, 1)
    written(c, kept, name, 3, 1)
    kept.end(1, committed=False)
    ends(c, kept, 1, "CompleteAbort")
    stable(c, name, 3)


@scenario
def sessions_while_replicas_are_added(c: Cluster) -> None:
    """A session at a broker that gets a replica of a partition while it is asked for, and is made
    its leader."""
    name, other = c.topic("t", [1]), c.topic("other", [2])
    c.produce(name, b"a", broker=1)
    c.produce(other, b"a", broker=2)
    sessions = [Fetcher(c, 2, version) for version in (12, 17)]
    for one in sessions:
        one.fetch((name, 0), (other, 0))
        one.fetch()
    reassign(c, name, {0: [2, 1]})
    c.until(name, 0, replica_nodes=[2, 1], isr_nodes={1, 2})
    c.committed_at(name, 2, 1)
    for one in sessions:
        one.fetch()
        one.fetch((name, 1))
    c.lead(name, 0, 2)
    served(c, name, 2)
    c.produce(name, b"b", broker=2)
    for one in sessions:
        one.fetch()
        one.fetch()
    reassign(c, name, {0: [3]})
    c.until(name, 0, replica_nodes=[3], isr_nodes={3})
    for one in sessions:
        one.fetch()
        one.fetch(forget=name)


@scenario
def a_limit_that_comes_while_its_leader_is_gone(c: Cluster) -> None:
    """Configurations of a topic that were changed while its only broker was gone hold from its
    first request on."""
    name = c.topic("t", [3])
    c.produce(name, b"v" * 200, broker=3)
    c.crash(3)
    c.until(name, 0, leader_id=-1)
    for key, value in (("max.message.bytes", "100"), ("message.timestamp.type", "LogAppendTime")):
        alter(c, TOPIC, name, key, value)
    c.start(3)
    served(c, name, 3)
    described(c, TOPIC, name, "max.message.bytes", "100", broker=3)
    c.produce(name, b"v" * 200, broker=3)
    c.produce(name, b"v", broker=3)
    fetch(c.at(3), name, c.topic_id(name), offset=1)
