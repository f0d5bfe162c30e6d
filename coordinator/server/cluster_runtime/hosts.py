"""Control actions on the hosts and links of a cluster: stop, start, pause, resume, cut, heal,
fence.

Owns the order of steps in which a broker stops and starts. A controlled shutdown moves
leaderships away first; a crash is noticed when the broker's session ends
(broker.session.timeout.ms); a restarted broker has a new broker epoch, keeps the metadata it
had, and serves once the controller has unfenced it. An action that is not possible raises
ClusterError and changes nothing. Does not depend on sockets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from coordinator.base.counting import how_many
from coordinator.base.errors import ErrorCode

from ..cluster import Partition
from ..cluster.controller.leaders import move_leader
from ..cluster.controller.reassignments import reassign
from ..cluster.network import HostState
from ..cluster.replication import Pace
from .cleaned import check_logs
from .clocks import jump_refusal
from .options import ClusterError
from .runtime import Brokers
from .slow_answers import Capacity, SlowAnswers
from .upgrades import become

if TYPE_CHECKING:
    from coordinator.base.releases import Release


class Hosts:
    """Control of the hosts of a cluster's brokers."""

    def __init__(self, cluster: Brokers) -> None:
        self.cluster = cluster
        self._clean: dict[
            int, bool
        ] = {}  # stopped brokers: whether they were shut down in good order
        self._opening: set[int] = set()
        self._slow: dict[int, tuple[int, SlowAnswers]] = {}  # how late each broker's answers are
        self._capacity: dict[int, int] = {}  # how many requests a second each handles, if limited
        cluster.unfenced = self._unfenced

    def state(self, broker: int) -> HostState:
        """Return the state of a broker process. Raises ClusterError for an unknown broker."""
        self._known(broker)
        return self.cluster.network.hosts[broker]

    def crashed(self, broker: int) -> bool:
        """Return True if a stopped broker's process ended without a controlled shutdown."""
        return not self._clean.get(broker, True)

    # -- logs

    def clean_logs(
        self, topic: str | None, partition: int | None, now: int, *, at_once: bool
    ) -> None:
        """Let the running brokers clean their logs, at once or at their next check."""
        running = [node for node in self.cluster.brokers if self.cluster.network.running(node)]
        if not running:
            raise ClusterError("no log is cleaned: no broker runs")
        for node in running:
            check_logs(self.cluster.brokers[node].cluster, topic, partition)
        for node in running:
            cleaning = self.cluster.brokers[node].services.cleaning
            clean = cleaning.clean if at_once else cleaning.check_soon
            clean(topic, partition, now)
        self.cluster.replication.run(now)

    # -- stopping and starting

    def shut_down(self, broker: int, now: int) -> None:
        """Shut a broker down in a controlled way: leaderships move first, parked requests are
        answered, then the process ends.
        """
        self._must_be(broker, HostState.RUNNING)
        cluster = self.cluster
        reached = cluster.controller.active and cluster.controller.in_contact(broker)
        cluster.controller.start_shutdown(broker, now)
        cluster.deliver(now)
        cluster.replication.run(now)
        cluster.brokers[broker].groups.shut_down(now, in_slices=True)
        if reached:
            cluster.controller.fence(broker, f"broker {broker} was shut down", now)
            cluster.deliver(now)
        self._clean[broker] = reached
        self._end(broker, now)
        if cluster.controller.leader == broker and cluster.controller.quorum.resign(
            cluster.network.reaches
        ):
            cluster.controller.leader_changed(now)
        cluster.look(now)

    def crash(self, broker: int, now: int) -> None:
        """End a broker's process at once, like SIGKILL; the controller learns it when the broker's
        session ends.
        """
        if self.state(broker) is HostState.STOPPED:
            raise ClusterError(
                f"broker {broker} is stopped already; running are {self._those(HostState.RUNNING)}"
            )
        self._clean[broker] = False
        self._end(broker, now)
        self.cluster.look(now)

    def start(self, broker: int, now: int, release: Release | None = None) -> None:
        """Start a stopped broker, as another release if one is given. Its listeners open when the
        controller has unfenced it.
        """
        self._must_be(broker, HostState.STOPPED)
        cluster = self.cluster
        if release is not None:
            become(
                broker, cluster.configs[broker], release, cluster.controller.cluster.highest_levels
            )
        cluster.network.hosts[broker] = HostState.RUNNING
        cluster.coordinators.restarts(broker, now)
        cluster.brokers[broker] = started = cluster.new_broker(broker)
        if broker in self._slow:
            late_ms = self._slow[broker][0]
            self._slow[broker] = (late_ms, SlowAnswers(started.interceptors, late_ms))
        if broker in self._capacity:
            Capacity(started.interceptors, self._capacity[broker])
        cluster.replication.restarted(
            broker, started.epoch_ms + now, started.configs.get_int("producer.id.expiration.ms")
        )
        started.services.logs_found(now)
        self._opening.add(broker)
        cluster.controller.register(
            broker,
            cluster.racks[broker],
            cluster.endpoints[broker],
            now,
            clean=self._clean.pop(broker),
            kafka_version=started.configs.release.number,
        )
        cluster.look(now)

    def pause(self, broker: int, now: int) -> None:
        """Freeze a broker's process, like SIGSTOP."""
        self._must_be(broker, HostState.RUNNING)
        self.cluster.network.hosts[broker] = HostState.PAUSED
        self.cluster.hosts_changed(broker, HostState.PAUSED)
        self.cluster.look(now)

    def resume(self, broker: int, now: int) -> None:
        """Continue a paused process."""
        self._must_be(broker, HostState.PAUSED)
        self.cluster.network.hosts[broker] = HostState.RUNNING
        self.cluster.look(now)
        self.cluster.hosts_changed(broker, HostState.RUNNING)
        self.cluster.brokers[broker].services.client_links.go_on(now)

    def _unfenced(self, broker: int) -> None:
        """Open the listeners of a starting broker, now that it has learned that it is unfenced."""
        if broker in self._opening:
            self._opening.discard(broker)
            self.cluster.hosts_changed(broker, HostState.RUNNING)

    def _end(self, broker: int, now: int) -> None:
        self.cluster.network.hosts[broker] = HostState.STOPPED
        self._opening.discard(broker)
        self.cluster.hosts_changed(
            broker, HostState.STOPPED
        )  # its connections are gone before anybody is answered
        self.cluster.coordinators.stopped(self.cluster.brokers[broker], now)

    # -- links

    def cut(self, one: int, other: int, now: int) -> None:
        """Cut the link between two brokers."""
        self._link(one, other, is_cut=False)
        self.cluster.network.cut(one, other)
        self.cluster.look(now)

    def heal(self, one: int, other: int, now: int) -> None:
        """Heal the link between two brokers."""
        self._link(one, other, is_cut=True)
        self.cluster.network.heal(one, other)
        self.cluster.look(now)

    def cut_client(self, client_id: str, broker: int) -> None:
        """Cut the link between a client and a broker."""
        self._client_link(client_id, broker, is_cut=False)
        self.cluster.network.cut_client(client_id, broker)
        self.cluster.brokers[broker].services.client_links.cut(client_id)

    def heal_client(self, client_id: str, broker: int, now: int) -> None:
        """Heal the link between a client and a broker."""
        self._client_link(client_id, broker, is_cut=True)
        self.cluster.network.heal_client(client_id, broker)
        links = self.cluster.brokers[broker].services.client_links
        links.heal(client_id)
        if self.cluster.network.running(broker):
            links.go_on(now)

    def slow_down(self, broker: int, pace: Pace | None, now: int) -> None:
        """Set the pace at which a broker replicates from its leaders; None: at once again."""
        self._known(broker)
        self.cluster.replication.set_pace(broker, pace)
        self.cluster.replication.run(now)

    def slow_answers(self, broker: int, late_ms: int) -> int:
        """Delay every answer of a broker by `late_ms`, also after a restart; return the previous
        delay.
        """
        self._known(broker)
        before, slow = self._slow.pop(broker, (0, None))
        if slow is not None:
            slow.end()
        if late_ms:
            interceptors = self.cluster.brokers[broker].interceptors
            self._slow[broker] = (late_ms, SlowAnswers(interceptors, late_ms))
        return before

    def limit_requests(self, broker: int, requests_per_second: int) -> None:
        """Limit the requests per second that a broker handles, also after a restart. Call it once
        only.
        """
        self._known(broker)
        self._capacity[broker] = requests_per_second
        Capacity(self.cluster.brokers[broker].interceptors, requests_per_second)

    def slow_load(self, broker: int, load_ms: int) -> int:
        """Set how long a broker's coordinators take to load; return the previous duration."""
        self._known(broker)
        before = self.cluster.coordinators.load_ms.get(broker, 0)
        self.cluster.coordinators.load_ms[broker] = load_ms
        return before

    def jump_clock(self, broker: int, by_ms: int, now: int) -> None:
        """Let the wall clock of a broker's host jump, whether its process runs or not. No timer
        depends on it.
        """
        self._known(broker)
        refusal = jump_refusal(
            by_ms, self.cluster.options.epoch_ms + self.cluster.clocks[broker] + now + by_ms
        )
        if refusal:
            raise ClusterError(refusal)
        self.cluster.set_clock(broker, self.cluster.clocks[broker] + by_ms)

    # -- the controller's doings

    def fence(self, broker: int, now: int) -> None:
        """Let the controller fence a broker until `unfence`."""
        self._must_be(broker, HostState.RUNNING)
        self._must_decide()
        if broker in self.cluster.controller.held:
            raise ClusterError(
                f"broker {broker} is fenced on purpose already; so are {_text(sorted(self.cluster.controller.held))}"
            )
        self.cluster.controller.fence(
            broker, f"broker {broker} was fenced on purpose", now, hold=True
        )
        self.cluster.look(now)

    def unfence(self, broker: int, now: int) -> None:
        """End the fencing of a broker by `fence`."""
        self._known(broker)
        if broker not in self.cluster.controller.held:
            those = _text(sorted(self.cluster.controller.held)) or "none"
            raise ClusterError(f"broker {broker} is not fenced on purpose; those that are: {those}")
        self.cluster.controller.release(broker, now)
        self.cluster.look(now)

    def move_leader(self, topic: str, index: int, broker: int, now: int) -> int:
        """Make an in-sync replica the leader of a partition; return the previous leader."""
        self._known(broker)
        self._must_decide()
        partition = self._partition(topic, index)
        before = partition.leader
        if not move_leader(self.cluster.controller, partition, broker, now):
            raise ClusterError(
                f"broker {broker} cannot lead {topic}-{index}: in sync are {_text(partition.isr)}; fenced brokers lead nothing"
            )
        self.cluster.look(now)
        return before

    def reassign(
        self, topic: str, index: int, replicas: Sequence[int] | None, now: int
    ) -> tuple[int, ...]:
        """Reassign a partition to other brokers, or cancel its reassignment (None). Return the
        replica list that undoes the action: the previous replicas, or for a cancellation the
        cancelled target.

        Giving the original replicas cancels a reassignment too. An empty list chooses: a broker
        without the partition replaces its leader, or, if all have it, the next replica becomes
        the preferred leader.
        """
        self._must_decide()
        partition = self._partition(topic, index)
        before = tuple(node for node in partition.replicas if node not in partition.adding)
        aim = tuple(node for node in partition.replicas if node not in partition.removing)
        if replicas is None:
            self._reassign(partition, None, now)
            return aim
        target = list(replicas) or self._elsewhere(before)
        if partition.reassigning and set(target) == set(before):
            self._reassign(
                partition, None, now
            )  # as a target they would be added and removed at once, for ever (REASN-4)
            before = aim
        if target != partition.replicas or partition.reassigning:
            self._reassign(partition, target, now)
        return before

    def _reassign(self, partition: Partition, target: list[int] | None, now: int) -> None:
        refused = reassign(self.cluster.controller, partition.topic, partition.index, target, now)
        if refused.error is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS:
            raise ClusterError(
                f"{partition.topic}-{partition.index} does not move: there is nothing to cancel"
            )
        if refused.error:
            where = f"cannot move to {_text(target)}" if target else "cannot stay where it was"
            raise ClusterError(f"{partition.topic}-{partition.index} {where}: {refused.message}")
        self.cluster.look(now)

    def _elsewhere(self, replicas: Sequence[int]) -> list[int]:
        free = [node for node in sorted(self.cluster.brokers) if node not in replicas]
        return [free[0], *replicas[1:]] if free else [*replicas[1:], replicas[0]]

    def _partition(self, topic: str, index: int) -> Partition:
        cluster = self.cluster.controller.cluster
        partition = cluster.partition(topic, index)
        if partition is None:
            there = (
                f"{topic} has {how_many(len(cluster.topics[topic].partitions), 'partition')}"
                if topic in cluster.topics
                else (f"topics are {', '.join(sorted(cluster.topics))}")
            )
            raise ClusterError(f"there is no partition {topic}-{index}: {there}")
        return partition

    # -- checks

    def _must_decide(self) -> None:
        if not self.cluster.controller.active:
            running = self._those(HostState.RUNNING)
            raise ClusterError(
                f"no controller can decide: a majority of the brokers must run, running are {running}"
            )

    def _known(self, broker: int) -> None:
        if broker not in self.cluster.brokers:
            raise ClusterError(
                f"there is no broker {broker}: the brokers are {_text(self.cluster.brokers)}"
            )

    def _must_be(self, broker: int, wanted: HostState) -> None:
        state = self.state(broker)
        if state is not wanted:
            raise ClusterError(
                f"broker {broker} is {state.value}, not {wanted.value}; {wanted.value} are {self._those(wanted)}"
            )

    def _link(self, one: int, other: int, *, is_cut: bool) -> None:
        self._known(one)
        self._known(other)
        if one == other:
            raise ClusterError(f"a link joins two brokers, {one} was given twice")
        if self.cluster.network.is_cut(one, other) != is_cut:
            raise ClusterError(
                f"the link between the brokers {one} and {other} is {'not ' if is_cut else ''}cut"
            )

    def _client_link(self, client_id: str, broker: int, *, is_cut: bool) -> None:
        self._known(broker)
        if not client_id:
            raise ClusterError("a client is known by its client id, which is not empty")
        cut = self.cluster.network.cut_clients(broker)
        if (client_id in cut) != is_cut:
            there = (
                f"cut off from it are {', '.join(cut)}" if cut else "no client is cut off from it"
            )
            raise ClusterError(
                f"the link between client {client_id!r} and broker {broker} is {'not ' if is_cut else ''}cut: {there}"
            )

    def _those(self, state: HostState) -> str:
        return (
            _text(node for node, its in self.cluster.network.hosts.items() if its is state)
            or "none"
        )


def _text(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers))
