"""Operations on security: settings for clients, rights, passwords and certificates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...emulator.client_config import FILES
from ..json_values import DONE, NUMBER, TEXT, list_of, object_of
from ..operation import operation
from ..options import RATES
from ..port import Port
from ..shapes import told


@dataclass(frozen=True, slots=True)
class Reached:
    """Selects the client library, user and listener to make settings for."""

    library: str = told("kafka-python, aiokafka, confluent-kafka, librdkafka or java")
    user: str | None = told("user to log in as; omit it for a listener without login", None)
    mechanism: str | None = told("SCRAM-SHA-512 unless said", None)
    listener: str | None = told("listener name (default: the first secured one)", None)


@operation(
    "GET",
    "/client-config",
    summary=(
        "Return the settings with which a client connects, under the names of its library. Files "
        "that they name are on the emulator's machine; `files` contains their contents."
    ),
    body=Reached,
    answer=object_of(settings={"type": "object"}, files={"type": "object"}),
    command="client-config",
    tell=lambda told: "\n".join(f"{name}={value}" for name, value in told["settings"].items()),
)
def client_config(port: Port, body: Reached) -> Any:
    settings = port.kafka.client_config(
        body.library, user=body.user, mechanism=body.mechanism, listener=body.listener
    )
    paths = {str(value) for name, value in settings.items() if name in FILES}
    return {"settings": settings, "files": {path: Path(path).read_text() for path in paths}}


@operation(
    "GET",
    "/ca",
    summary=(
        "Return the CA certificate that clients must trust, in PEM, and its path on the "
        "emulator's machine. /ca.pem returns the certificate alone."
    ),
    answer=object_of(file=TEXT, pem=TEXT),
    command="ca",
    tell="pem",
)
def ca(port: Port, body: Any) -> Any:
    path = port.kafka.ca_file
    return {"file": path, "pem": Path(path).read_text()}


_ACLS = object_of(acls=list_of(TEXT))


def _lines(answer: Any) -> str:
    return "\n".join(answer["acls"])


@dataclass(frozen=True, slots=True)
class Rights:
    """ACLs."""

    acls: list[Any] = told('ACLs, such as ["User:billing may Read topic orders"]')


@dataclass(frozen=True, slots=True)
class Password:
    """A user's new password."""

    password: str = told("the new one")


@dataclass(frozen=True, slots=True)
class Denied:
    """Logins to be refused."""

    user: str | None = told("user (default: any)", None)
    times: int = told("number of times; 0 ends it", 1)


@operation(
    "GET", "/acls", summary="List the ACLs in force, as sentences.", answer=_ACLS, tell=_lines
)
def acl_list(port: Port, body: Any) -> Any:
    return {"acls": port.kafka.acls()}


@operation(
    "POST",
    "/acls/grant",
    summary="Create ACLs. The answer lists those that are new.",
    body=Rights,
    answer=_ACLS,
    tell=_lines,
)
def acl_grant(port: Port, body: Rights) -> Any:
    return port.kafka.secure("grant", {"acls": body.acls})


@operation(
    "POST",
    "/acls/revoke",
    summary="Delete ACLs; all of them must be in force.",
    body=Rights,
    answer=_ACLS,
    tell=_lines,
)
def acl_revoke(port: Port, body: Rights) -> Any:
    return port.kafka.secure("revoke", {"acls": body.acls})


@dataclass(frozen=True, slots=True)
class Quotas:
    """Quotas of a client."""

    quotas: dict[str, float | None] = told(
        "values by Kafka's names, such as producer_byte_rate; null removes one", option=RATES
    )
    user: str | None = told("user; <default>: all users without a quota of their own", None)
    client_id: str | None = told(
        "client id; <default>: all client ids without a quota of their own", None
    )


@operation(
    "GET",
    "/quotas",
    summary="List the client quotas in force.",
    answer=object_of(quotas=list_of({"type": "object"})),
    tell=lambda answer: "\n".join(map(_quota_line, answer["quotas"])),
)
def quota_list(port: Port, body: Any) -> Any:
    return {"quotas": port.kafka.quotas()}


def _quota_line(quota: dict[str, Any]) -> str:
    whose = [f"{kind} {quota[kind]}" for kind in ("user", "client_id", "ip") if quota.get(kind)]
    values = ", ".join(f"{key}={value:g}" for key, value in quota["quotas"].items())
    return f"{', '.join(whose)}: {values}"


@operation(
    "POST",
    "/quotas",
    summary="Set client quotas. The answer contains the former values.",
    body=Quotas,
    answer=object_of(before={"type": "object"}),
)
def quota_set(port: Port, body: Quotas) -> Any:
    words = {"user": body.user, "client_id": body.client_id, "quotas": body.quotas}
    return port.kafka.secure("set_quota", words)


@operation(
    "POST",
    "/users/{user}/password",
    summary="Change a user's password. Open connections are kept.",
    body=Password,
    answer=DONE,
)
def user_password(port: Port, body: Password, user: str) -> Any:
    port.kafka.secure("rotate_password", {"user": user, "password": body.password})
    return {"done": True}


@operation(
    "POST",
    "/users/{user}/password/restore",
    summary="Restore the password that a user had at the start.",
    answer=DONE,
)
def user_restore(port: Port, body: Any, user: str) -> Any:
    port.kafka.secure("restore_password", {"user": user})
    return {"done": True}


@operation(
    "POST",
    "/users/{user}/expire",
    summary="End a user's authenticated sessions. The answer contains their number.",
    answer=object_of(sessions=NUMBER),
)
def user_expire(port: Port, body: Any, user: str) -> Any:
    return port.kafka.secure("expire_session", {"user": user})


@operation(
    "POST",
    "/logins/deny",
    summary="Refuse the next logins, as with a wrong password.",
    body=Denied,
    answer=DONE,
)
def login_deny(port: Port, body: Denied) -> Any:
    port.kafka.secure("deny_authentication", {"user": body.user, "times": body.times})
    return {"done": True}


@operation(
    "POST",
    "/connections/drop",
    summary="Close all client connections, as a network failure does; each client logs in again.",
    answer=DONE,
)
def connection_drop(port: Port, body: Any) -> Any:
    port.kafka.drop_connections()
    return {"done": True}


@dataclass(frozen=True, slots=True)
class Disturbed:
    """A fault of TLS handshakes."""

    how: str = told("refuse (with a TLS alert), cut (close the connection) or delay", "refuse")
    times: int = told("number of times; 0 ends it", 1)
    delay_ms: int = told("delay in ms", 0)


@operation(
    "POST",
    "/handshakes/disturb",
    summary="Refuse, cut or delay the next TLS handshakes.",
    body=Disturbed,
    answer=DONE,
)
def handshake_disturb(port: Port, body: Disturbed) -> Any:
    words = {"how": body.how, "times": body.times, "delay_ms": body.delay_ms}
    port.kafka.secure("disturb_handshakes", words)
    return {"done": True}


@operation(
    "POST",
    "/certificate/expire",
    summary="Use an expired certificate in new TLS handshakes.",
    answer=DONE,
)
def certificate_expire(port: Port, body: Any) -> Any:
    port.kafka.secure("expire_certificate", {})
    return {"done": True}


@operation(
    "POST",
    "/certificate/rotate",
    summary="Use another certificate of the same CA in new TLS handshakes.",
    answer=DONE,
)
def certificate_rotate(port: Port, body: Any) -> Any:
    port.kafka.secure("rotate_certificate", {})
    return {"done": True}
