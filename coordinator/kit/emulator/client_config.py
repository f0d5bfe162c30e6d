"""Settings with which a client library connects to a listener: plain values under the library's own
names, so that another process can use them too.

One entry of `LIBRARIES` for each library. This module must not need a running emulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coordinator.wire.sasl.plain import PLAIN

from .options import EmulatorError

if TYPE_CHECKING:
    from coordinator.server.security.listeners import SecurityProtocol

OAUTHBEARER: Final = "OAUTHBEARER"
DEFAULT_MECHANISM: Final = "SCRAM-SHA-512"


class Access(NamedTuple):
    """A user's access to a listener. `user` "": without a login."""

    servers: str
    protocol: SecurityProtocol
    mechanism: str
    user: str
    password: str
    ca_file: str | None
    certificate: str | None = None
    """Path of a file with the client's own certificate and key."""

    def __repr__(self) -> str:
        """Return a text without the password, because tracebacks show it."""
        return f"Access({self.servers}, {self.protocol}, {self.mechanism}, {self.user!r})"


def _dotted(access: Access) -> dict[str, Any]:
    """Return settings by librdkafka's names, which confluent-kafka uses in every language."""
    given: dict[str, Any] = {"bootstrap.servers": access.servers}
    if access.protocol != "PLAINTEXT":
        given["security.protocol"] = str(access.protocol)
    if access.protocol.has_sasl and access.mechanism == OAUTHBEARER:
        given |= {
            "sasl.mechanism": OAUTHBEARER,
            "enable.sasl.oauthbearer.unsecure.jwt": True,
            "sasl.oauthbearer.config": f"principal={access.user}",
        }
    elif access.protocol.has_sasl:
        given |= {
            "sasl.mechanism": access.mechanism,
            "sasl.username": access.user,
            "sasl.password": access.password,
        }
    if access.ca_file is not None:
        given["ssl.ca.location"] = access.ca_file
    if access.certificate is not None:
        given |= {
            "ssl.certificate.location": access.certificate,
            "ssl.key.location": access.certificate,
        }
    return given


def _java(access: Access) -> dict[str, Any]:
    given: dict[str, Any] = {"bootstrap.servers": access.servers}
    if access.protocol != "PLAINTEXT":
        given["security.protocol"] = str(access.protocol)
    if access.protocol.has_sasl and access.mechanism == OAUTHBEARER:
        module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
        given |= {
            "sasl.mechanism": OAUTHBEARER,
            "sasl.jaas.config": f"{module} required unsecuredLoginStringClaim_sub={_quoted(access.user)};",
        }
    elif access.protocol.has_sasl:
        package = "org.apache.kafka.common.security"
        module = (
            f"{package}.plain.PlainLoginModule"
            if access.mechanism == PLAIN
            else f"{package}.scram.ScramLoginModule"
        )
        given |= {
            "sasl.mechanism": access.mechanism,
            "sasl.jaas.config": f"{module} required username={_quoted(access.user)} password={_quoted(access.password)};",
        }
    if access.ca_file is not None:
        given |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": access.ca_file}
    if access.certificate is not None:
        given |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": access.certificate}
    return given


def _underscored(access: Access) -> dict[str, Any]:
    """Return settings by the names of kafka-python and aiokafka."""
    given: dict[str, Any] = {"bootstrap_servers": access.servers}
    if access.protocol != "PLAINTEXT":
        given["security_protocol"] = str(access.protocol)
    if access.protocol.has_sasl and access.mechanism == OAUTHBEARER:
        raise EmulatorError(
            "OAUTHBEARER of kafka-python and aiokafka needs a token provider, an object of your own: sasl_oauth_token_provider"
        )
    if access.protocol.has_sasl:
        given |= {
            "sasl_mechanism": access.mechanism,
            "sasl_plain_username": access.user,
            "sasl_plain_password": access.password,
        }
    if access.ca_file is not None:
        given["ssl_cafile"] = access.ca_file
    if access.certificate is not None:
        given |= {"ssl_certfile": access.certificate, "ssl_keyfile": access.certificate}
    return given


LIBRARIES: Final[Mapping[str, Callable[[Access], dict[str, Any]]]] = {
    "aiokafka": _underscored,
    "confluent-kafka": _dotted,
    "java": _java,
    "kafka-python": _underscored,
    "librdkafka": _dotted,
}
"""The function that writes each library's settings. aiokafka needs a context instead of
`ssl_cafile`: see `with_ssl_context`."""


FILES: Final = frozenset(
    {
        "ssl.ca.location",
        "ssl.certificate.location",
        "ssl.key.location",
        "ssl.keystore.location",
        "ssl.truststore.location",
        "ssl_cafile",
        "ssl_certfile",
        "ssl_keyfile",
    }
)
"""The settings whose value is a path."""


def config_for(library: str, access: Access) -> dict[str, Any]:
    """Return the settings of a client. Raises EmulatorError for an unknown library."""
    write = LIBRARIES.get(library)
    if write is None:
        raise EmulatorError(
            f"client_config({library!r}): settings are known for {', '.join(LIBRARIES)}"
        )
    return write(access)


def with_ssl_context(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of aiokafka with an `ssl_context` instead of `ssl_cafile`; other settings
    are unchanged."""
    given = dict(config)
    path = given.pop("ssl_cafile", None)
    if path is not None:
        import ssl

        context = given["ssl_context"] = ssl.create_default_context(cafile=path)
        certificate = given.pop("ssl_certfile", None)
        if certificate is not None:
            context.load_cert_chain(certificate, given.pop("ssl_keyfile", None))
    return given


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
