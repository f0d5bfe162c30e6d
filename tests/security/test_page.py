"""docs/security.md and docs/security_clients.md are true: their blocks are test files, and they pass
as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.inner_pytest import QUIET

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
    blocks = re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    pytester.makepyfile(**dict(blocks))
    pytester.makeconftest(CONFTEST)
    result = pytester.runpytest_subprocess(*QUIET, timeout=240)
    tests = sum(block.count("\ndef test_") for _, block in blocks)
    result.assert_outcomes(passed=tests)
    assert tests > len(blocks) > 1
