"""The sample's compose file says what the images and the emulator understand."""

from __future__ import annotations

import re
from pathlib import Path

from coordinator.cli.serving.environment import read
from tools.images import EMULATOR_ALIAS, EXAMPLE_TAG

COMPOSE = (Path(__file__).parents[2] / "examples" / "compose.yaml").read_text()


def test_the_images_are_those_that_are_built() -> None:
    assert set(re.findall(r"^    image: (\S+)$", COMPOSE, re.MULTILINE)) == {
        EMULATOR_ALIAS,
        EXAMPLE_TAG,
    }


def test_everybody_waits_for_the_emulator_to_be_healthy() -> None:
    services = len(re.findall(rf"^    image: {EXAMPLE_TAG}$", COMPOSE, re.MULTILINE))
    assert (
        len(re.findall(r"kafka:\n        condition: service_healthy$", COMPOSE, re.MULTILINE))
        == services
    )


def test_the_emulator_takes_its_environment() -> None:
    variables = dict(
        re.findall(
            r"^      ([A-Z_]+): (.+)$", COMPOSE.replace("${KAFKA_PORT:-9092}", "9092"), re.MULTILINE
        )
    )
    inside = variables.pop("KAFKA_BOOTSTRAP_SERVERS")
    settings = read(
        {name: value.strip('"') for name, value in variables.items()}, allow_remote=True
    )
    assert settings.listen == ["INSIDE://0.0.0.0:29092", "OUTSIDE://0.0.0.0:9092"]
    assert settings.advertise == [f"INSIDE://{inside}", "OUTSIDE://localhost:9092"]
    assert settings.topics == ["orders:6", "invoices:6"]
    assert settings.warnings == []
