"""examples/compose.yaml as its users run it: the emulator becomes healthy, the others wait for that, the
shop's orders are billed, and a client on this machine reads the invoices.

Needs a Docker daemon, and the plugin `docker compose` or the command `docker-compose`: skipped
without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import confluent_kafka
import pytest

from tests.ports import kept_port
from tools.docker_build import ImageError, docker
from tools.images import main as build_images

FILE = Path(__file__).resolve().parents[1] / "examples" / "compose.yaml"
ORDERS = 20
"""How many the shop of the file writes."""
WAIT_S = 300.0

pytestmark = pytest.mark.thorough


@pytest.fixture
def compose() -> list[str]:
    """The command, whichever form is here."""
    try:
        docker("version")
    except ImageError as error:
        pytest.skip(f"the compose file is not run: {error}")
    asked = ["docker", "compose", "version"]
    if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose") is None:
        pytest.skip("the compose file is not run: there is no docker compose here")
    return ["docker-compose"]


@pytest.fixture
def address(compose: list[str]) -> Iterator[str]:
    """The services of the file, up: where the emulator is reached from here."""
    assert build_images(["example"]) == 0
    port = kept_port()
    project = [*compose, "--project-name", f"tested{uuid4().hex[:8]}", "--file", str(FILE)]
    environment = {**os.environ, "KAFKA_PORT": str(port)}
    try:
        subprocess.run([*project, "up", "--detach"], env=environment, check=True, timeout=WAIT_S)
        yield f"localhost:{port}"
    finally:
        subprocess.run(
            [*project, "down", "--volumes", "--timeout", "5"], env=environment, check=False
        )


def test_orders_are_billed_and_read_on_this_machine(address: str) -> None:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "outside",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["invoices"])
    invoices: set[bytes] = set()
    until = time.monotonic() + WAIT_S
    while len(invoices) < ORDERS:
        assert time.monotonic() < until, f"{len(invoices)} of {ORDERS} invoices came"
        record = consumer.poll(1.0)
        if record is not None and record.error() is None:
            invoices.add(record.value())
    consumer.close()
