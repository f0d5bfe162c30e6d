"""A topic that comes later: who misses it, or what was written before it knew, is told so; who reads
it is not blamed."""

from __future__ import annotations

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from tests.testing import later_topics as later
from tests.testing.small_applications import Small

pytestmark = pytest.mark.kafka(config={"auto.create.topics.enable": "false"})


class Hurries(ApplicationUnderTest):
    """What never happens once the topic is there is awaited for a moment."""

    def make_topic(self, name: str) -> None:
        super().make_topic(name)
        self.patience_s = 2.0


def play(
    kafka: Emulator,
    application: type[Small],
    kind: type[ApplicationUnderTest] = ApplicationUnderTest,
) -> None:
    under_test = kind(kafka, application(), patience_s=120.0)
    try:
        ConsumerCases().test_a_topic_comes_later(under_test)
    finally:
        under_test.close()


@pytest.mark.parametrize(
    ("application", "name"),
    [
        (later.LooksOnce, f.MISSES),
        pytest.param(later.LooksOnceInKafkaPython, f.MISSES, marks=pytest.mark.thorough),
        (later.EndsWhereATopicIsMissing, f.ENDED),
        pytest.param(later.BeginsAtItsEnd, f.STOPS_READING, marks=pytest.mark.thorough),
    ],
)
def test_who_misses_it_is_told_so(kafka: Emulator, application: type[Small], name: str) -> None:
    with pytest.raises(ApplicationError) as found:
        play(kafka, application, Hurries)
    assert found.value.findings[0].name == name, found.value


@pytest.mark.parametrize(
    "application",
    [
        later.ByPattern,
        later.InItsList,
        pytest.param(later.ByPatternInKafkaPython, marks=pytest.mark.thorough),
        pytest.param(later.InItsListOfKafkaPython, marks=pytest.mark.thorough),
    ],
)
def test_who_reads_it_is_not_blamed(kafka: Emulator, application: type[Small]) -> None:
    play(kafka, application)
