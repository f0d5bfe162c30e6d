"""Small applications that do not wait for the answers of their commits: with a callback that looks
at errors, with one that does not, and without one."""

from __future__ import annotations

from typing import Any

import kafka
from confluent_kafka import KafkaError, KafkaException
from kafka.errors import GroupAuthorizationFailedError

from tests.testing.small_applications import CommitsWithoutWaiting, KafkaPython, NewProtocol


class LooksAtItsCommits(CommitsWithoutWaiting):
    """Right: confluent-kafka; ends when a commit is refused for good."""

    sees_commit_errors = True

    def config(self) -> dict[str, Any]:
        self.told: Any = None
        return {**super().config(), "on_commit": self.on_commit}

    def on_commit(self, error: Any, partitions: Any) -> None:
        for each in (error, *(one.error for one in partitions)):
            if each is not None and each.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
                self.told = each

    def turn(self, consumer: Any) -> None:
        super().turn(consumer)
        if self.told is not None:
            raise KafkaException(self.told)


class LooksInNewProtocol(LooksAtItsCommits):
    """Right: the same in a group of the consumer protocol (KIP-848)."""

    settings = NewProtocol.settings


class LooksInKafkaPython(KafkaPython):
    """Right: kafka-python, a commit after each poll; ends when one is refused for good."""

    sees_commit_errors = True
    told: Exception | None = None

    def turn(self, consumer: Any) -> None:
        self.due: dict[Any, Any] = {}
        super().turn(consumer)
        if self.due and not self.killed:
            consumer.commit_async(self.due, callback=self.answered)
        if self.told is not None:
            raise self.told

    def handle(self, consumer: Any, record: Any) -> None:
        self.work(record.topic, record.partition, record.offset)
        place = kafka.TopicPartition(record.topic, record.partition)
        self.due[place] = kafka.OffsetAndMetadata(record.offset + 1, "", -1)

    def answered(self, offsets: Any, response: Any) -> None:
        # other errors may follow, such as NodeNotReadyError while a coordinator is looked for
        if isinstance(response, GroupAuthorizationFailedError):
            self.told = response


class OnlyCountsRefusals(LooksAtItsCommits):
    """Its callback is told of refused commits, and it goes on."""

    refusals = 0

    def on_commit(self, error: Any, partitions: Any) -> None:
        self.refusals += error is not None


class OnlyCountsInNewProtocol(OnlyCountsRefusals):
    """The same in a group of the consumer protocol."""

    settings = NewProtocol.settings


class OnlyCountsInKafkaPython(LooksInKafkaPython):
    """The same with kafka-python."""

    refusals = 0

    def answered(self, offsets: Any, response: Any) -> None:
        self.refusals += isinstance(response, Exception)


class LooksAndDoesNotSay(LooksAtItsCommits):
    """Right, and its adapter does not say that it looks."""

    sees_commit_errors = False


RIGHT = (LooksAtItsCommits, LooksInNewProtocol, LooksInKafkaPython)
WRONG = (OnlyCountsRefusals, OnlyCountsInNewProtocol, OnlyCountsInKafkaPython)
