"""Small applications that are to read a topic which comes later: by a pattern, or in their list.

Like those of `small_applications`: as people write them.
"""

from __future__ import annotations

import re
from typing import Any

from confluent_kafka import KafkaException

from tests.testing.small_applications import CommitsEach, KafkaPython

PATTERN = "^orders"
OFTEN_MS = 200
"""How often they look for new topics."""


class ByPattern(CommitsEach):
    """Right: confluent-kafka, whose pattern is looked at by the library."""

    new_topic = "orders-eu"
    settings = {"topic.metadata.refresh.interval.ms": OFTEN_MS}  # noqa: RUF012 - replaced, not changed

    def subscribe(self, consumer: Any) -> None:
        consumer.subscribe([PATTERN])


class ByPatternInKafkaPython(KafkaPython):
    """Right: the same with kafka-python, which loses the join of a leader that has learnt of a topic
    if it takes longer than a poll."""

    new_topic = "orders-eu"
    poll_ms = 5000
    settings = {"metadata_max_age_ms": OFTEN_MS}  # noqa: RUF012 - replaced, not changed

    def subscribe(self, consumer: Any) -> None:
        consumer.subscribe(pattern=PATTERN)


class InItsList(CommitsEach):
    """Right: a list, one topic of which is not there yet, which a poll tells as an error."""

    new_topic = "orders-eu"
    settings = ByPattern.settings

    def subscribe(self, consumer: Any) -> None:
        consumer.subscribe([self.topic, self.new_topic])


class InItsListOfKafkaPython(KafkaPython):
    """Right: the same with kafka-python."""

    new_topic = "orders-eu"
    poll_ms = 5000

    def subscribe(self, consumer: Any) -> None:
        consumer.subscribe([self.topic, self.new_topic])


class LooksOnce(ByPattern):
    """Subscribes to the topics that match when it starts."""

    def subscribe(self, consumer: Any) -> None:
        there = consumer.list_topics(timeout=30).topics
        consumer.subscribe([name for name in there if re.match(PATTERN, name)])


class LooksOnceInKafkaPython(ByPatternInKafkaPython):
    """The same with kafka-python."""

    def subscribe(self, consumer: Any) -> None:
        consumer.subscribe([name for name in consumer.topics() if re.match(PATTERN, name)])


class EndsWhereATopicIsMissing(InItsList):
    """Takes every error of a poll for the end."""

    def failed(self, error: Any) -> None:
        raise KafkaException(error)


class BeginsAtItsEnd(ByPattern):
    """Has auto.offset.reset=latest: what was written before it knew the topic is left out."""

    settings = {**ByPattern.settings, "auto.offset.reset": "latest"}  # noqa: RUF012
