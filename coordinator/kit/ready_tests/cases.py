"""Ready tests for consumer applications: what happens to every consumer sooner or later, and what
must not happen to its records then.

    # test_billing.py
    import pytest
    from coordinator.testing.cases import ConsumerCases

    @pytest.fixture
    def kafka_app_under_test():
        return Billing()                  # start(bootstrap_servers), stop(), kill(), processed(); topic and group

    class TestBilling(ConsumerCases):
        patience_s = 30

Every case ends with the same verdict (`coordinator.kit.ready_tests.findings`): no gap, bounded duplicates,
no commit ahead of processing, nothing processed or committed for partitions that are others'. Of an
application that does not tell what it processed only its commits are judged: its cases warn of that
(`NotJudgedWarning`). Cases that need more of the application than it has are skipped, and say what
is missing:

| attribute | what the case does with it |
|---|---|
| `fail_listener()` | the next call of its rebalance listener raises |
| `hold_work()`, `resume_work()` | it stops in the middle of a record and sends nothing but heartbeats; it goes on |
| `postpone_work()`, `taken()`, `resume_work()` | it goes on asking for records and keeps them, `taken()` of them, until it is to go on |
| `flaky` | the value of a record whose processing fails the first time |
| `new_topic` | the name of a topic that it reads as well, once it is there, by a pattern, say |
| `keeps_offsets` | true: it keeps its offsets itself and may commit none; that everything is processed is awaited instead |
| `sees_commit_errors` | true: a callback (`on_commit`) is told of errors of its asynchronous commits; refused for good, it ends |
| `transactional_id`, with `output_topic` | it consumes, processes and produces in transactions: `transaction_cases` |
| `keeps_key_order` | true: it processes the records of a key in their order, which is judged; it is not without this |
| `effects()` | what it did for records, in order: (topic, partition, offset) or an id of each; judged is that none happens twice |
| `commits_late` | true: it does not commit before it loses partitions; what was not committed may come again at each rebalance |
| `poison` | the value of a record that can never be processed, and has to be passed by; it may count as processed |
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

import pytest

from ..views.group_snapshots import GroupSnapshot
from . import findings
from .application_cases import ApplicationCases, needs, needs_commits, needs_processed
from .disturbing import (
    commits_fail,
    coordinator_of,
    rebalance,
    verify_rest,
    verify_restart,
    verify_stayed,
    wait_hit,
)
from .lacking import INSTANCE_ID, skip_for_want_of
from .record_cases import RECORDS, RecordCases
from .sessions import postpone_sessions
from .transaction_cases import TransactionCases
from .under_test import ApplicationUnderTest
from .withheld_news import news_withheld


class ConsumerCases(ApplicationCases, RecordCases, TransactionCases):
    """Ready tests for a consumer application. Derive a test class from this one and define a
    fixture `kafka_app_under_test`. `application_cases.ApplicationCases` lists the class
    attributes that can be set."""

    # -- without disturbances
    # --------------------------------------------------------------------------------------------

    def test_everything_is_processed_and_committed(self, app: ApplicationUnderTest) -> None:
        """Records come, many or few, and nothing else happens. Then the application stops, and
        later goes on where it stopped. Offsets differ between partitions."""
        app.kafka.produce(app.application.topic, [b"record"] * 7, partition=0)
        app.produce(RECORDS)
        app.start()
        app.wait_done()
        mark = app.kafka.mark()
        for count in (RECORDS, 1, 7, RECORDS, 3):
            app.produce(count)
            app.wait_done()
        verify_rest(app, since=mark)
        app.stop_and_leave()
        app.produce(RECORDS)
        app.start()
        app.wait_done()
        app.verify()

    def test_it_stops_in_the_middle_of_its_work(self, app: ApplicationUnderTest) -> None:
        """The application is stopped in good order while records wait. Records that it has
        processed by then are committed, and are not processed again."""
        needs_processed(app)
        app.start()
        app.produce(RECORDS)
        app.wait_until(lambda: bool(app.processed()), "the application processed nothing")
        app.stop_and_leave()
        app.verify_committed()
        app.start()
        app.wait_done()
        app.verify()

    # -- rebalances
    # ------------------------------------------------------------------------------------------------------

    def test_another_member_comes_and_goes(self, app: ApplicationUnderTest) -> None:
        """A rebalance happens while records wait: partitions of the other member are its own
        until they come back."""
        app.start()
        with ExitStack() as until_told:
            if getattr(app.application, "postpone_work", None) is not None:
                self._produce_and_postpone(app)
                news = None
            # it is to hear of the rebalance in the middle of its work, not at its next heartbeat
            # some seconds later
            else:
                news = until_told.enter_context(news_withheld(app))
            with app.peer() as peer:
                if news is not None:
                    app.wait(findings.BLOCKS, "the other member did not appear", peers=1)
                    before = len(app.processed() or ())
                    with news.told_at_work(lambda: len(app.processed() or ()) > before):
                        app.produce(RECORDS)
                what = "the application did not rejoin when another member came"
                app.wait(findings.BLOCKS, what, state="Stable", peers=1, assigned="all")
                with app.others_own(peer):
                    self._resume(app)
                    app.produce_to_its_share(RECORDS)
        app.wait_alone()
        app.wait_done()
        app.verify()

    def test_another_member_gets_what_waits(self, app: ApplicationUnderTest) -> None:
        """The application has fetched records when it learns of a rebalance. Records of
        partitions that it loses, processed or not, are the other member's."""
        needs_processed(app)
        app.start()
        with news_withheld(app) as news, app.peer() as peer:
            app.wait(findings.BLOCKS, "the other member did not appear", peers=1)
            with news.told_at_work(app.has_fetched):
                app.produce(RECORDS)
            what = "the application did not rejoin when another member came"
            app.wait(findings.BLOCKS, what, state="Stable", peers=1, assigned="all")
            with app.others_own(peer):
                app.produce_to_its_share(RECORDS)
        app.wait_alone()
        app.wait_done()
        app.verify()

    def test_another_member_does_some_of_the_work(self, app: ApplicationUnderTest) -> None:
        """Records that another member committed are not processed again when its partitions come
        back."""
        needs_processed(app)
        if app.keeps_offsets:
            pytest.skip(
                f"{type(app.application).__name__} keeps its offsets itself: another member's are not among them"
            )
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        with app.peer() as peer:
            app.wait_shared()
            with app.others_own(peer):
                app.produce_to_its_share(RECORDS)
                app.peer_commits(peer)
        app.wait_alone()
        app.produce(RECORDS)
        app.wait_done()
        app.verify()

    def test_members_come_and_go_quickly(self, app: ApplicationUnderTest) -> None:
        """Three members join and leave before the rebalance is complete."""
        app.start()
        for _ in range(3):
            app.produce(RECORDS)
            with app.peer():
                app.wait(findings.BLOCKS, "the other member did not appear", peers=1)
        app.wait_alone()
        app.wait_done()
        app.verify()

    def test_a_rebalance_overtakes_a_commit(self, app: ApplicationUnderTest) -> None:
        """A commit is refused because a rebalance overtakes it. It may be sent again, or its
        records may be read again, but not neither."""
        needs_commits(app, instead="test_the_offsets_of_a_transaction_are_refused")
        app.start()
        app.disturbances += 1
        mark = app.kafka.mark()
        with commits_fail(app, times=1) as refused:
            app.produce(RECORDS)
            wait_hit(app, refused, "the application commits nothing")
        rebalance(app, "a commit was overtaken")
        app.wait_alone()
        app.produce(
            RECORDS
            # a client that keeps its place reads nothing again, and commits what was refused with
            # what comes next
        )
        app.wait_done()
        verify_stayed(app, since=mark)
        app.verify()

    def test_a_refused_commit_is_made_again(self, app: ApplicationUnderTest) -> None:
        """A commit is refused because a rebalance overtakes it, and no new record comes. The
        commit is sent again, or the record is read again, before the application stops or when
        it stops."""
        needs_commits(app, instead="test_the_offsets_of_a_transaction_are_refused")
        needs_processed(app)
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        app.disturbances += 1
        with commits_fail(app, times=1) as refused:
            app.produce(1)
            wait_hit(app, refused, "the application commits nothing")
        rebalance(app, "a commit was overtaken")
        app.wait_alone()
        app.wait_a_moment(app.is_done)
        app.stop_and_leave()
        app.verify_committed(findings.FORGETS)
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        app.verify()

    def test_assignors_are_mixed(self, app: ApplicationUnderTest) -> None:
        """A rolling deployment changes the assignor: another member offers a second one in
        addition to the group's."""
        app.start()
        if app.speaks_consumer:
            pytest.skip(
                "the coordinator assigns in a group of the consumer protocol (KIP-848): its members have no assignors to mix"
            )
        common = app.group.snapshot().assignor or "range"
        other = next(name for name in ("roundrobin", "range") if name != common)
        with app.peer(config={"partition.assignment.strategy": f"{other},{common}"}):
            app.wait_shared()
            assert app.group.snapshot().assignor == common
            app.produce(RECORDS)
        app.wait_alone()
        app.wait_done()
        app.verify()

    def test_its_listener_raises(self, app: ApplicationUnderTest) -> None:
        """The application's own rebalance listener raises an error."""
        needs(app, "fail_listener")
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        with app.fails_by_itself():
            app.application.fail_listener()
            with app.peer():
                # It may have failed and left before anybody looks.
                app.wait_until(
                    lambda: len(app.group.members) > len(app.members()) or not app.members(),
                    "the other member does not join",
                )
            self._recovered_or_ended(app)
        app.verify()

    # -- losses
    # ----------------------------------------------------------------------------------------------------------

    def test_it_dies_without_leaving(self, app: ApplicationUnderTest) -> None:
        """The process dies in the middle of its work; another one is started."""
        app.start()
        app.produce(RECORDS)
        app.wait_reached({(app.application.topic, 0): 1}, "the first record")
        app.produce(RECORDS)
        app.kill()
        app.start()
        app.wait_done()
        app.verify()

    def test_its_session_expires(self, app: ApplicationUnderTest) -> None:
        """The application's session expires before it could commit; another member gets a share,
        and then the application comes back."""
        needs_commits(app, also_transactions=True)
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        app.disturbances += 1
        with commits_fail(app) as refused, ExitStack() as held:
            self._produce_and_postpone(app)
            self._resume(app)
            wait_hit(app, refused, "the application commits nothing")
            names = Counter(member.client_id for member in app.members())
            for api in (
                "JoinGroup",
                "ConsumerGroupHeartbeat",
            ):  # it comes back when the other member has its share, and commits then
                for name, times in names.items():
                    held.enter_context(
                        app.kafka.hold(api, client_id=name, times=times, may_miss=True)
                    )
            with app.peer() as peer:
                # it may have unsubscribed by itself, and be about to subscribe again
                app.wait_until(
                    lambda: len(app.group.members) > len(app.members()),
                    "the other member did not appear",
                    findings.BLOCKS,
                )
                app.remove_members("its session expired")
                app.wait(
                    findings.NO_RECOVERY,
                    "the other member has no partitions",
                    members=1,
                    assigned="all",
                )
                refused.remove()
                held.close()
                app.wait_shared()
                with app.others_own(peer):
                    app.produce_to_its_share(RECORDS)
        app.wait_alone()
        app.wait_done()
        app.verify()

    def test_it_is_too_slow(self, app: ApplicationUnderTest) -> None:
        """One record takes longer than the rebalance timeout. The application is removed, and
        learns of it when it is done with the record."""
        needs(app, "hold_work", "resume_work")
        app.start()
        app.application.hold_work()
        try:
            app.produce(RECORDS)
            names = sorted({member.client_id for member in app.members()})
            app.told.removed |= {member.member_id for member in app.members()}
            with app.peer() as peer:
                rebalancing = "Reconciling" if app.speaks_consumer else "PreparingRebalance"
                app.wait(
                    findings.BLOCKS, "the other member did not appear", state=rebalancing, peers=1
                )
                # only the other member is awaited by what falls due
                app.kafka.advance(seconds=600, silent=names, grace=app.patience_s)
                app.wait(
                    findings.NO_RECOVERY,
                    "the other member has no partitions",
                    state="Stable",
                    members=1,
                    acted=True,
                )
                app.application.resume_work()
                app.wait(
                    findings.NO_RECOVERY,
                    "the application did not come back",
                    state="Stable",
                    peers=1,
                    assigned="all",
                    acted=True,
                )
                with app.others_own(peer):
                    app.produce_to_its_share(RECORDS)
        finally:
            app.application.resume_work()
        app.wait_alone()
        app.wait_done()
        app.verify()

    def test_static_members_restart(self, app: ApplicationUnderTest) -> None:
        """With a group.instance.id, a restart within the session timeout causes no rebalance; a
        later one does."""
        app.start()
        if app.member().instance_id is None:
            app.stop()
            skip_for_want_of(
                app.application, [INSTANCE_ID], f"is no static member: it has no {INSTANCE_ID}"
            )
        app.produce(RECORDS)
        app.wait_done()
        mark = app.kafka.mark()
        app.stop()
        postpone_sessions(app, app.patience_s)  # however long its start takes
        app.start()
        verify_restart(app, since=mark)
        name = app.member().instance_id or ""
        app.stop()
        app.group.expire(name)
        app.produce(RECORDS)
        app.start()
        app.wait_done()
        app.verify()

    # -- brokers
    # ---------------------------------------------------------------------------------------------------------

    @pytest.mark.kafka(
        brokers=3, config={"default.replication.factor": 3, "offsets.topic.replication.factor": 3}
    )
    def test_the_coordinator_moves_in_mid_rebalance(self, app: ApplicationUnderTest) -> None:
        """Another broker becomes the group's coordinator while the members wait for their
        assignment."""
        app.start()
        app.produce(RECORDS)
        learning = "ConsumerGroupHeartbeat" if app.speaks_consumer else "SyncGroup"
        with (
            app.kafka.hold(learning, group=app.application.group, times=1, may_miss=True) as held,
            app.peer(),
        ):
            wait_hit(
                app,
                held,
                "the application did not rejoin when another member came",
                findings.BLOCKS,
            )
            app.kafka.move_coordinator(app.application.group, to=coordinator_of(app) % 3 + 1)
            held.release()
            app.wait_shared()
        app.wait_alone()
        app.wait_done()
        app.verify()

    @pytest.mark.kafka(
        brokers=3, config={"default.replication.factor": 3, "offsets.topic.replication.factor": 3}
    )
    def test_brokers_restart_one_after_another(self, app: ApplicationUnderTest) -> None:
        """A rolling restart of all brokers."""
        app.start()
        for broker in (1, 2, 3):
            app.disturbances += 1
            with app.kafka.stop_broker(broker):
                app.produce(RECORDS)
                app.wait(
                    findings.NO_RECOVERY,
                    f"the application is not Stable without broker {broker}",
                    state="Stable",
                    assigned="all",
                )
            app.watch_brokers()
        app.produce(
            RECORDS
            # a client may send a commit again, behind a later one, that a broker took with it: the
            # next makes up for it
        )
        app.wait_done()
        app.verify()

    # -- inside
    # ----------------------------------------------------------------------------------------------------------

    def _produce_and_postpone(self, app: ApplicationUnderTest) -> None:
        """Write records. An application that can postpone its work has fetched all of them and
        processed none."""
        postpone = getattr(app.application, "postpone_work", None)
        if postpone is None:
            app.produce(RECORDS)
            return
        postpone()
        app.produce(RECORDS)
        app.wait_until(
            lambda: app.application.taken() >= RECORDS,
            "the application did not process what was written",
        )

    def _resume(self, app: ApplicationUnderTest) -> None:
        if getattr(app.application, "postpone_work", None) is not None:
            app.application.resume_work()

    def _recovered_or_ended(self, app: ApplicationUnderTest) -> None:
        """Wait until the application, after an error of its own, works again. If its members are
        gone, start it again."""
        app.wait_until(
            lambda: _has_ended(app) or _at_work(app.group.snapshot()),
            "the other member's leaving is not noticed",
            findings.BLOCKS,
        )
        if not _has_ended(app):
            # Its library may read already while its listener is yet to be called, and to fail:
            # whether it goes on is seen by what it does.
            app.produce(RECORDS)
            app.wait_until(
                lambda: _has_ended(app) or app.is_done(),
                "the application neither processed what was written then, nor ended",
            )
        if _has_ended(app):
            app.start_again()
        app.wait_alone()
        app.wait_done()


def _has_ended(app: ApplicationUnderTest) -> bool:
    """Return True if the application says that it failed, or has no member any more."""
    return getattr(app.application, "error", None) is not None or not app.members()


def _at_work(group: GroupSnapshot) -> bool:
    """Return True if the group is Stable and each member has acted on all its partitions."""
    return group.state == "Stable" and all(member.acted for member in group.members)
