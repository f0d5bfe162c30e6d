"""Configuration of a broker: Kafka's names, the values given at start and changed at run time, and
the value in force.

Precedence, as in Kafka: dynamic value of this broker, dynamic default of all brokers, value
given at start, default. Values given at start are validated for a human (`ConfigError`); changes
by clients are validated in `cluster.config_changes` with Kafka's codes and texts. Does not know
what a setting does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, TypeVar

from coordinator.base.releases import NEWEST, RELEASES, Release

from .definitions import (
    ConfigDef,
    ConfigException,
    ConfigSource,
    ConfigValue,
    read_table,
    released,
    show,
)

__all__ = [
    "BROKER_SYNONYMS",
    "BrokerConfigs",
    "ConfigError",
    "ConfigInForce",
    "ConfigValue",
    "broker_defs",
]

# What the emulator acts on, with what follows. All others are stored and shown, and change nothing.
GROUP_TIMES = ("session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms")
"""Settings that time consumer groups and share groups."""
_TIMED_TYPES = ("consumer", "share")

HONOURED = frozenset(
    {
        "auto.create.topics.enable",
        "default.replication.factor",
        "delete.topic.enable",
        "fetch.max.bytes",
        "group.consumer.assignors",
        "group.consumer.max.size",
        "group.consumer.migration.policy",
        "group.coordinator.rebalance.protocols",
        *(
            f"group.{group_type}.{bound}{name}"
            for group_type in _TIMED_TYPES
            for bound in ("", "min.", "max.")
            for name in GROUP_TIMES
        ),
        "group.share.assignors",
        "group.share.max.size",
        "group.initial.rebalance.delay.ms",
        "group.max.session.timeout.ms",
        "group.max.size",
        "group.min.session.timeout.ms",
        "log.cleanup.policy",
        "log.message.timestamp.after.max.ms",
        "log.message.timestamp.before.max.ms",
        "log.message.timestamp.type",
        "log.segment.bytes",
        "max.incremental.fetch.session.cache.slots",
        "max.request.partition.size.limit",
        "message.max.bytes",
        "min.insync.replicas",
        "num.partitions",
        "offset.metadata.max.bytes",
        "offsets.retention.check.interval.ms",
        "offsets.retention.minutes",
        "offsets.topic.num.partitions",
        "producer.id.expiration.ms",
        "queued.max.request.bytes",
        "socket.request.max.bytes",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        "transaction.max.timeout.ms",
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        "transaction.state.log.num.partitions",
        "transaction.state.log.segment.bytes",
        "transactional.id.expiration.ms",
    }
)

HONOURED_IF_GIVEN = frozenset(
    {
        "connection.failed.authentication.delay.ms",
        "connections.max.idle.ms",
        "connections.max.reauth.ms",
        "controller.quota.window.num",
        "controller.quota.window.size.seconds",
        "delegation.token.expiry.check.interval.ms",
        "delegation.token.expiry.time.ms",
        "delegation.token.max.lifetime.ms",
        "delegation.token.secret.key",
        "errors.deadletterqueue.auto.create.topics.enable",
        "errors.deadletterqueue.topic.name.prefix",
        *(
            f"group.share.{bound}{name}"
            for bound in ("", "min.", "max.")
            for name in ("delivery.count.limit", "record.lock.duration.ms")
        ),
        "group.share.partition.max.record.locks",
        "group.share.min.partition.max.record.locks",
        "group.share.max.partition.max.record.locks",
        "group.share.max.share.sessions",
        "log.cleaner.backoff.ms",
        "log.cleaner.delete.retention.ms",
        "log.cleaner.max.compaction.lag.ms",
        "log.cleaner.min.cleanable.ratio",
        "log.cleaner.min.compaction.lag.ms",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.type",
        "compression.zstd.level",
        "log.index.interval.bytes",
        "log.index.size.max.bytes",
        "log.initial.task.delay.ms",
        "log.retention.bytes",
        "log.retention.check.interval.ms",
        "log.retention.hours",
        "log.retention.minutes",
        "log.retention.ms",
        "log.roll.hours",
        "log.roll.jitter.hours",
        "log.roll.jitter.ms",
        "log.roll.ms",
        "log.segment.delete.delay.ms",
        "max.decompressed.message.bytes",
        "quota.window.num",
        "quota.window.size.seconds",
        "sasl.server.max.receive.size",
        "share.coordinator.snapshot.update.records.per.snapshot",
        "share.coordinator.state.topic.min.isr",
        "share.coordinator.state.topic.num.partitions",
        "share.coordinator.state.topic.replication.factor",
        "share.coordinator.state.topic.segment.bytes",
        "share.coordinator.write.timeout.ms",
    }
)
"""Settings acted on, too, and not worth printing unless given."""

# What a cluster of several brokers acts on, too.
HONOURED_BY_SEVERAL = frozenset(
    {
        "auto.leader.rebalance.enable",
        "broker.session.timeout.ms",
        "controller.quorum.fetch.timeout.ms",
        "leader.imbalance.check.interval.seconds",
        "offsets.commit.timeout.ms",
        "offsets.topic.replication.factor",
        "replica.lag.time.max.ms",
        "replica.selector.class",
        "request.timeout.ms",
        "transaction.state.log.min.isr",
        "transaction.state.log.replication.factor",
        "unclean.leader.election.enable",
    }
)

OF_SECURITY = ("super.users", "allow.everyone.if.no.acl.found")
OF_LISTENERS = "listener.name."
# Settings of the authorizer, which Kafka shows without their values, and of single listeners, which it
# shows as those of all listeners.

# Settings of the group coordinator that have nothing to act on here: writes take no time.
IDLE = frozenset({"group.coordinator.append.linger.ms", "offsets.commit.timeout.ms"})

# The server decides these from its own options (and tells them with `publish`).
DECIDED_ELSEWHERE = frozenset(
    {
        "advertised.listeners",
        "broker.id",
        "controller.listener.names",
        "listeners",
        "node.id",
        "process.roles",
    }
)

# Several names for one thing, the strongest first.
BROKER_SYNONYMS = {
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    "log.retention.hours": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    "log.retention.minutes": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    "log.retention.ms": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    "log.roll.hours": ("log.roll.ms", "log.roll.hours"),
    "log.roll.jitter.hours": ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    "log.roll.jitter.ms": ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    "log.roll.ms": ("log.roll.ms", "log.roll.hours"),
}

_ELIGIBLE_REPLICAS = "eligible.leader.replicas.version"
_MINUTE_MS = 60_000
_LONGEST = (1 << 63) - 1
V = TypeVar("V")


@cache
def broker_defs(release: Release = NEWEST) -> dict[str, ConfigDef]:
    """Return all broker configurations of a release by name; the table is parsed at the first call."""
    from .broker_table import TABLE

    return released(read_table(TABLE), release.broker_settings) | read_table(
        release.broker_settings.more
    )


@cache
def internal_defs(release: Release = NEWEST) -> dict[str, ConfigDef]:
    """Return the broker configurations that Kafka accepts but does not show."""
    from .broker_table import INTERNAL_TABLE

    return released(read_table(INTERNAL_TABLE), release.broker_settings)


@cache
def run_time_defs(release: Release = NEWEST) -> dict[str, ConfigDef]:
    """Return the broker configurations that exist at run time: those Kafka always shows, those it
    shows only where they are given, and those without a value at start.
    """
    from .broker_table import RATES_TABLE

    return broker_defs(release) | internal_defs(release) | read_table(RATES_TABLE)


def known_settings(settings: Mapping[str, V], release: Release) -> dict[str, V]:
    """Return the settings that a release knows, dropping the others silently: for settings that the
    emulator wants, not those a user gave.
    """
    defs = broker_defs(release) | internal_defs(release)
    return {name: value for name, value in settings.items() if name in defs}


REASSIGNMENT_CONTROLLER = "reassignment.controller"
"""No configuration of Kafka: which controller's way of moving partitions is shown. Brokers do not
tell of it."""


VOLUME_TOTAL, VOLUME_USABLE = "log.dir.volume.total.bytes", "log.dir.volume.usable.bytes"
"""No configurations of Kafka: what DescribeLogDirs tells of the volume. Brokers do not tell of them."""
_GIB = 1 << 30


class ConfigError(ValueError):
    """Error for a wrong configuration at start; the message says what, where, and what would be
    right.
    """


class ConfigInForce(NamedTuple):
    """One configuration in force. `honoured`: the emulator acts on it; otherwise it is only shown."""

    name: str
    value: str | None
    source: ConfigSource
    honoured: bool


class BrokerConfigs:
    """Configuration of one broker. Owners of derived values follow changes with `on_change` or
    `keep_current`.
    """

    def __init__(
        self,
        values: Mapping[str, str] | None = None,
        *,
        kafka_defaults: bool = False,
        node_id: int = 1,
        release: Release = NEWEST,
        features: Mapping[str, int] | None = None,
    ) -> None:
        """`values`: Kafka's names and texts. `kafka_defaults`: keep
        group.initial.rebalance.delay.ms at Kafka's 3000, not 0. `release`: the release whose
        configurations exist. `features`: feature levels with which the cluster is formatted, if
        not the release's. Raises ConfigError.
        """
        self.release = release
        self.formatted: dict[str, int] = _levels(release, features or {})
        """Levels of the features with which the cluster is formatted."""
        self.static: dict[str, str] = {
            "broker.id": str(node_id),
            "controller.listener.names": "CONTROLLER",
            "node.id": str(node_id),
            "process.roles": "broker,controller",
        }
        self.security: dict[str, str] = {}
        """Settings of the authorizer and of single listeners; passwords may be in them."""
        self.one_of_several = False
        self.reassignment_controller = "kraft"
        self.volume: dict[str, int] = {VOLUME_TOTAL: 100 * _GIB, VOLUME_USABLE: 50 * _GIB}
        """The size of the volume of the log directory, and what is free of it, in bytes."""
        self.dynamic: dict[str, str] = {}
        # A cluster formatted by Kafka has eligible leader replicas, and with them this setting for
        # all brokers.
        self.dynamic_default: dict[str, str] = (
            {"min.insync.replicas": "1"} if self.formatted.get(_ELIGIBLE_REPLICAS) else {}
        )
        self._on_change: list[Callable[[], None]] = []
        self._values: dict[str, ConfigValue] = {}
        if not kafka_defaults:
            self.static["group.initial.rebalance.delay.ms"] = "0"
        for name, text in (values or {}).items():
            self.set(name, text)
        self._check_together()

    @classmethod
    def from_options(
        cls,
        options: Iterable[str],
        *,
        kafka_defaults: bool = False,
        node_id: int = 1,
        release: Release = NEWEST,
        features: Mapping[str, int] | None = None,
    ) -> BrokerConfigs:
        """Return a configuration from texts `name=value`, as on a command line; of repeated names
        the last wins. Raises ConfigError.
        """
        values: dict[str, str] = {}
        for option in options:
            name, equals, text = option.partition("=")
            if not equals or not name.strip():
                raise ConfigError(
                    f"{option!r} is no configuration: write name=value, such as num.partitions=3"
                )
            values[name.strip()] = text.strip()
        return cls(
            values,
            kafka_defaults=kafka_defaults,
            node_id=node_id,
            release=release,
            features=features,
        )

    def for_broker(
        self,
        node_id: int,
        values: Mapping[str, str] | None = None,
        release: Release | None = None,
    ) -> BrokerConfigs:
        """Return a copy for another broker, possibly of another release, with its own values on
        top. Raises ConfigError.
        """
        other = BrokerConfigs(kafka_defaults=True, node_id=node_id, release=self.release)
        other.formatted = dict(self.formatted)
        other.dynamic_default = dict(self.dynamic_default)
        other.one_of_several = True
        other.reassignment_controller = self.reassignment_controller
        other.volume = dict(self.volume)
        other.security = dict(self.security)
        other.static = {**self.static, "broker.id": str(node_id), "node.id": str(node_id)}
        if release is not None:
            other.become(release)
        for name, text in (values or {}).items():
            other.set(name, text)
        other._check_together()
        return other

    def set(self, name: str, text: str) -> None:
        """Set a value given at start. Raises ConfigError for an unknown name or an invalid value."""
        if name == REASSIGNMENT_CONTROLLER:
            if text not in ("kraft", "zookeeper"):
                raise ConfigError(
                    f"{name}={text}: give kraft, as Kafka {self.release} does it, or zookeeper, as the older controller did"
                )
            self.reassignment_controller = text
            return
        if name in self.volume:
            if not (text.isascii() and text.isdigit()) or int(text) > _LONGEST:
                raise ConfigError(f"{name}={text}: give a number of bytes, such as {100 * _GIB}")
            self.volume[name] = int(text)
            return
        if name in OF_SECURITY or name.startswith(OF_LISTENERS):
            self.security[name] = text
            return
        if name in DECIDED_ELSEWHERE:
            raise ConfigError(
                f"{name} follows from the server's own options and cannot be given as a configuration"
            )
        _check(name, text, self.release)
        self.static[name] = text
        self._changed()

    def become(self, release: Release) -> None:
        """Switch to another release, keeping all values. Raises ConfigError for a setting that the
        release does not have; then nothing has changed.
        """
        before = self.release
        for name, text in self.static.items():
            _check(name, text, release)
        self.release = release
        self._values.clear()
        try:
            self._check_together()
        except ConfigError:
            self.release = before
            raise
        finally:
            self._changed()

    def publish(self, name: str, text: str) -> None:
        """Show a value that the server chose itself, such as `listeners`."""
        assert name in broker_defs(self.release), name
        self.static[name] = text
        self._changed()

    def get(self, name: str) -> ConfigValue:
        """Return the typed value in force. Raises KeyError for an unknown name."""
        if name not in self._values:
            self._values[name] = self.definition(name).parse(self.text(name)[0])
        return self._values[name]

    def get_int(self, name: str) -> int:
        """Return `get` of an integer configuration."""
        value = self.get(name)
        assert isinstance(value, int) and not isinstance(value, bool), name
        return value

    def get_bool(self, name: str) -> bool:
        """Return `get` of a boolean configuration."""
        value = self.get(name)
        assert isinstance(value, bool), name
        return value

    def get_str(self, name: str) -> str:
        """Return `get` of a string configuration."""
        value = self.get(name)
        assert isinstance(value, str), name
        return value

    def get_list(self, name: str) -> list[str]:
        """Return `get` of a list configuration."""
        value = self.get(name)
        assert isinstance(value, list), name
        return value

    def text(self, name: str) -> tuple[str | None, ConfigSource]:
        """Return the text in force and its source."""
        for values, source in self.layers():
            if name in values:
                return values[name], source
        return self.definition(name).default, ConfigSource.DEFAULT

    def definition(self, name: str) -> ConfigDef:
        """Return a name's definition in the release, or in the newest if only that has it. Raises
        KeyError for an unknown name.
        """
        defs = run_time_defs(self.release)
        if name in defs:
            return defs[name]
        newest = run_time_defs()[name]
        return newest._replace(
            default=self.release.broker_settings.in_place.get(name, newest.default)
        )

    def knows(self, name: str) -> bool:
        """Return True if the release has a configuration of that name."""
        return name in run_time_defs(self.release)

    def layers(self) -> tuple[tuple[dict[str, str], ConfigSource], ...]:
        """Return the given values by source, the strongest first, without defaults."""
        return (
            (self.dynamic, ConfigSource.DYNAMIC_BROKER),
            (self.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER),
            (self.static, ConfigSource.STATIC_BROKER),
        )

    def replace_dynamic(self, values: Mapping[str, str], *, for_all_brokers: bool) -> None:
        """Replace all dynamic values of this broker, or the dynamic defaults of all brokers. The
        values were validated before.
        """
        if for_all_brokers:
            self.dynamic_default = dict(values)
        else:
            self.dynamic = dict(values)
        self._changed()

    def on_change(self, changed: Callable[[], None]) -> None:
        """Call `changed` after every later change, before the request that makes it is answered."""
        self._on_change.append(changed)

    def keep_current(self, settings: object, read: Callable[[], Mapping[str, int]]) -> None:
        """Set the attributes of `settings` that `read` returns (`group_config`,
        `transaction_config`), now and after every change.
        """

        def put_in_force() -> None:
            for name, value in read().items():
                setattr(settings, name, value)

        put_in_force()
        self.on_change(put_in_force)

    def in_force(self) -> list[ConfigInForce]:
        """Return the settings worth printing at start, by name: those that are honoured, the others
        of the group coordinator, and those given. Values that the server chooses itself are left
        out.
        """
        defs = broker_defs(self.release)
        given = {name for values, _ in self.layers() for name in values if name in defs}
        lines = []
        honoured = HONOURED | HONOURED_BY_SEVERAL if self.one_of_several else HONOURED
        for name in sorted((honoured | IDLE | given) & defs.keys() - DECIDED_ELSEWHERE):
            shown = "[hidden]" if defs[name].sensitive else show(self.get(name))
            acted_on = name in honoured or name in HONOURED_IF_GIVEN
            lines.append(ConfigInForce(name, shown, self.text(name)[1], acted_on))
        return lines

    def group_config(self) -> dict[str, int]:
        """Return the group coordinator's settings by the field names of `GroupConfig` (CFG-1)."""
        return {
            "min_session_timeout_ms": self.get_int("group.min.session.timeout.ms"),
            "max_session_timeout_ms": self.get_int("group.max.session.timeout.ms"),
            "initial_rebalance_delay_ms": self.get_int("group.initial.rebalance.delay.ms"),
            "max_size": self.get_int("group.max.size"),
            "offset_metadata_max_bytes": self.get_int("offset.metadata.max.bytes"),
            "offsets_retention_ms": self.get_int("offsets.retention.minutes") * _MINUTE_MS,
            "offsets_retention_check_interval_ms": self.get_int(
                "offsets.retention.check.interval.ms"
            ),
            "offsets_topic_partitions": self.get_int("offsets.topic.num.partitions"),
        }

    def transaction_config(self) -> dict[str, int]:
        """Return the transaction coordinator's settings by the field names of `TransactionConfig`."""
        return {
            "max_timeout_ms": self.get_int("transaction.max.timeout.ms"),
            "id_expiration_ms": self.get_int("transactional.id.expiration.ms"),
            "abort_interval_ms": self.get_int(
                "transaction.abort.timed.out.transaction.cleanup.interval.ms"
            ),
            "expiration_interval_ms": self.get_int(
                "transaction.remove.expired.transaction.cleanup.interval.ms"
            ),
        }

    def _changed(self) -> None:
        self._values.clear()
        for changed in self._on_change:
            changed()

    def _check_together(self) -> None:
        """Make Kafka's checks across names, as far as they concern honoured settings."""
        low, high = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
        if self.get_int(low) > self.get_int(high):
            raise ConfigError(
                f"{low}={self.get_int(low)} must not be above {high}={self.get_int(high)}"
            )
        if self.get_int("group.initial.rebalance.delay.ms") < 0:
            raise ConfigError("group.initial.rebalance.delay.ms must be 0 or more")
        if "classic" not in self.get_list("group.coordinator.rebalance.protocols"):
            raise ConfigError("group.coordinator.rebalance.protocols must contain classic")
        for group_type in _TIMED_TYPES:
            self._check_times(f"group.{group_type}")

    def _check_times(self, of_type: str) -> None:
        """Check that each time of consumer and share groups lies within its bounds, and that the
        heartbeat interval is shorter than the session timeout (K8-CFG-1).
        """
        for name in GROUP_TIMES:
            low, value, high = (f"{of_type}.{bound}{name}" for bound in ("min.", "", "max."))
            for less, more in ((low, high), (low, value), (value, high)):
                if self.get_int(less) > self.get_int(more):
                    raise ConfigError(
                        f"{less}={self.get_int(less)} must not be above {more}={self.get_int(more)}"
                    )
        session, heartbeat = f"{of_type}.session.timeout.ms", f"{of_type}.heartbeat.interval.ms"
        if self.get_int(heartbeat) >= self.get_int(session):
            raise ConfigError(
                f"{heartbeat}={self.get_int(heartbeat)} must be less than {session}={self.get_int(session)}"
            )


def _levels(release: Release, given: Mapping[str, int]) -> dict[str, int]:
    """Return the feature levels of a cluster that a release formats, as kafka-storage format
    --feature sets them; features at level 0 are left out. Raises ConfigError.
    """
    for name, level in given.items():
        of = release.features.get(name)
        if of is None:
            there_are = ", ".join(release.features)
            raise ConfigError(
                f"{name} is no feature of Kafka {release}; those that it has: {there_are}"
            )
        if not of.lowest <= level <= of.highest:
            raise ConfigError(
                f"{name}={level}: Kafka {release} has the levels {of.lowest} to {of.highest}"
            )
    levels = {name: of.finalized for name, of in sorted(release.features.items())} | dict(given)
    return {name: level for name, level in levels.items() if level}


def feature_options(options: Iterable[str]) -> dict[str, int]:
    """Parse texts `name=level`, as on a command line. Raises ConfigError."""
    levels = {}
    for option in options:
        name, _, level = option.partition("=")
        if not level.strip().isdecimal():
            raise ConfigError(
                f"{option!r} is no level of a feature: write name=level, such as share.version=0"
            )
        levels[name.strip()] = int(level)
    return levels


def _check(name: str, text: str, release: Release) -> None:
    """Raise ConfigError if a release does not know the name or refuses the value."""
    defs = broker_defs(release)
    known = defs.get(name) or internal_defs(release).get(name)
    if known is None:
        raise ConfigError(
            f"{name} is no broker configuration of Kafka {release}"
            f"{_other_release(name) or _belongs_elsewhere(name) or _near(name, defs)}"
        )
    try:
        known.parse(text)
    except ConfigException as refused:
        raise ConfigError(f"{name}={text}: {refused}") from None


def _belongs_elsewhere(name: str) -> str:
    """Return the remark on a name that is a client's configuration, or ""."""
    from .client_names import CLIENT_CONFIGS

    if name not in CLIENT_CONFIGS:
        return ""
    bounds = "; a broker bounds it by group.min.session.timeout.ms and group.max.session.timeout.ms"
    return f": it is a client's, to be given to the consumer or producer{bounds if name == 'session.timeout.ms' else ''}"


def _other_release(name: str) -> str:
    """Return the remark naming the newest release that has the name, or "" if none has."""
    for release in RELEASES.values():
        if name in broker_defs(release) or name in internal_defs(release):
            return f": Kafka {release} has it"
    return ""


def _near(name: str, defs: Mapping[str, ConfigDef]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, defs, n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
