"""The index of messages agrees with the files, and a file alone is enough."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coordinator.wire import messages
from coordinator.wire.messages import API_KEYS, ENTRIES, entry, request_type, response_type
from coordinator.wire.primitives import WireError
from tests.wire.samples import SERVED, message_types

RANGES = {
    0: (3, 13),
    1: (4, 18),
    2: (0, 11),
    3: (0, 13),
    8: (0, 10),
    9: (0, 10),
    10: (0, 6),
    11: (0, 9),
    12: (0, 4),
    13: (0, 5),
    14: (0, 5),
    15: (0, 6),
    16: (0, 5),
    18: (0, 5),
    19: (0, 7),
    20: (0, 6),
    21: (0, 2),
    22: (0, 5),
    23: (0, 4),
    32: (0, 4),
    33: (0, 2),
    37: (0, 3),
    42: (0, 3),
    44: (0, 1),
    47: (0, 0),
    60: (0, 2),
    75: (0, 0),
}


def test_version_ranges_are_those_of_3_9_to_4_4() -> None:
    """VER-1 to VER-11, and the data plane; Produce and Fetch have tables from 3 and 4 on, which is
    where record batches begin."""
    for key in SERVED:
        assert request_type(key).versions == response_type(key).versions == RANGES[key], API_KEYS[
            key
        ]


def test_flexible_versions_are_those_of_4_4_0() -> None:
    """VER-1 to VER-11: "flex"."""
    known = {8: 8, 9: 6, 10: 3, 11: 6, 12: 4, 13: 4, 14: 4, 15: 5, 16: 3, 42: 2, 47: None}
    assert {key: ENTRIES[key].flexible for key in known} == known


def test_the_index_agrees_with_the_files() -> None:
    for key, listed in ENTRIES.items():
        for message in (request_type(key), response_type(key)):
            assert message.api_key == key
            assert message.__module__ == f"coordinator.wire.messages.{listed.module}"
            assert message.__name__.startswith(listed.name)
            lowest, highest = message.versions
            assert (message.flexible if message.flexible <= highest else None) == listed.flexible
            assert lowest <= highest
    files = {path.stem for path in Path(messages.__file__).parent.glob("*.py")} - {"__init__"}
    assert {listed.module for listed in ENTRIES.values()} == files
    assert len(message_types()) == 2 * len(ENTRIES)


def test_every_api_says_what_it_is() -> None:
    """The first line of its file, or of its request in a file of several: name and key."""
    for key, listed in ENTRIES.items():
        request = request_type(key)
        alone = [entry.module for entry in ENTRIES.values()].count(listed.module) == 1
        text = sys.modules[request.__module__].__doc__ if alone else request.__doc__
        assert (text or "").startswith(f"{listed.name} (key {key})")


def test_a_new_api_is_one_new_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that the index does not name is found by the key it declares."""
    monkeypatch.delitem(ENTRIES, 12)
    monkeypatch.delitem(messages._requests, 12, raising=False)
    monkeypatch.setattr(messages, "_found", None)
    assert request_type(12).__name__ == "HeartbeatRequest"
    assert entry(12) == ("Heartbeat", "heartbeat", 4)


def test_unknown_keys() -> None:
    for key in (-1, 4, 95):
        with pytest.raises(WireError, match=str(key)):
            request_type(key)


def test_modules_are_loaded_at_first_use_and_wire_knows_no_clock(
    plain_environment: dict[str, str],
) -> None:
    """Start-up must not pay for every message, nor for asyncio."""
    code = (
        "import sys, coordinator.wire.messages, coordinator.wire.framing\n"
        "assert 'coordinator.wire.messages.heartbeat' not in sys.modules\n"
        "coordinator.wire.messages.request_type(12)\n"
        "assert 'coordinator.wire.messages.heartbeat' in sys.modules\n"
        "assert not {'asyncio', 'logging', 'random', 'socket', 'threading'} & set(sys.modules)\n"
        "assert len([name for name in sys.modules if name.startswith('coordinator.wire.messages.')]) == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, env=plain_environment)
