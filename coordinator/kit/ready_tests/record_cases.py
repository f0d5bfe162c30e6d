"""Ready tests about records that fail, topics that come later and commits that are refused;
`coordinator.testing.cases` has them with the others."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import pytest

from coordinator.base.counting import how_many
from coordinator.events.line import lines_of

from ..in_process_requests import ControlError
from . import findings
from .application_cases import needs, needs_commits
from .disturbing import commits_fail, gave_up, gone, wait_hit, waits_for_commits
from .findings import Finding
from .keys import keys_of
from .refused_heartbeats import connections, goes_on
from .under_test import A_MOMENT_S, ApplicationError, ApplicationUnderTest

RECORDS = 60
"""Number of records that a case writes each time."""


class RecordCases:
    """Cases about records; `ConsumerCases` inherits them and has the fixture `app`."""

    def test_a_record_fails_once(self, app: ApplicationUnderTest) -> None:
        """Processing of a record fails and succeeds the next time: the record is not left out."""
        self._one_bad_record(app, "flaky")

    def test_a_record_can_never_be_processed(self, app: ApplicationUnderTest) -> None:
        """A poison record is skipped, and the records behind it are processed."""
        self._one_bad_record(app, "poison")

    @pytest.mark.kafka(config={"auto.create.topics.enable": "false"})
    def test_a_topic_comes_later(self, app: ApplicationUnderTest) -> None:
        """A topic that the application must read as well is created while it runs, and records
        are written before it knows: none is left out."""
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
                f"{name} was created while it ran, but none of its members has partitions of it: "
                "it checks for topics only once, or less often than the test waits (metadata.max.age.ms, "
                "librdkafka: topic.metadata.refresh.interval.ms, 5 minutes by default)"
            )
            raise ApplicationError([Finding(findings.MISSES, text), *error.findings]) from None
        app.verify()

    def test_records_that_are_gone(self, app: ApplicationUnderTest) -> None:
        """The application was away for so long that retention deleted records which it had not
        read. It goes on with the oldest record that is left, and leaves none of those out."""
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        app.stop_and_leave()
        app.produce(RECORDS)
        app.delete_old_records()
        app.produce(RECORDS)
        app.start()
        app.wait_reads_on()  # whoever goes on at the end of the log misses nothing of what follows
        app.produce(RECORDS)
        app.wait_done()
        app.verify()

    def test_a_key_is_compacted(self, app: ApplicationUnderTest) -> None:
        """The topic is compacted while the application is away. For each key the last record is
        left, offsets have gaps, and the application goes on across them."""
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        app.stop_and_leave()
        app.compact_keys(RECORDS)
        app.start()
        app.wait_done()
        app.verify()

    def test_an_effect_happens_once(self, app: ApplicationUnderTest) -> None:
        """The application dies when it has processed records and could not commit. The records
        come again, and their effects do not happen again."""
        needs(app, "effects")
        needs_commits(app, instead="test_its_transaction_is_fenced_midway")
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        app.disturbances += 1
        with commits_fail(app) as refused:
            app.produce(RECORDS)
            wait_hit(app, refused, "the application commits nothing")
            app.kill()
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        app.verify()

    def test_commits_are_refused_for_good(self, app: ApplicationUnderTest) -> None:
        """The application may no longer commit (GROUP_AUTHORIZATION_FAILED). It must end, or stop
        visibly.

        An application that does not wait for responses to its commits must end, too, if it says
        that it gets their errors (`sees_commit_errors`). Otherwise it cannot be known whether it
        looks at them; it learns of the missing right when it joins again.
        """
        needs_commits(app, instead="test_the_offsets_of_a_transaction_are_refused")
        app.start()
        if app.not_judged and not app.sees_commit_errors:
            self._refused_everything(app)
            return
        waits = not app.not_judged and waits_for_commits(app, min(app.patience_s, A_MOMENT_S))
        with app.kafka.fail(
            "OffsetCommit", "GROUP_AUTHORIZATION_FAILED", group=app.application.group, may_miss=True
        ) as refused:
            app.excuse()
            app.produce(RECORDS)
            wait_hit(app, refused, "the application commits nothing")
            if waits or app.sees_commit_errors:
                if gone(app):
                    return
            else:
                app.wait_a_moment(lambda: not app.members())
                if not app.members():
                    return
            refused.remove()
            swallowed = self._swallowed(app, f"{how_many(refused.hits, 'commit', 'were')} refused")
            if app.sees_commit_errors:
                raise ApplicationError([*app.findings(), swallowed])
            try:
                # on a busy machine a moment may have been too short to see that it does not
                waits = waits and waits_for_commits(app, app.patience_s)
            except ApplicationError:  # it commits nothing any more
                raise ApplicationError([swallowed, *app.findings()]) from None
            if waits:
                raise ApplicationError([*app.findings(), swallowed])
        app.unknown.append(
            f"whether it looks at the errors of its commits could not be told: it does not wait for their answers, and went on "
            f"when {how_many(refused.hits, 'commit', 'were')} refused for good; if a callback gets those errors (on_commit), say "
            "sees_commit_errors = True"
        )
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
                    [*app.findings(), self._swallowed(app, "commits and joins are refused")]
                )

    def _refused_heartbeats(self, app: ApplicationUnderTest, members: set[str], since: int) -> None:
        if gave_up(app, members, since):
            return
        shrugs = goes_on(
            lines_of(app.kafka.events(since=since)),
            app.application.group,
            members,
            connections(app.kafka),
        )
        raise ApplicationError(
            [*app.findings(), *self._not_closed(app, "heartbeats are refused"), *shrugs]
        )

    def _swallowed(self, app: ApplicationUnderTest, what: str) -> Finding:
        for finding in self._not_closed(app, what):
            return finding
        number = len(app.processed() or ())
        text = f"{what} with GROUP_AUTHORIZATION_FAILED; the application is still a member, and has processed {how_many(number, 'record')}"
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
                f"{text}, but its member is still in the group: its consumer is not closed",
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
            key = keys_of(len(app.kafka.end_offsets(app.application.topic)))[0][0]
            app.kafka.produce(app.application.topic, [bad], partition=0, keys=[key])
            app.produce(RECORDS // 2)
            ends = app.kafka.end_offsets(app.application.topic)
            others = {(app.application.topic, index): end for index, end in ends.items() if index}
            if others:
                app.wait_reached(others, "other partitions than that of the bad record")
            app.produce(RECORDS // 2)
            app.wait_done()
        app.verify()
