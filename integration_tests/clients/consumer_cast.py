"""The stage for members of the consumer protocol (KIP-848), and for groups that have members of
both protocols.

As `stage`, but that the group may be of either type, that members may be asked to speak either
protocol, and that the coordinator's heartbeat interval is the group's own, so that a story does not
wait five seconds for each step.
"""

from __future__ import annotations

from typing import Any, Final

from integration_tests.clients.agents_running import Agents
from integration_tests.clients.member import Member
from integration_tests.clients.stage import DEFAULTS, Cast
from integration_tests.clients.variants import Variant
from integration_tests.wire.raw import Plain

CONSUMER_VARIANTS: Final = {
    variant.name: variant
    for variant in (
        Variant("java-uniform", "java", "uniform"),
        Variant("java-range", "java", "range"),
        Variant("confluent-uniform", "confluent", "uniform"),
    )
}
"""Libraries that speak the protocol, with an assignor of the coordinator each."""

_NOT_FOR_CONSUMERS: Final = ("session.timeout.ms", "heartbeat.interval.ms")
_HEARTBEAT_MS: Final = "250"
_GROUP_RESOURCE: Final = 32
_GROUP_ID_NOT_FOUND: Final = 69


class ConsumerCast(Cast):
    """Members of one library, of either protocol."""

    def __init__(self, variant: Variant, address: str, agents: Agents) -> None:
        super().__init__(variant, address, agents)
        interval = {
            "name": "consumer.heartbeat.interval.ms",
            "config_operation": 0,
            "value": _HEARTBEAT_MS,
        }
        resources = [
            {"resource_type": _GROUP_RESOURCE, "resource_name": self.group, "configs": [interval]}
        ]
        self._session.stage().ask_quietly(
            "IncrementalAlterConfigs", 1, resources=resources, validate_only=False
        )

    def member(
        self, name: str, *, own_process: bool = False, protocol: str = "consumer", **config: Any
    ) -> Member:
        """A consumer of this protocol that does nothing yet; a classic one has the classic range
        assignor."""
        library = self.variant.library
        member = Member(
            self,
            name,
            self._agents.own(library) if own_process else self._agents.shared(library),
            own_process,
        )
        self.members.append(member)
        given = {key.replace("_", "."): value for key, value in config.items()}
        settings = {
            **DEFAULTS,
            "bootstrap.servers": self._address,
            "group.id": self.group,
            "client.id": name.lower(),
        }
        settings["group.protocol"] = protocol
        if protocol == "consumer":
            settings = {
                key: value for key, value in settings.items() if key not in _NOT_FOR_CONSUMERS
            }
            settings["group.remote.assignor"] = self.variant.assignor
        else:
            settings["partition.assignment.strategy"] = "range"
        member.create({**settings, **given})
        return member

    def described(self) -> Plain:
        """The group, of whichever type it is, as the broker describes it."""
        answer = self._session.stage().ask_quietly(
            "ConsumerGroupDescribe", 1, group_ids=[self.group], include_authorized_operations=False
        )
        group = dict(answer["groups"][0])
        return super().described() if group["error_code"] == _GROUP_ID_NOT_FOUND else group
