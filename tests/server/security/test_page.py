"""docs/security.md and docs/security_clients.md are true: their blocks are test files, and they pass
as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inner_pytest import QUIET, declared_in, files_in, passed

CONFTEST = """
import threading
import pytest
from confluent_kafka import Consumer


@pytest.fixture
def start_my_app():
    ended, threads = threading.Event(), []

    def start(**config):
        def run():
            consumer = Consumer({**config, "group.id": "billing", "heartbeat.interval.ms": 100})
            consumer.subscribe(["orders"])
            while not ended.is_set():
                consumer.poll(0.1)
            consumer.close()

        threads.append(threading.Thread(target=run))
        threads[-1].start()

    yield start
    ended.set()
    for thread in threads:
        thread.join()
"""

pytest_plugins = ["pytester"]


def test_the_blocks_of_the_pages_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    pages = [project_root / "docs" / name for name in ("security.md", "security_clients.md")]
    text = "".join(page.read_text() for page in pages)
    files = files_in(text)
    assert files
    pytester.makepyfile(**files)
    pytester.makeconftest(CONFTEST)
    assert passed(pytester, *QUIET, timeout_s=240) == declared_in(files)
