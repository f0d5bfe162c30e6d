"""Ready tests for applications that consume, process and produce in transactions;
`coordinator.testing.cases` has them with the others.

They need two attributes of the application: `transactional_id`, that of its producer, and
`output_topic`, whose records say by the headers topic, partition and offset what they answer.
Judged is what readers of committed records see: an answer to each record, and no second one.
"""

from __future__ import annotations

from typing import ClassVar

import pytest

from coordinator.events.line import lines_of

from ..in_process_requests import ControlError
from . import findings
from .application_cases import needs
from .disturbing import names_member, wait_hit
from .under_test import ApplicationError, ApplicationUnderTest


class TransactionCases:
    """Cases about transactions; `ConsumerCases` inherits them and has the fixture `app`.
    `batch`: number of records that a case writes each time."""

    batch: ClassVar[int] = 60

    def test_its_transaction_is_fenced_midway(self, app: ApplicationUnderTest) -> None:
        """Another instance takes over the application's transactional id while a transaction is
        about to be committed; the transaction's answers must not count."""
        self._transactional(app)
        app.start()
        app.produce(self.batch)
        app.wait_done()
        name = app.application.transactional_id
        with app.kafka.hold("EndTxn", transactional_id=name, times=1, may_miss=True) as held:
            app.produce(self.batch)
            wait_hit(app, held, "the application ends no transaction")
            self._take_over(app, name)
            held.release()
            app.produce(self.batch)
            self._done_or_started_again(app)
        app.verify()

    def test_the_offsets_of_a_transaction_are_refused(self, app: ApplicationUnderTest) -> None:
        """A rebalance overtakes the offsets of a transaction: the transaction is aborted, and
        its records are read again."""
        self._transactional(app)
        app.start()
        app.produce(self.batch)
        app.wait_done()
        if not names_member(app):
            app.stop()
            pytest.skip(
                "the offsets of its transactions name no member, like those of aiokafka: they cannot be too late for a rebalance"
            )
        with app.kafka.fail(
            "TxnOffsetCommit",
            "ILLEGAL_GENERATION",
            group=app.application.group,
            times=1,
            may_miss=True,
        ) as refused:
            app.produce(self.batch)
            app.wait_until(
                lambda: refused.hits > 0 or app.is_done(), "the application committed nothing"
            )
            app.produce(self.batch)
            self._done_or_started_again(app)
        app.verify()

    def test_what_others_aborted_is_not_answered(self, app: ApplicationUnderTest) -> None:
        """The topic has records of an aborted transaction. A reader of committed records does
        not get them."""
        self._transactional(app)
        app.start()
        app.kafka.produce(
            app.application.topic,
            ["never written"] * self.batch,
            transactional_id="another producer",
            abort=True,
        )
        app.produce(self.batch)
        app.wait_done()
        app.verify()

    def _transactional(self, app: ApplicationUnderTest) -> None:
        needs(app, "transactional_id", "output_topic")

    def _take_over(self, app: ApplicationUnderTest, transactional_id: str) -> None:
        try:
            app.kafka.produce(
                app.application.output_topic,
                ["of the other instance"],
                transactional_id=transactional_id,
                abort=True,
            )
        # the transaction in hand is being aborted; the other instance would ask again, this one is
        # fenced
        except ControlError as error:
            if "CONCURRENT_TRANSACTIONS" not in str(error):
                raise

    def _done_or_started_again(self, app: ApplicationUnderTest) -> None:
        """Wait until the application goes on by itself, or start it again if it ended."""
        try:
            app.wait_until(
                lambda: not app.members() or app.is_done(),
                "the application neither continued nor ended",
            )
        except ApplicationError as error:
            found = findings.left_open(
                lines_of(app.kafka.events()), app.application.transactional_id
            )
            raise ApplicationError([*found, *error.findings]) from None
        if not app.members():
            app.start_again()
        app.wait(
            findings.NO_RECOVERY,
            "the application did not commit everything that was written",
            state="Stable",
            lag=0,
        )
