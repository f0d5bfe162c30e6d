"""What ready tests do to an application's commits and to its group, in the words of the protocol that it speaks.

A group of the consumer protocol (KIP-848) has no rebalance that all members join: other errors, and another member, stand for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..control.own_requests import ControlError
from . import findings
from .findings import Finding
from .under_test import PARTITIONS, PATIENCE_S, ApplicationError, ApplicationUnderTest

if TYPE_CHECKING:
    from ..control.fault_board import FaultHandle


def commits_fail(app: ApplicationUnderTest, times: int | None = None) -> FaultHandle:
    """Refuse its commits as one is refused that a rebalance overtook."""
    api, error = "OffsetCommit", "STALE_MEMBER_EPOCH" if app.speaks_consumer else "REBALANCE_IN_PROGRESS"
    if app.transactional:
        api, error = "TxnOffsetCommit", "ILLEGAL_GENERATION"
    return app.kafka.fail(api, error, group=app.application.group, times=times, may_miss=True)


def rebalance(app: ApplicationUnderTest, reason: str) -> None:
    """Let its group rebalance; in the consumer protocol another member comes and goes."""
    if app.speaks_consumer:
        with app.peer():
            app.wait_shared()
        return
    app.wait(findings.NO_RECOVERY, "the application is no settled member", state="Stable", assigned="all")
    try:
        app.group.rebalance(reason)
    except ControlError as error:
        if not app.members():  # those that there are rebalance already
            found = Finding(findings.LEAVES, f"it has left where its group was to rebalance: {error}")
            raise ApplicationError([found, *app.findings()]) from None


@contextmanager
def news_withheld(app: ApplicationUnderTest) -> Iterator[FaultHandle]:
    """It hears of no rebalance until what this gives is released, at the end of the block at the latest: its heartbeat is held."""
    api = "ConsumerGroupHeartbeat" if app.speaks_consumer else "Heartbeat"
    with app.kafka.hold(api, group=app.application.group, times=1, may_miss=True) as held:
        wait_hit(app, held, "the application sends no heartbeats")
        yield held


def wait_hit(app: ApplicationUnderTest, fault: FaultHandle, what: str, name: str = findings.NO_RECOVERY) -> None:
    """Wait until the application met a fault. Raises ApplicationError, with what else is wrong with it, if it does not."""
    try:
        fault.wait_hit(timeout=max(app.patience_s, PATIENCE_S))
    except ControlError as error:
        raise ApplicationError([*app.findings(), Finding(name, f"{what}: {error}")]) from None


def waits_for_commits(app: ApplicationUnderTest, wait_s: float) -> bool:
    """Whether it processes nothing more while one of its commits is not answered, for so many seconds.

    An application that commits asynchronously, or leaves commits to its library, goes on; it is told of no error either.
    """
    with app.kafka.hold("OffsetCommit", group=app.application.group, times=1, may_miss=True) as held:
        app.produce(PARTITIONS)
        wait_hit(app, held, "the application commits nothing")
        before, until = len(app.processed() or ()), time.monotonic() + wait_s
        app.produce(10 * PARTITIONS)
        while len(app.processed() or ()) <= before:
            if time.monotonic() > until:
                return True
            time.sleep(0.005)
    return False
