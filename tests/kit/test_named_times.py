"""A fault's time is given by name; without one the sentence says how."""

from __future__ import annotations

import pytest

from coordinator import Emulator


@pytest.mark.parametrize("verb", ["delay", "throttle"])
def test_a_time_without_its_name(verb: str) -> None:
    with Emulator() as kafka:
        with pytest.raises(
            TypeError, match=rf"{verb} takes its time by name: {verb}\('Fetch', seconds=5\)"
        ):
            getattr(kafka, verb)("Fetch", 5)
        with pytest.raises(TypeError, match=rf"{verb}\('Fetch', seconds=0.5\)"):
            getattr(kafka, verb)("Fetch")
