"""Texts for users are data: they do not change when Python runs without docstrings (-OO)."""

from __future__ import annotations

import subprocess
import sys

import pytest

OPENAPI = (
    "import json; from coordinator.kit.http.openapi import document; print(json.dumps(document()))"
)


def printed(*args: str) -> str:
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    "args",
    [
        ("-m", "coordinator", "simulate", "--help"),
        ("-m", "coordinator", "ctl", "broker", "stop", "--help"),
        ("-m", "coordinator", "ctl", "peer", "pause", "--help"),
        ("-c", OPENAPI),
    ],
    ids=["simulate", "a verb", "an operation", "openapi"],
)
def test_texts_are_the_same_without_docstrings(args: tuple[str, ...]) -> None:
    assert printed("-OO", *args) == printed(*args)
