"""Measurement of one broker's clients against their quotas, and the resulting throttle times.

Owns the rates of bytes and of requests; the token buckets of topic changes belong to the
controller (`Controller.mutations`). Rules: QUO-1 to QUO-4. Each client has the most specific
quota that matches it, and shares its rate with all clients of the same quota entity. Every
request counts as a fixed share of a broker's time (`REQUEST_MS`), since real time here says
nothing of Kafka. A broker without quotas has no `Throttling`. Does not know connections or the
form of answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .cluster.client_quotas import CONSUME, MUTATIONS, PRODUCE, REQUEST_TIME
from .security.quotas import Rate, TokenBucket, Windows

if TYPE_CHECKING:
    from collections.abc import Hashable

    from .cluster.client_quotas import ClientQuotas, Limit
    from .requests.call import Call
    from .settings.broker_configs import BrokerConfigs

REQUEST_MS: Final = 0.125
"""The time of a small request in a broker 4.4.0's threads, as its throttle times tell."""
_PERCENT: Final = 100 / 1000
"""Of a second, for a millisecond."""
_MOST_KEPT: Final = 10_000
"""The number of clients that are remembered; beyond it, those without any usage left are
forgotten."""


class Throttling:
    """Quota accounting for one broker's clients."""

    def __init__(
        self, configs: BrokerConfigs, quotas: ClientQuotas, buckets: dict[Hashable, TokenBucket]
    ) -> None:
        self._quotas = quotas
        self._windows = Windows(
            configs.get_int("quota.window.num"),
            configs.get_int("quota.window.size.seconds") * 1000,
        )
        self._mutation_windows = Windows(
            configs.get_int("controller.quota.window.num"),
            configs.get_int("controller.quota.window.size.seconds") * 1000,
        )
        self._rates: dict[Hashable, Rate] = {}
        self._buckets = buckets
        self._limits: dict[tuple[str, str, str], Limit | None] = {}

    def changed(self) -> None:
        """Use the changed quotas from now on; rates measured so far are kept."""
        self._limits.clear()

    def produced(self, call: Call, size: int) -> int:
        """Record a Produce of `size` bytes; return the client's throttle time in ms."""
        return self._used(PRODUCE, call, size)

    def asked(self, call: Call) -> int:
        """Record a request; return the client's throttle time in ms, at most one window (QUO-2)."""
        waits = self._used(REQUEST_TIME, call, REQUEST_MS * _PERCENT)
        return min(waits, self._windows.window_ms)

    def fetched(self, call: Call, size: int) -> int:
        """Record a Fetch response of `size` bytes; return the client's throttle time in ms. If it
        is throttled, it gets no records and the bytes are not counted.
        """
        waits = self._used(CONSUME, call, size)
        longer = max(waits, self.asked(call))
        if longer:
            limit = self._limit(CONSUME, call)
            if limit is not None:
                self._rate(CONSUME, limit, call.now).record(-size, call.now)
        return longer

    def most_fetched(self, call: Call) -> int | None:
        """Return the most bytes that one Fetch may return without being throttled for ever, or None
        without a quota.
        """
        limit = self._limit(CONSUME, call)
        return None if limit is None else int(limit.rate * self._windows.full_ms / 1000)

    def mutations(self, call: Call, strict_since: int) -> Mutations | None:
        """Return the account of the client's topic changes in this request, or None if it has no
        quota.
        """
        limit = self._limit(MUTATIONS, call)
        if limit is None:
            return None
        bucket = self._buckets.get(limit[1:])
        if bucket is None:
            _forget_idle(self._buckets, call.now)
            bucket = self._buckets[limit[1:]] = TokenBucket(self._mutation_windows)
        return Mutations(bucket, limit.rate, call.version >= strict_since)

    def _used(self, key: str, call: Call, value: float) -> int:
        limit = self._limit(key, call)
        if limit is None:
            return 0
        rate = self._rate(key, limit, call.now)
        rate.record(value, call.now)
        return rate.throttle_ms(limit.rate, call.now)

    def _rate(self, key: str, limit: Limit, now: int) -> Rate:
        whose = (key, limit.user, limit.client_id)
        rate = self._rates.get(whose)
        if rate is None:
            _forget_idle(self._rates, now)
            rate = self._rates[whose] = Rate(self._windows)
        return rate

    def _limit(self, key: str, call: Call) -> Limit | None:
        if not call.principal:  # what the testing kit does is never limited
            return None
        client = (key, call.principal.partition(":")[2], call.client_id)
        try:
            return self._limits[client]
        except KeyError:
            if len(self._limits) >= _MOST_KEPT:
                self._limits.clear()
            found = self._limits[client] = self._quotas.limit(*client)
            return found


class Mutations:
    """Account of the topic changes that one request asks for."""

    def __init__(self, bucket: TokenBucket, limit: float, strict: bool) -> None:
        self._bucket = bucket
        self._limit = limit
        self._strict = strict
        self.throttle_ms = 0

    def allows(self, partitions: int, now: int) -> bool:
        """Return whether `partitions` may be created or deleted now, and charge them. If the quota
        is exceeded, a strict request is refused; one of an older version is carried out and
        throttled (QUO-4).
        """
        if self._strict:
            waits = self._bucket.throttle_ms(self._limit, now)
            if waits:
                self.throttle_ms = max(self.throttle_ms, waits)
                return False
        self._bucket.take(partitions, self._limit, now)
        if not self._strict:
            waits = self._bucket.throttle_ms(self._limit, now)
            self.throttle_ms = max(self.throttle_ms, waits)
        return True


def _forget_idle(kept: dict[Hashable, Rate] | dict[Hashable, TokenBucket], now: int) -> None:
    if len(kept) >= _MOST_KEPT:
        for whose in [whose for whose, each in kept.items() if each.is_over(now)]:
            del kept[whose]
