"""Timeouts of random scenarios, each drawn separately, and faults that last until about the end of
one of them, so that judges of time see both outcomes.

The draws are separate: the rest of a scenario does not depend on them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..chance import Draws

_POLL_INTERVALS_MS: Final = (12_000, 20_000, 45_000, 45_000, 60_000)
"""Values of max.poll.interval.ms. A client waits so long for a JoinGroup response (CLI-12), and
a rebalance lasts so long at most. Some are shorter than a session, some longer."""
_HEARTBEATS_MS: Final = (500, 1_000, 3_000, 3_000)
_DELAYS_MS: Final = (0, 3_000, 3_000, 7_000)
_TRANSACTIONS_MS: Final = (8_000, 20_000, 20_000, 45_000)
_CONSUMER_SESSIONS_MS: Final = (12_000, 45_000, 45_000)
_RETENTION: Final = '"offsets.retention.minutes"'
_SLOWEST_MS: Final = 300
"""So long does the slowest application take over a record."""


class Times(NamedTuple):
    """Settings of a kind of members, as a scenario file has them, and how many records a poll may
    give, so that the slowest application polls in time."""

    config: list[str]
    most_records: int
    poll_ms: int


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
    return Times(config, poll_ms * 2 // 3 // _SLOWEST_MS, poll_ms)


def of_brokers(seed: int) -> list[str]:
    """Return settings of brokers: the initial delay, sessions of consumer groups, and, in one
    scenario of three, offsets that expire soon."""
    draws = Draws(seed, "swarm timing", "brokers")
    session_ms = draws.choice(_CONSUMER_SESSIONS_MS)
    config = [
        f'"group.initial.rebalance.delay.ms" = {draws.choice(_DELAYS_MS)}',
        f'"group.consumer.min.session.timeout.ms" = {session_ms}',
        f'"group.consumer.session.timeout.ms" = {session_ms}',
    ]
    if not draws.between(0, 2):
        config += [
            f"{_RETENTION} = 1",
            f'"offsets.retention.check.interval.ms" = {draws.choice((5_000, 20_000))}',
        ]
    return config


def idle_group(seed: int, lines: list[str]) -> list[str]:
    """Return a group whose members leave for good, or come back at about the time when offsets
    expire; only if offsets expire soon."""
    if not any(_RETENTION in line for line in lines):
        return []
    draws = Draws(seed, "swarm timing", "idle group")
    goes_s, protocol = draws.between(8, 40), draws.choice(("classic", "classic", "consumer"))
    found = [
        "[[members]]",
        'name = "brief"',
        'group = "brief"',
        f"count = {draws.between(1, 2)}",
        'topics = "orders"',
        f'protocol = "{protocol}"',
        f'assignor = "{"range" if protocol == "classic" else "uniform"}"',
        "reads = 10",
        'config = { "auto.commit.interval.ms" = 2000 }',
    ]
    found += _scaled(0, goes_s, draws.choice(("close", "close", "crash")))
    if not draws.between(0, 2):
        found += _scaled(1, goes_s + draws.between(50, 90), "close")
    return found


def _scaled(to: int, at_s: int, how: str) -> list[str]:
    return [
        "[[churn]]",
        'kind = "scale"',
        'members = "brief"',
        f"to = {to}",
        f'at = "{at_s}s"',
        f'how = "{how}"',
    ]


def of_transactions(seed: int) -> int:
    """Return transaction.timeout.ms of a transactional producer."""
    return Draws(seed, "swarm timing", "transactions").choice(_TRANSACTIONS_MS)


def faults(seed: int, busy_s: int, count: int, brokers: int, lines: list[str]) -> list[str]:
    """In half of the scenarios, return faults that silence a member while some timer runs; the
    coordinator may move meanwhile."""
    draws = Draws(seed, "swarm timing", "faults")
    if draws.between(0, 1):
        return []
    poll_s = of_members(seed, "app", None).poll_ms // 1000
    about_the_timeout = f'lasts = ["{poll_s + 1}s", "{poll_s + 10}s"]'
    if 'protocol = "consumer"' in lines and draws.between(0, 2):
        return _while_revoking(count, about_the_timeout)
    member = f"app-{draws.between(1, count)}"
    if "static = true" in lines and draws.between(0, 2):  # a generation begins without it
        moment = ['when = "join phase"', 'of = "app"', f"seen = {draws.between(2, 3)}"]
        silence = ['verb = "CutMember"', 'direction = "to_broker"']
        return _silent(silence, member, moment, about_the_timeout)
    whom = draws.choice((member, member, member, "pipe-1" if 'name = "pipe"' in lines else member))
    group = whom.partition("-")[0]
    silence = draws.choice(
        (
            ['verb = "PauseMember"'],
            ['verb = "CutMember"', 'direction = "to_broker"'],
            ['verb = "CutMember"', 'direction = "both"'],
        )
    )
    moment = draws.choice(
        (
            ['when = "assigned"', f'of = "{whom}"', f"seen = {draws.between(1, 3)}"],
            ['when = "sync phase"', f'of = "{group}"', f"seen = {draws.between(1, 3)}"],
            ['when = "join phase"', f'of = "{group}"', f"seen = {draws.between(2, 4)}"],
            [f'at = "{draws.between(5, busy_s // 2)}s"'],
        )
    )
    found = _silent(silence, whom, moment, f'lasts = ["8s", "{draws.between(10, busy_s)}s"]')
    if brokers > 1 and draws.between(0, 2):
        found += [
            "[[faults]]",
            'verb = "MoveCoordinator"',
            f'group = "{group}"',
            f"to = {draws.between(1, brokers)}",
            *(moment if moment[0].startswith("when") else [f'at = "{draws.between(5, busy_s)}s"']),
            *([f'later = "{draws.between(0, 15)}s"'] if moment[0].startswith("when") else []),
        ]
    return found


def _silent(silence: list[str], member: str, moment: list[str], lasts: str) -> list[str]:
    return ["[[faults]]", *silence, f'member = "{member}"', *moment, lasts]


def _while_revoking(count: int, lasts: str) -> list[str]:
    """Return faults that silence each member just after a revocation, so that it cannot confirm
    it to the coordinator."""
    silence = ['verb = "CutMember"', 'direction = "to_broker"']
    found: list[str] = []
    for number in range(1, count + 1):
        moment = ['when = "revoked"', f'of = "app-{number}"', "seen = 1"]
        found += _silent(silence, f"app-{number}", moment, lasts)
    return found
