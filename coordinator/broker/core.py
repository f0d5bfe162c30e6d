"""The broker that handlers see: cluster, groups, configuration, log, and the requests that wait for an answer.

Owns which connection a token belongs to, held requests, and the order of late work: a request is handled to its end
before another one begins, so an answer that frees a connection's next request only queues it. Time, randomness and the
wall clock of zero are given by the driver. Refuses to know sockets, and the meaning of any request.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import deque
from enum import Enum
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from ..groups.requests import Request, RequestContext

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from ..cluster import Cluster
    from ..cluster.configs import BrokerConfigs
    from ..cluster.producers import ProducerIds
    from ..event_log import EventLog
    from ..group_coordinator import GroupCoordinator, Outcome
    from ..interceptors import Interceptor
    from ..wire.schema import Message
    from ..wire.schema import Request as RequestMessage
    from .fetch_sessions import FetchSessions
    from .parked_fetches import ParkedFetches
    from .transactions import Transactions


class Special(Enum):
    """What a handler may return instead of a response."""

    NO_RESPONSE = "no response"
    CLOSE = "close"


NO_RESPONSE: Final = Special.NO_RESPONSE
"""The request is done and its client waits for no answer (Produce with acks=0)."""
CLOSE: Final = Special.CLOSE
"""The connection is closed without an answer (Produce with acks=0 and an error)."""


class NoRequest(Exception):
    """Raised by a handler whose request is readable as bytes, but none to Kafka: its connection is closed. `str()` says why."""


class Encoded(NamedTuple):
    """A response body that is encoded already, in the version of its request, without header."""

    body: bytes


Result: TypeAlias = "Message | Encoded | Special | None"


class Call(NamedTuple):
    """A decoded request, as a handler gets it. `now`: milliseconds since the driver's zero."""

    message: RequestMessage
    version: int
    client_id: str  # "" when the header said null (ENT-8)
    client_host: str  # Java's form: "/127.0.0.1"
    token: int  # for Broker.answer, later
    now: int
    listener: str  # name of the listener it came through: whose advertised endpoints to show
    cause: int | None  # the log's seq of this request, for whatever it makes happen


class Waiting(Protocol):
    """A connection whose one request is parked (`coordinator.broker.connection` has the real one)."""

    def deliver(self, response: Message | Encoded) -> None:
        """Send the parked request's answer."""

    def resume(self, now: int) -> None:
        """Handle what came in meanwhile."""

    def release(self, now: int) -> None:
        """Handle the request that an interceptor held."""


class Broker:
    """One broker. Made by a driver; one thread only."""

    def __init__(
        self, *, node_id: int, cluster: Cluster, configs: BrokerConfigs, coordinator: GroupCoordinator, parked_fetches: ParkedFetches,
        random: Random, epoch_ms: int, log: EventLog | None = None,
    ) -> None:
        self.node_id = node_id
        self.cluster = cluster
        self.configs = configs
        self.coordinator = coordinator
        self.parked_fetches = parked_fetches
        self.random = random
        self.epoch_ms = epoch_ms
        self.log = log
        self.max_request_bytes: int = configs.get_int("socket.request.max.bytes")
        self.interceptors: list[Interceptor] = []
        self.parked: dict[int, Waiting] = {}
        self._configs_version = configs.version
        self._transactions: Transactions | None = None
        self._tokens = 0
        self._held: list[tuple[int, int]] = []
        self._resumable: deque[Waiting] = deque()

    # -- what handlers use -------------------------------------------------------------------------------------------

    def answer(self, token: int, response: Message | Encoded) -> None:
        """Answer a parked request. A token whose connection is gone is ignored: its client no longer waits."""
        waiting = self.parked.pop(token, None)
        if waiting is not None:
            waiting.deliver(response)
            self._resumable.append(waiting)

    def coordinate(self, call: Call, message: RequestMessage, fresh_id: str = "") -> Message | None:
        """Put a request before the group coordinator. Its own reply, or None if it is parked now; others are sent."""
        if self._configs_version != self.configs.version:
            self._configs_version = self.configs.version
            for name, value in self.configs.group_config().items():
                setattr(self.coordinator.config, name, value)
        context = RequestContext(call.version, call.client_id, call.client_host, fresh_id, call.token, call.cause)
        outcome = self.coordinator.handle(Request(context, message), call.now)
        return self._send(outcome, call.token)

    def partitions_deleted(self, partitions: Iterable[tuple[str, int]], call: Call) -> None:
        """Tell the groups that (topic, index) are gone, and their committed offsets with them (EXP-7)."""
        self._send(self.coordinator.on_partitions_deleted(partitions, call.now, call.cause), None)

    @cached_property
    def fetch_sessions(self) -> FetchSessions:
        """The fetch sessions of KIP-227, as many as max.incremental.fetch.session.cache.slots."""
        from .fetch_sessions import FetchSessions

        return FetchSessions(self.configs.get_int("max.incremental.fetch.session.cache.slots"))

    @cached_property
    def producer_ids(self) -> ProducerIds:
        """Where new producers get their ids."""
        from ..cluster.producers import ProducerIds

        return ProducerIds()

    @property
    def transactions(self) -> Transactions:
        """The transaction coordinator, made when it is first needed."""
        if self._transactions is None:
            from .transactions import Transactions

            self._transactions = Transactions(self)
        return self._transactions

    def end_transaction(self, producer_id: int, committed: bool, partition: int, now: int, cause: int | None) -> None:
        """Tell the groups of a partition of __consumer_offsets that a producer's transaction ended (TXN-5)."""
        self._send(self.coordinator.end_transaction(producer_id, committed, partition, now, cause), None)

    def fresh_uuid(self) -> bytes:
        """A random UUID (version 4), from the driver's randomness."""
        bits = self.random.getrandbits(128)
        return ((bits & ~(0xF << 76) & ~(0x3 << 62)) | 0x4 << 76 | 0x2 << 62).to_bytes(16, "big")

    def fresh_id(self) -> str:
        """`fresh_uuid` as text, the tail of a new member id."""
        text = self.fresh_uuid().hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def fresh_name(self) -> str:
        """A random UUID as Kafka writes its ids: 22 characters of URL-safe base64 that do not start with a dash."""
        while True:
            name = urlsafe_b64encode(self.fresh_uuid())[:22].decode()
            if not name.startswith("-"):
                return name

    # -- what connections use ----------------------------------------------------------------------------------------

    def next_token(self) -> int:
        """A token never given before."""
        self._tokens += 1
        return self._tokens

    def hold(self, token: int, until: int, waiting: Waiting) -> None:
        """Keep a request back until that instant."""
        self.parked[token] = waiting
        heappush(self._held, (until, token))

    def forget(self, token: int) -> None:
        """The connection of a parked request closed: nobody waits for its answer any more."""
        self.parked.pop(token, None)
        self.parked_fetches.forget(token)

    # -- what drivers use --------------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has something to do; None: only a request can make something happen."""
        deadline = self.coordinator.next_deadline()
        fetch = self.parked_fetches.next_deadline()
        if fetch is not None and (deadline is None or fetch < deadline):
            deadline = fetch
        if self._transactions is not None:
            transaction = self._transactions.next_deadline()
            if transaction is not None and (deadline is None or transaction < deadline):
                deadline = transaction
        if self._held and (deadline is None or self._held[0][0] < deadline):
            deadline = self._held[0][0]
        return deadline

    def tick(self, now: int) -> None:
        """Do what has fallen due: sessions and phases of groups, transactions, fetches that waited long enough, held requests."""
        if self.log is not None:
            self.log.now_ms = now
        self._send(self.coordinator.tick(now), None)
        if self._transactions is not None:
            self._transactions.tick(now)
        self.parked_fetches.tick(now)
        while self._held and self._held[0][0] <= now:
            waiting = self.parked.pop(heappop(self._held)[1], None)
            if waiting is not None:
                waiting.release(now)
        self.run_resumable(now)

    def run_resumable(self, now: int) -> None:
        """Let freed connections handle what waited behind their parked request. Drivers' entry points end with it."""
        while self._resumable:
            self._resumable.popleft().resume(now)
        if self.log is not None:
            self.log.flush()

    def shut_down(self, now: int) -> None:
        """Answer parked joins and syncs as a stopping broker does (ERR-6). Parked fetches get no answer, as in Kafka."""
        if self.log is not None:
            self.log.now_ms = now
        self._send(self.coordinator.shutdown(now), None)

    def _send(self, outcome: Outcome, own: int | None) -> Message | None:
        """Send an outcome's replies. The one for `own` is returned: its connection sends it in its turn."""
        mine = None
        for token, message in outcome.replies:
            assert isinstance(token, int)
            if token == own:
                mine = message
            else:
                self.answer(token, message)
        return mine
