"""What security costs: heartbeats over TLS beside those in the clear, Metadata of a user whose rights
are looked at, the start with a throw-away authority, and a consumer's first record over SASL_SSL."""

from __future__ import annotations

import ssl
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from statistics import median
from struct import Struct
from typing import Any

from benchmarks import heartbeats, startup
from benchmarks.process import Client, Row, ServerProcess, encoded, free_port, running
from coordinator import Emulator
from coordinator.testing.containers import EmulatorContainer, RealKafka
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from coordinator.wire.schema import Request
from integration_tests.targets import real_broker_image, why_no_docker
from tools.emulator_base import LOCAL_BASE_TAG, build_base
from tools.emulator_image import build_emulator

_TOPICS = _ACLS = 1_000
_REQUESTS = 100
_IMAGE = "kafka-group-coordinator:measured"
_SIZE = Struct(">i")


class TlsClient(Client):
    """A connection over TLS. Whose certificate the server shows does not matter here."""

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.reader.close()
        self.socket = context.wrap_socket(self.socket)
        self.reader = self.socket.makefile("rb", 1 << 16)


def _heartbeat(loop: str, deep: int, seconds: float) -> tuple[tuple[float, float], ...]:
    """(heartbeats a second, microseconds of the server's processor time for one), in the clear and
    over TLS, of 50 connections."""
    plain, tls = free_port(), free_port()
    listeners = [f"PLAINTEXT://127.0.0.1:{plain}", f"SSL://127.0.0.1:{tls}"]
    options = [option for each in listeners for option in ("--listen", each)]
    with running(["coordinator", "serve", *options, "--loop", loop], plain) as serving:
        found = []
        for name, port, kind in (("p", plain, Client), ("t", tls, TlsClient)):
            clients = [kind(("127.0.0.1", port)) for _ in range(50)]
            askers = [
                heartbeats.Asker(*heartbeats.member(client, f"{name}-{index}"), deep)
                for index, client in enumerate(clients)
            ]
            found.append(heartbeats.drive(serving, askers, seconds))
    return tuple(found)


def _log_in(client: Client, user: str, password: str) -> None:
    client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    token = f"\0{user}\0{password}".encode()
    client.ask(SaslAuthenticateRequest(auth_bytes=token), 2)


def _cpu_us(serving: ServerProcess, client: Client, request: Request, version: int) -> float:
    """Microseconds of the server's processor time for one request."""
    data = encoded(request, version)

    def ask() -> None:
        client.socket.sendall(data)
        client.reader.read(_SIZE.unpack(client.reader.read(4))[0])

    ask()
    began = _main_thread_ns(serving)
    for _ in range(_REQUESTS):
        ask()
    return (_main_thread_ns(serving) - began) / _REQUESTS / 1e3


def _main_thread_ns(serving: ServerProcess) -> int:
    """Processor time of the server's loop, finer than `cpu_s`."""
    with open(f"/proc/{serving.pid}/schedstat") as schedstat:
        return int(schedstat.read().split()[0])


def _metadata() -> tuple[float, float]:
    """Of Metadata of all topics by name, without an authorizer and with 1,000 ACLs, one of which is
    about the user."""
    port = free_port()
    names = [f"orders-{index}" for index in range(_TOPICS)]
    topics = [option for name in names for option in ("--topic", f"{name}:1")]
    asked = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    rights = [f"User:u{index} may Read topic t{index} prefixed" for index in range(_ACLS - 1)]
    rights.append("User:billing may Read topic orders prefixed")
    secured = ["--user", "billing:secret"]
    secured += [option for right in rights for option in ("--acl", right)]
    found = []
    for scheme, options in (("PLAINTEXT", []), ("SASL_PLAINTEXT", secured)):
        listen = ["--listen", f"{scheme}://127.0.0.1:{port}"]
        with running(["coordinator", "serve", *listen, *topics, *options], port) as serving:
            client = Client(("127.0.0.1", port))
            if options:
                _log_in(client, "billing", "secret")
            found.append(_cpu_us(serving, client, asked, 9))
            client.close()
    return found[0], found[1]


def _first_record_s(broker: Callable[[], AbstractContextManager[Any]]) -> float:
    """From nothing but imports to a record that kafka-python read over SASL_SSL."""
    from kafka import KafkaConsumer, KafkaProducer

    began = time.perf_counter()
    with broker() as kafka:
        config = kafka.client_config("kafka-python", user="billing")
        if isinstance(kafka, RealKafka):
            with closing(KafkaProducer(**config)) as producer:
                producer.send("orders", b"coffee").get(30)
        else:
            kafka.produce("orders", [b"coffee"], partition=0)
        consumer = KafkaConsumer("orders", group_id="g", auto_offset_reset="earliest", **config)
        next(consumer)
        took = time.perf_counter() - began
        consumer.close()
    return took


def run(seconds: float = 2.0) -> list[Row]:
    """Measure each."""
    rows = startup.secured(7)
    for loop, most in (("uvloop", 20), ("asyncio", 35)):
        for deep in (1, 20):
            (rate, cost), (tls_rate, tls_cost) = _heartbeat(loop, deep, seconds)
            what = f"{loop}, 50 connections, {deep} in flight each"
            target = f"<= + {most}" if deep == 1 else ""
            rows.append(Row(f"server CPU of a heartbeat in the clear: {what}", cost, "us"))
            rows.append(Row(f"the same over TLS: {what}", tls_cost, "us", target))
            if deep > 1:
                share = 100 * tls_rate / rate
                rows.append(Row(f"heartbeats a second over TLS: {what}", share, "%", ">= 60"))
    plain, secured = _metadata()
    rows.append(Row("Metadata of 1,000 topics, no authorizer: server CPU", plain, "us"))
    rows.append(Row("the same by a user, 1,000 ACLs", secured, "us", "<= 1.5 x"))
    what = "kafka-python: a record over SASL_SSL, its broker's start included"
    embedded = lambda: Emulator({"orders": 1}, **startup.SECURED)  # noqa: E731
    first = median(_first_record_s(embedded) for _ in range(5))
    rows.append(Row(f"{what}: emulator", first, "s", "<= 1"))
    return [*rows, *_in_containers(what)]


def _in_containers(what: str) -> list[Row]:
    """The same with the broker in a container; nothing where there is no Docker, or no image."""
    missing = why_no_docker()
    if missing:
        print(f"security: no containers: {missing}", file=sys.stderr)
        return []
    build_base(LOCAL_BASE_TAG)
    build_emulator(_IMAGE, LOCAL_BASE_TAG)
    real = real_broker_image()
    asked = startup.SECURED
    brokers: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        "emulator in a container": lambda: EmulatorContainer({"orders": 1}, image=_IMAGE, **asked),
        "Kafka in a container": lambda: RealKafka(image=real, **asked),
    }
    return [
        Row(f"{what}: {name}", median(_first_record_s(broker) for _ in range(3)), "s")
        for name, broker in brokers.items()
    ]


if __name__ == "__main__":
    print(*run(), sep="\n")
