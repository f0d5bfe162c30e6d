"""Ready tests about records that fail, topics that come later and commits that are refused;
`coordinator.testing.cases` has them with the others."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import pytest

from ..control.in_process_requests import ControlError
from . import findings
from .application_cases import needs, needs_commits
from .disturbing import gave_up, gone, wait_hit, waits_for_commits
from .findings import Finding
from .refused_heartbeats import connections, goes_on
from .under_test import A_MOMENT_S, ApplicationError, ApplicationUnderTest

RECORDS = 60
"""Written by a case, each time it writes."""


class RecordCases:
    """To be inherited together with a fixture `app`, as `ConsumerCases` does."""

    def test_a_record_fails_once(self, app: ApplicationUnderTest) -> None:
        """Processing fails and succeeds the next time: the record is not left out."""
        self._one_bad_record(app, "flaky")

    def test_a_record_can_never_be_processed(self, app: ApplicationUnderTest) -> None:
        """A poison record: it is passed by, and what comes behind it is processed."""
        self._one_bad_record(app, "poison")

    @pytest.mark.kafka(config={"auto.create.topics.enable": "false"})
    def test_a_topic_comes_later(self, app: ApplicationUnderTest) -> None:
        """A topic that it is to read as well is made while it runs, and records are written before
        it knows: none is left out."""
        needs(app, "new_topic")
        app.start(assigned=None)
        app.produce(RECORDS)
        app.wait_reached(app.ends(), "what was written")
        name = app.application.new_topic
        app.make_topic(name)
        app.produce(RECORDS)
        try:
            app.wait_reached(app.ends(), f"what was written to {name}")
        except ApplicationError as error:
            given = {place[0] for each in app.members() for place in each.assignment or ()}
            if name in given:
                raise
            text = (
                f"{name} was made while it ran, and none of its members has partitions of it: "
                "it looks for topics once, or less often than the test waits (metadata.max.age.ms, "
                "librdkafka: topic.metadata.refresh.interval.ms, 5 minutes by default)"
            )
            raise ApplicationError([Finding(findings.MISSES, text), *error.findings]) from None
        app.verify()

    def test_commits_are_refused_for_good(self, app: ApplicationUnderTest) -> None:
        """The application may no longer commit (GROUP_AUTHORIZATION_FAILED): it ends, or stops,
        visibly.

        One that does not wait for the answers of its commits hears of it when it joins again.
        """
        needs_commits(app, instead="test_the_offsets_of_a_transaction_are_refused")
        app.start()
        if app.not_judged or not waits_for_commits(app, min(app.patience_s, A_MOMENT_S)):
            self._refused_everything(app)
            return
        with app.kafka.fail(
            "OffsetCommit", "GROUP_AUTHORIZATION_FAILED", group=app.application.group, may_miss=True
        ) as refused:
            app.excuse()
            app.produce(RECORDS)
            wait_hit(app, refused, "the application commits nothing")
            if gone(app):
                return
            refused.remove()
            swallowed = self._swallowed(app, f"{refused.hits} commits were refused")
            try:
                waits = waits_for_commits(
                    app, app.patience_s
                )  # on a busy machine a moment may have been too short to see that it does not
            except ApplicationError:  # it commits nothing any more
                raise ApplicationError([swallowed, *app.findings()]) from None
            if waits:
                raise ApplicationError([*app.findings(), swallowed])
        self._refused_everything(app)

    def _refused_everything(self, app: ApplicationUnderTest) -> None:
        with ExitStack() as faults:
            for api in ("OffsetCommit", "JoinGroup", "ConsumerGroupHeartbeat"):
                faults.enter_context(
                    app.kafka.fail(
                        api,
                        "GROUP_AUTHORIZATION_FAILED",
                        group=app.application.group,
                        may_miss=True,
                    )
                )
            app.excuse()
            mark, members = app.kafka.mark(), {member.member_id for member in app.members()}
            app.produce(RECORDS)
            if app.speaks_consumer:
                self._refused_heartbeats(app, members, mark)
                return
            with suppress(ControlError):  # it has ended already, or rebalances by itself
                app.group.rebalance("authorization is withdrawn")
            if not gone(app):
                raise ApplicationError(
                    [*app.findings(), self._swallowed(app, "commits and joining are refused")]
                )

    def _refused_heartbeats(self, app: ApplicationUnderTest, members: set[str], since: int) -> None:
        if gave_up(app, members, since):
            return
        shrugs = goes_on(
            app.kafka.events(since=since), app.application.group, members, connections(app.kafka)
        )
        raise ApplicationError(
            [*app.findings(), *self._not_closed(app, "heartbeats are refused"), *shrugs]
        )

    def _swallowed(self, app: ApplicationUnderTest, what: str) -> Finding:
        for finding in self._not_closed(app, what):
            return finding
        number = len(app.processed() or ())
        text = f"{what} with GROUP_AUTHORIZATION_FAILED; the application is still a member, and has processed {number} records"
        return Finding(findings.SWALLOWED, text)

    def _not_closed(self, app: ApplicationUnderTest, what: str) -> list[Finding]:
        error = getattr(app.application, "error", None)
        members = app.members()
        if isinstance(error, BaseException):
            ended = f"ended by {type(error).__name__}"
        elif members and not any(member.connected for member in members):
            ended = "closed its connections"
        else:
            return []
        text = f"{what} with GROUP_AUTHORIZATION_FAILED, the application {ended}"
        return [
            Finding(
                findings.DOES_NOT_LEAVE,
                f"{text}, and its member is in the group still: its consumer is not closed",
            )
        ]

    def _one_bad_record(self, app: ApplicationUnderTest, attribute: str) -> None:
        needs(app, attribute)
        app.start()
        app.disturbances += 1
        with app.fails_by_itself():
            app.produce(RECORDS // 2)
            bad = getattr(app.application, attribute)
            if attribute == "poison":  # whether it counts as processed is the application's affair
                topic = app.application.topic
                app.told.others_processed.append((topic, 0, app.ends()[topic, 0]))
            app.kafka.produce(app.application.topic, [bad], partition=0)
            app.produce(RECORDS // 2)
            ends = app.kafka.end_offsets(app.application.topic)
            others = {(app.application.topic, index): end for index, end in ends.items() if index}
            if others:
                app.wait_reached(others, "other partitions than that of the bad record")
            app.produce(RECORDS // 2)
            app.wait_done()
        app.verify()
