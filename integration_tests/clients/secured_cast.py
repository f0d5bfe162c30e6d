"""The stage for members that log in over TLS, with rights of their own.

As `stage`, on brokers of the profile `security`: topics, users and rights are made through the
listener in the clear, as a super user, and members come to the one with SASL over TLS, with the
settings that `client_config` gives for their library.
"""

from __future__ import annotations

from typing import Any, Final

from coordinator.kit.emulator.client_config import DEFAULT_MECHANISM, Access, config_for
from coordinator.server.security.listeners import SecurityProtocol
from integration_tests.clients.agents_running import Agents
from integration_tests.clients.member import Member
from integration_tests.clients.stage import Cast
from integration_tests.clients.variants import VARIANTS, Variant
from integration_tests.wire import secured
from integration_tests.wire.sasl import (
    ITERATIONS,
    PASSWORD,
    TLS,
    TYPES,
    count,
    found,
    grant,
    new_password,
    new_user,
    rule,
)

SECURED_VARIANTS: Final = {
    name: VARIANTS[name] for name in ("kafka-python", "aiokafka", "confluent", "java")
}
"""Each library once."""
_LIBRARIES: Final = {"confluent": "confluent-kafka"}
NEW_PASSWORD: Final = "another secret"


class SecuredCast(Cast):
    """Members of one library that log in; `user` is who they are, with all rights to topics and
    none to the group."""

    def __init__(self, variant: Variant, address: str, agents: Agents) -> None:
        super().__init__(variant, address, agents)
        self._address = self._session.addresses[0]
        self.user = new_user(self._session, "alice")
        grant(self._session, self.user, "All topic *")

    def give_group(self) -> None:
        """Let the user read its group."""
        stage, right = self._session.stage(), rule(self.user, f"Read group {self.group}")
        stage.ask_quietly("CreateAcls", 3, creations=[right])
        self._session.until(lambda: count(stage, self.user) == 2, "no right to the group")

    def take_group(self) -> None:
        """Let it read its group no more."""
        stage, right = self._session.stage(), found(self.user, resource_type_filter=TYPES["group"])
        stage.ask_quietly("DeleteAcls", 3, filters=[right])
        self._session.until(lambda: count(stage, self.user) == 1, "a right that stays")

    def change_password(self) -> None:
        """Give the user NEW_PASSWORD."""
        new_password(self._session, self.user, NEW_PASSWORD, ITERATIONS + 1)

    def member(
        self, name: str, *, own_process: bool = False, password: str = PASSWORD, **config: Any
    ) -> Member:
        """A consumer that logs in, with this password."""
        library = _LIBRARIES.get(self.variant.library, self.variant.library)
        access = Access(
            self._session.addresses[TLS - 1],
            SecurityProtocol("SASL_SSL"),
            DEFAULT_MECHANISM,
            self.user,
            password,
            secured.certificates().ca_file,
        )
        given = {key.replace("_", "."): value for key, value in config_for(library, access).items()}
        return super().member(name, own_process=own_process, **given, **config)
