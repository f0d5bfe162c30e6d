"""Time to be there: the server process until it answers ApiVersions, the embedded emulator, a lone
consumer's first join. `secured`, with TLS and logins, is a part of `security`."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median
from typing import Any

from benchmarks.process import Client, Row, member_alone, server
from coordinator import Emulator

_CONSUMER = """
import sys
from kafka import ConsumerRebalanceListener, KafkaConsumer

class Listener(ConsumerRebalanceListener):
    def on_partitions_revoked(self, revoked):
        pass

    def on_partitions_assigned(self, assigned):
        if assigned:
            print("assigned", flush=True)

consumer = KafkaConsumer(bootstrap_servers=sys.argv[1], group_id=sys.argv[2])
consumer.subscribe(["orders"], listener=Listener())
consumer.poll(timeout_ms=10_000)
"""


def _serve_s() -> float:
    with server("--topic", "orders:12") as serving:
        return serving.started_after_s


_FIRST = """
import sys, time
began = time.process_time()
from coordinator import Emulator
with Emulator({"orders": 12}, **eval(sys.argv[1])):
    print(time.process_time() - began)
"""
SECURED = {"security": "SASL_SSL", "users": {"billing": "secret"}}


def _embedded_s(**options: Any) -> float:
    began = time.perf_counter()
    with Emulator({"orders": 12}, **options):
        return time.perf_counter() - began


def _first_s(**options: Any) -> float:
    """Processor time of an interpreter that has imported nothing yet."""
    command = [sys.executable, "-c", _FIRST, repr(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def secured(rounds: int) -> list[Row]:
    """With a fresh authority, and users who log in."""
    _embedded_s(**SECURED)  # the first one imports
    plain, tls = (median(_embedded_s(**each) for _ in range(rounds)) for each in ({}, SECURED))
    first = median(_first_s(**SECURED) for _ in range(rounds))
    plain_first = median(_first_s() for _ in range(rounds))
    return [
        Row("Emulator(): import and start, processor time", plain_first * 1000, "ms"),
        Row("the same with SASL_SSL and a fresh authority", first * 1000, "ms", "<= 250"),
        Row("Emulator(SASL_SSL): start, more than plaintext", (tls - plain) * 1000, "ms", "<= 20"),
    ]


def _kafka_python_s(address: str, group: str) -> float:
    """From the start of the consumer's process to its first assignment."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", _CONSUMER, address, group],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        took = time.perf_counter() - began
        process.kill()
    return took


def run(rounds: int = 7) -> list[Row]:
    """Measure each."""
    served = [_serve_s() for _ in range(rounds)]
    _embedded_s()  # the first one imports
    embedded = [_embedded_s() for _ in range(rounds)]
    rows = [
        Row("serve: process start to ApiVersions answered, median", median(served), "s", "<= 0.25"),
        Row("Emulator(): start, warm interpreter, median", median(embedded) * 1000, "ms", "<= 10"),
    ]
    with server("--topic", "orders:12") as serving:
        cpu = serving.cpu_s()
        took = [
            _kafka_python_s("{}:{}".format(*serving.address), f"group-{index}")
            for index in range(rounds)
        ]
        cost = (serving.cpu_s() - cpu) / rounds
        client = Client(serving.address)
        began = time.perf_counter()
        member_alone(client, "bare")
        alone = time.perf_counter() - began
        client.close()
    rows.append(
        Row("kafka-python: process start to first assignment, median", median(took), "s", "<= 0.6")
    )
    rows.append(
        Row("kafka-python: the server's processor time in that", cost * 1000, "ms", "<= 20")
    )
    rows.append(Row("bare member: join in two steps, sync, warm server", alone * 1000, "ms"))
    return rows


if __name__ == "__main__":
    print(*run(), sep="\n")
