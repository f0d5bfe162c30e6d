"""What consumers of five client libraries meet where records were deleted or compacted: the table of
docs/testing_deleted.md.

Each library plays on the emulator in every run, and on a real Apache Kafka 4.4.0 in `make fuzz`;
both have to come to the same lines.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from integration_tests import deleted
from integration_tests.deleted.tasks import Read
from integration_tests.deleted.topics import Logs
from integration_tests.matrix.libraries import run
from integration_tests.targets import EmulatorTarget, KafkaTarget
from integration_tests.test_control_examples import tools
from integration_tests.wire.log_people import PROFILE
from integration_tests.wire.recorder import new_nonce
from tools import kafka_jars

HOME = Path(deleted.__file__).parent
PATIENCE_S = 120
TOLD: Final = {
    "java": "OffsetOutOfRangeException at 2",
    "franz-go": "OFFSET_OUT_OF_RANGE",
    "kafka-python": "OffsetOutOfRangeError",
    "aiokafka": "OffsetOutOfRangeError",
    "confluent-kafka": "_AUTO_OFFSET_RESET",
}
"""How each library tells an application without a reset policy."""
WITH_A_DURATION: Final = ("java", "franz-go")


def expected(library: str) -> list[str]:
    """The lines of a library."""
    by_duration = ["by duration: read 11"] if library in WITH_A_DURATION else []
    nothing = "found the end, 12" if library == "franz-go" else "found nothing"
    return [
        "earliest: read 10 11",
        f"none: {TOLD[library]}",
        *by_duration,
        "by time, deleted: found 10",
        "by time: found 11",
        f"by time, to come: {nothing}",
        "by time, below a start within a segment: found 3",
        "compacted: read 2 3",
        "compacted, from a gap: read 2 3",
        "aborted and cleaned: read 0 4 5",
        "aborted and cleaned, from a gap: read 4 5",
        "latest: read",
    ]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where readers are built."""
    return tmp_path_factory.mktemp("readers")


def command(library: str, place: Path) -> list[str]:
    """What starts the reader of a library, built if need be."""
    if library == "java":
        tools("java", "javac", "mvn")
        class_path = f"{kafka_jars.jars()}{os.sep}*"
        classes = kafka_jars.compiled(class_path, HOME / "Reader.java")
        options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
        whole = os.pathsep.join((str(classes), class_path))
        return [kafka_jars.java(), *options, "-cp", whole, "Reader"]
    if library == "franz-go":
        tools("go")
        if not (place / "reader").exists():
            source = shutil.copytree(HOME / "franz", place / "source")
            run("go", "build", "-o", str(place / "reader"), ".", cwd=source)
        return [str(place / "reader")]
    module = "confluent" if library == "confluent-kafka" else library.replace("-", "_")
    return [sys.executable, "-m", f"integration_tests.deleted.{module}_reader"]


def played(library: str, address: str, place: Path) -> list[str]:
    """The lines that a reader prints."""
    reader = command(library, place)
    tasks = [
        task
        for task in Logs(address, new_nonce()).tasks()
        if library in WITH_A_DURATION
        or not (isinstance(task, Read) and task.reset.startswith("by_duration"))
    ]
    done = subprocess.run(
        [*reader, address, *map(str, tasks)],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("library", TOLD)
def test_on_the_emulator(library: str, emulator: EmulatorTarget, place: Path) -> None:
    assert played(library, emulator.address(PROFILE), place) == expected(library)


@pytest.mark.thorough
@pytest.mark.parametrize("library", TOLD)
def test_on_a_real_broker(library: str, kafka: KafkaTarget, place: Path) -> None:
    assert played(library, kafka.address(PROFILE), place) == expected(library)
