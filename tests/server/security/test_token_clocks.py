"""Signed tokens at the limits of time are believed as Kafka's BrokerJwtValidator believes them
(OAUTH-5)."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("jwt")
pytest.importorskip("cryptography")

from tests.java_jars import NoJavaError, java_program
from tests.server.security.token_clocks import PROGRAM, VECTORS, believed, believed_by_java, cases


def test_as_was_recorded() -> None:
    """Wherever in the second the clock is."""
    answers = json.loads(VECTORS.read_text())
    assert 20 < sum(answer[0] == "A" for answer in answers) < len(answers) - 20
    for case, answer in zip(cases(), answers, strict=True):
        for fraction in (0.0, 0.4, 0.999):
            assert believed(case, fraction) == answer, case


def test_as_kafkas_own_class_says() -> None:
    """Its answers are those that were kept."""
    try:
        with java_program(PROGRAM) as java:
            answers = believed_by_java(java, cases())
    except NoJavaError as missing:
        pytest.skip(str(missing))
    assert answers == json.loads(VECTORS.read_text())
