"""One Spark session for all tests: starting one takes seconds. Without PySpark or Java these tests
fail, unless nobody asked for them.

`make spark` runs them in .venv-spark. `REQUIRE_SPARK=0` skips them where there is no Java.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator.lab.pipeline.spark.kafka import kafka_settings
from coordinator.lab.pipeline.spark.session import PipelineError, java, session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two slots."""
    try:
        java()
    except PipelineError as error:
        if os.environ.get("REQUIRE_SPARK") == "0":
            pytest.skip(str(error))
        raise
    jars = (
        kafka_settings(["kafka://127.0.0.1:9092/any"])
        if os.environ.get("SPARK_KAFKA") == "1"
        else {}
    )
    scratch = tmp_path_factory.mktemp("spark")
    settings = {"spark.local.dir": str(scratch), "spark.sql.shuffle.partitions": "2", **jars}
    found = session("tests", "local[2]", quick=True, settings=settings)
    yield found
    found.stop()


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parent.parent
