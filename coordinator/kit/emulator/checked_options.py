"""The options of one emulator after they were checked, as its parts need them. How single options are
read stands in `options` and, for those about security, in `security_options`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from coordinator.server.net.endpoints import Endpoint, ListenError, check_endpoints

from .options import EmulatorError, asks_for_security, read_endpoints, read_protocol

if TYPE_CHECKING:
    from coordinator.events.files import LogMode
    from coordinator.server.build import TopicOption
    from coordinator.server.limits import Limits
    from coordinator.server.settings.broker_configs import BrokerConfigs

    from .security_options import SecurityOptions


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where an emulator listens, and how clients get in."""

    listen: list[Endpoint]
    advertise: list[Endpoint]
    allow_remote: bool
    security: SecurityOptions | None
    """None: nobody logs in, and no listener speaks TLS."""


@dataclass(frozen=True, slots=True)
class Options:
    """What an emulator was given. Meanings: `Emulator`."""

    topics: list[TopicOption]
    broker_configs: list[BrokerConfigs]
    """One for each broker."""
    racks: list[str | None]
    seed: int
    node_id: int
    cluster_id: str | None
    limits: Limits
    addresses: Addresses
    log_path: str | PathLike[str] | None
    log_mode: LogMode
    remember: int
    kafka_log_path: str | PathLike[str] | None


def read_addresses(
    listen: str | Iterable[str],
    advertise: str | Iterable[str],
    security: str | None,
    configs: Sequence[BrokerConfigs],
    users: Mapping[str, str] | None,
    acls: Sequence[str | Mapping[str, Any]],
    super_users: Sequence[str],
    allow_remote: bool,
) -> Addresses:
    """Return the addresses of all brokers, and who gets in. `configs`: of each broker. Raises
    EmulatorError for what does not fit together."""
    name = read_protocol(security)
    listening = read_endpoints("listen", listen, name)
    advertised = read_endpoints("advertise", advertise, name)
    secured: SecurityOptions | None = None
    if asks_for_security(users, acls, super_users, listening, configs[0]):
        from .security_options import read_security  # a start without does not load it

        secured = read_security(users, listening, advertised, configs[0], acls, super_users)
    try:
        check_endpoints(
            listening,
            advertised,
            allow_remote=allow_remote,
            authenticating=secured.authenticating if secured else (),
        )
        if len(configs) > 1:
            from coordinator.server.net.cluster_server import check_ports

            check_ports(listening, len(configs))
    except ListenError as error:
        raise EmulatorError(str(error)) from None
    return Addresses(listening, advertised, allow_remote, secured)
