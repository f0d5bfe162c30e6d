"""Security: what clients are given to get in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..operation import operation
from ..plain import TEXT, object_of
from ..port import Port
from ..shapes import told


@dataclass(frozen=True, slots=True)
class Reached:
    """Which client it is for."""

    library: str = told("kafka-python, aiokafka, confluent-kafka, librdkafka or java")
    user: str | None = told("one of the users; where a listener has no login, leave it out", None)
    mechanism: str | None = told("SCRAM-SHA-512 unless said", None)
    listener: str | None = told("the name of the listener; without it the first secured one", None)


@operation(
    "GET",
    "/client-config",
    body=Reached,
    answer=object_of(settings={"type": "object"}),
    command="client-config",
    tell=lambda told: "\n".join(f"{name}={value}" for name, value in told["settings"].items()),
)
def client_config(port: Port, body: Reached) -> Any:
    """The settings with which a client reaches the broker, under the names of its library. Files
    that they name are on the emulator's machine; /ca.pem is what the certificate's file holds."""
    settings = port.kafka.client_config(
        body.library, user=body.user, mechanism=body.mechanism, listener=body.listener
    )
    return {"settings": settings}


@operation("GET", "/ca", answer=object_of(file=TEXT, pem=TEXT), command="ca", tell="pem")
def ca(port: Port, body: Any) -> Any:
    """The certificate of the authority that clients are to trust, in PEM, and where it is on the
    emulator's machine. /ca.pem answers the certificate alone."""
    path = port.kafka.ca_file
    return {"file": path, "pem": Path(path).read_text()}
