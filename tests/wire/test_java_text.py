"""Malformed UTF-8, read as `new String(bytes, UTF_8)` of Java 17 reads it."""

from __future__ import annotations

import pytest

from coordinator.wire.java_text import JAVA

R = "\ufffd"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("61eda08062", f"a{R}b"),  # a surrogate is one, not three
        ("ffc0eda0", R * 3),
        ("eda0", R),
        ("ed", R),
        ("eda041", f"{R}A"),
        ("e08080", R * 3),
        ("e0a041", f"{R}A"),
        ("e2", R),
        ("e282", R),
        ("f08080", R * 3),
        ("f0908041", f"{R}A"),
        ("f090", R),
        ("f09080", R),
        ("f0", R),
        ("f4908080", R * 4),
        ("f5808080", R * 4),
        ("c0af", R * 2),
        ("c241", f"{chr(0xFFFD)}A"),
        ("80", R),
        ("f09f98", R),
        ("f09f9880", "\U0001f600"),
        ("c3a4", "\u00e4"),
    ],
)
def test_as_java_reads_it(data: str, text: str) -> None:
    assert bytes.fromhex(data).decode("utf-8", JAVA) == text
