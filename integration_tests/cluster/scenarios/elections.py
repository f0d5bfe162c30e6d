"""Elections that lose records, and those of whom nobody is left."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.reassignments import PREFERRED, UNCLEAN, elect
from integration_tests.cluster.scenarios.refusals import epoch_end, fetch, listed
from integration_tests.cluster.stage import Cluster


def _left_behind(c: Cluster) -> str:
    """A topic of brokers 3 and 2 that has no leader: 2, which was away, has the first of three
    records, and 3 is gone."""
    name = c.topic("t", [3, 2])
    c.produce(name, b"first", broker=3)
    c.committed_at(name, 2, 1)
    c.stop(2)
    c.until(name, 0, isr_nodes={3})
    for value in (b"second", b"third"):
        c.produce(name, value, broker=3)
    c.crash(3, noticed=False)
    c.start(2)
    c.until(name, 0, leader_id=-1)
    c.show(name)
    return name


@scenario
def a_leader_that_was_not_in_sync(c: Cluster) -> None:
    """ElectLeaders, unclean: nobody else is left. Records are lost, epochs say from where on; who
    had more truncates."""
    name = _left_behind(c)
    elect(c, name, 0, kind=PREFERRED)
    elect(c, name, 0, kind=UNCLEAN)
    c.until(name, 0, leader_id=2)
    c.show(name)
    listed(c.at(2), name)
    c.produce(name, b"new", broker=2)
    for epoch in range(4):
        epoch_end(c.at(2), name, epoch)
    c.start(3)
    c.until(name, 0, isr_nodes={2, 3})
    c.show(name)
    c.committed_at(name, 3, 2)
    fetch(c.at(3), name, c.topic_id(name), offset=1)
    elect(c, name, 0, kind=UNCLEAN)
    elect(c, name, 0, kind=PREFERRED)
    c.until(name, 0, leader_id=3)
    listed(c.at(3), name)


@scenario
def the_only_replica_shuts_down(c: Cluster) -> None:
    """A controlled shutdown of a leader that nobody can follow: the partition has no leader, and
    its replica stays in sync."""
    name, narrow = c.topic("t", [3]), c.topic("narrow", [3, 2])
    c.produce(name, b"a", broker=3)
    c.stop(3)
    c.until(name, 0, leader_id=-1)
    c.show(name, narrow)
    c.at(1).ask("Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False)
    for kind in (PREFERRED, UNCLEAN):
        elect(c, name, 0, kind=kind)
        elect(c, narrow, 0, kind=kind)
    c.start(3)
    c.until(name, 0, leader_id=3)
    c.until(narrow, 0, isr_nodes={2, 3})
    c.show(name, narrow)
    listed(c.at(3), name)
