"""Timeouts of random scenarios, each drawn by itself, and faults that last until one of them is
over: what judges of time are to see from both sides.

The draws are its own: the others of a seed are what they were without them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..chance import Draws

_POLL_INTERVALS_MS: Final = (12_000, 20_000, 45_000, 45_000, 60_000)
"""Who waits in vain for the answer to a JoinGroup, waits so long (CLI-12). A rebalance lasts so
long at most, a session may be longer or shorter."""
_HEARTBEATS_MS: Final = (500, 1_000, 3_000, 3_000)
_DELAYS_MS: Final = (0, 3_000, 3_000, 7_000)
_TRANSACTIONS_MS: Final = (8_000, 20_000, 20_000, 45_000)
_CONSUMER_SESSIONS_MS: Final = (12_000, 45_000, 45_000)
_SLOWEST_MS: Final = 300
"""So long does the slowest application take over a record."""


class Times(NamedTuple):
    """Settings of a kind of members, as a scenario file has them, and how many records a poll may
    give, so that the slowest application polls in time."""

    config: list[str]
    most_records: int


def of_members(seed: int, kind: str, session_ms: int | None) -> Times:
    """`session_ms`: None where brokers say it, in the consumer protocol."""
    draws = Draws(seed, "swarm timing", kind)
    poll_ms = draws.choice(_POLL_INTERVALS_MS)
    config = [f'"max.poll.interval.ms" = {poll_ms}']
    if session_ms is not None:
        config += [
            f'"session.timeout.ms" = {session_ms}',
            f'"heartbeat.interval.ms" = {draws.choice(_HEARTBEATS_MS)}',
        ]
    return Times(config, poll_ms * 2 // 3 // _SLOWEST_MS)


def of_brokers(seed: int) -> list[str]:
    """What brokers are set to: the initial delay, sessions of consumer groups, in one scenario of
    three offsets that expire soon."""
    draws = Draws(seed, "swarm timing", "brokers")
    session_ms = draws.choice(_CONSUMER_SESSIONS_MS)
    config = [
        f'"group.initial.rebalance.delay.ms" = {draws.choice(_DELAYS_MS)}',
        f'"group.consumer.min.session.timeout.ms" = {session_ms}',
        f'"group.consumer.session.timeout.ms" = {session_ms}',
    ]
    if not draws.between(0, 2):
        config += [
            '"offsets.retention.minutes" = 1',
            f'"offsets.retention.check.interval.ms" = {draws.choice((5_000, 20_000))}',
        ]
    return config


def of_transactions(seed: int) -> int:
    """transaction.timeout.ms of a transactional producer."""
    return Draws(seed, "swarm timing", "transactions").choice(_TRANSACTIONS_MS)


def faults(seed: int, busy_s: int, count: int, brokers: int, lines: list[str]) -> list[str]:
    """In half of the scenarios somebody falls silent at a moment that some timer is for, and a
    coordinator may move meanwhile."""
    draws = Draws(seed, "swarm timing", "faults")
    if draws.between(0, 1):
        return []
    member = f"app-{draws.between(1, count)}"
    silent = draws.choice(
        (
            ['verb = "PauseMember"'],
            ['verb = "CutMember"', 'direction = "to_broker"'],
            ['verb = "CutMember"', 'direction = "both"'],
        )
    )
    moments = [
        ['when = "revoked"', f'of = "{member}"', f"seen = {draws.between(1, 3)}"],
        ['when = "assigned"', f'of = "{member}"', f"seen = {draws.between(1, 3)}"],
        ['when = "sync phase"', 'of = "app"', f"seen = {draws.between(1, 3)}"],
        ['when = "join phase"', 'of = "app"', f"seen = {draws.between(2, 4)}"],
        [f'at = "{draws.between(0, busy_s // 2)}s"'],
    ]
    if 'name = "pipe"' in lines:
        moments += [[f'at = "{draws.between(5, busy_s // 2)}s"']]
    moment = moments[draws.between(0, len(moments) - 1)]
    if len(moments) > 5 and moment is moments[5]:
        member = f"pipe-{draws.between(1, 2)}"
    fault = ["[[faults]]", *silent, f'member = "{member}"', *moment]
    fault.append(f'lasts = ["8s", "{draws.between(10, busy_s)}s"]')
    if brokers == 1 or draws.between(0, 1):
        return fault
    at_s = draws.between(5, busy_s)
    to = draws.between(1, brokers)
    group = "pipe" if member.startswith("pipe") else "app"
    return [
        *fault,
        "[[faults]]",
        'verb = "MoveCoordinator"',
        f'group = "{group}"',
        f"to = {to}",
        f'at = "{at_s}s"',
    ]
