"""Share groups in random scenarios: in one of four there is one, with a topic of its own, producers
for it, and faults of its members, its coordinator and the leaders of its partitions.

The draws are separate: the rest of a scenario does not depend on them.
"""

from __future__ import annotations

from typing import Final

from ..chance import Draws

_PROCESSING_MS: Final = (0, 20, 20, 300)
_POLLED: Final = (1, 5, 20, 60)
_LOCKS_MS: Final = (15_000, 15_000, 30_000)
"""A slow application with a full poll is at work for longer than the shorter one."""
_RENEWALS_MS: Final = (0, 5_000, 20_000)
"""Never, while the locks last, and too late for the shorter one."""
_LIMITS: Final = (2, 3, 5, 5)
_SESSIONS_MS: Final = (45_000, 45_000, 60_000)
_LOST: Final = ("ShareFetch", "ShareAcknowledge", "ShareGroupHeartbeat")
_FAILING: Final = (
    ("ShareFetch", "NOT_LEADER_OR_FOLLOWER"),
    ("ShareFetch", "SHARE_SESSION_NOT_FOUND"),
    ("ShareAcknowledge", "SHARE_SESSION_NOT_FOUND"),
    ("ShareAcknowledge", "INVALID_RECORD_STATE"),
    ("ShareGroupHeartbeat", "UNKNOWN_MEMBER_ID"),
    ("ShareGroupHeartbeat", "NOT_COORDINATOR"),
    ("ShareGroupHeartbeat", "COORDINATOR_LOAD_IN_PROGRESS"),
)
_BROKERS: Final = '"min.insync.replicas" = 2'
_LETTERS: Final = '"errors.deadletterqueue.auto.create.topics.enable" = true'
_STOPS: Final = ("controlled", "crash", "pause")
_DIRECTIONS: Final = ("both", "to_broker", "from_broker")


def added(lines: list[str], seed: int, busy_s: int, brokers: int) -> list[str]:
    """Add a share group to one scenario of four; return the lines."""
    draws = Draws(seed, "swarm", "shares")
    if draws.between(0, 3):
        return lines
    at = lines.index("[topics]") + 1
    topics = [f"jobs = {draws.between(1, 4)}"]
    count = draws.between(1, 4)
    renew_ms = Draws(seed, "swarm", "shares that renew").choice(_RENEWALS_MS)
    group, members = _group(draws), _members(draws, count, renew_ms)
    found = [*lines[:at], *topics, *lines[at:], *group, *members]
    found = [line.replace(_BROKERS, f"{_BROKERS}, {_LETTERS}") for line in found]
    found += _producers(draws, busy_s)
    for _ in range(draws.between(0, 2)):
        found += _churn(draws, busy_s, count)
    for _ in range(draws.between(0, 3)):
        found += _fault(draws, busy_s, count, brokers)
    if brokers > 1:
        found += _moves(Draws(seed, "swarm", "shares that move"), brokers)
    return found


def _moves(draws: Draws, brokers: int) -> list[str]:
    """Return moves of a partition's leader while records are in flight: none, one or three."""
    lines: list[str] = []
    for number in range(draws.choice((0, 1, 3))):
        lines += [
            "[[faults]]",
            'verb = "MoveLeader"',
            'topic = "jobs"',
            "partition = 0",
            f"to = {draws.between(1, brokers)}",
            'when = "acknowledged"',
            'of = "workers"',
            f"seen = {8 * number + draws.between(2, 8)}",
            f'later = "{draws.between(0, 400)}ms"',
        ]
    return lines


def _group(draws: Draws) -> list[str]:
    lock_ms = draws.choice(_LOCKS_MS)
    settings = [
        f'"share.record.lock.duration.ms" = {lock_ms}',
        f'"share.delivery.count.limit" = {draws.choice(_LIMITS)}',
        f'"share.session.timeout.ms" = {draws.choice(_SESSIONS_MS)}',
        f'"share.auto.offset.reset" = "{draws.choice(("earliest", "earliest", "latest"))}"',
        f'"share.isolation.level" = "{draws.choice(("read_uncommitted", "read_committed"))}"',
        f'"share.partition.max.record.locks" = {draws.choice((100, 2_000))}',
    ]
    if draws.between(0, 1):
        settings.append('"errors.deadletterqueue.topic.name" = "dlq.jobs"')
    return ["[[groups]]", 'name = "workers"', f"config = {{ {', '.join(settings)} }}"]


def _members(draws: Draws, count: int, renew_ms: int) -> list[str]:
    mode = draws.choice(("implicit", "explicit", "explicit", "explicit"))
    most, acquire = draws.choice(_POLLED), draws.choice(("batch_optimized", "record_limit"))
    lines = [
        "[[members]]",
        'name = "worker"',
        'protocol = "share"',
        'group = "workers"',
        f"count = {count}",
        'topics = "jobs"',
        f'processing = "{draws.choice(_PROCESSING_MS)}ms"',
        f'config = {{ "max.poll.records" = {most}, "share.acquire.mode" = "{acquire}", "share.acknowledgement.mode" = "{mode}" }}',
    ]
    if not draws.between(0, 2):
        lines.append(f"repeats = {draws.between(1, 5)}")
    if mode == "explicit":
        lines += [
            f"release = {draws.choice((0, 0.1, 0.3))}",
            f"reject = {draws.choice((0, 0.02, 0.1))}",
            f"poison = {draws.choice((0, 0, 7))}",
            f'renew = "{renew_ms}ms"',
        ]
    return lines


def _producers(draws: Draws, busy_s: int) -> list[str]:
    lines = [
        "[[producers]]",
        'name = "source"',
        'topics = "jobs"',
        f"rate = {draws.between(1, 5)}",
        f'stop = "{busy_s}s"',
        f'config = {{ "linger.ms" = {draws.choice((0, 200, 2_000))} }}',
    ]
    if not draws.between(0, 2):
        lines += [
            "transactional = true",
            f"abort_every = {draws.between(0, 3)}",
            f'transaction = "{draws.between(1, 3)}s"',
        ]
    return lines


def _churn(draws: Draws, busy_s: int, count: int) -> list[str]:
    kind, how = (
        draws.choice(("restart", "restart", "rolling", "stall", "scale")),
        draws.choice(("close", "crash")),
    )
    one = kind in ("restart", "stall")
    whom = f"worker-{draws.between(1, count)}" if one else "worker"
    lines = ["[[churn]]", f'kind = "{kind}"', f'members = "{whom}"', f'how = "{how}"']
    if one and draws.between(0, 1):
        lines += _when(draws, whom)
    else:
        lines.append(f'at = "{draws.between(0, busy_s // 2)}s"')
    match kind:
        case "stall":
            lines.append(f'lasts = "{draws.between(1, busy_s // 2)}s"')
        case "scale":
            lines.append(f"to = {draws.between(1, 5)}")
        case _:
            times = draws.between(1, 4)
            lines += [f"times = {times}"] if kind == "restart" else []
            lines += [
                f'every = "{max(busy_s // 2 // max(times, count), 1)}s"',
                f'down = "{draws.between(0, 20)}s"',
            ]
    return lines


def _when(draws: Draws, whom: str) -> list[str]:
    """Return a trigger at which a member holds records, or has just acknowledged some."""
    return [
        f'when = "{draws.choice(("poll", "acknowledged"))}"',
        f'of = "{whom}"',
        f"seen = {draws.between(1, 6)}",
        f'later = "{draws.between(0, 200)}ms"',
    ]


def _fault(draws: Draws, busy_s: int, count: int, brokers: int) -> list[str]:
    member, broker = f"worker-{draws.between(1, count)}", draws.between(1, brokers)
    api, error = draws.choice(_FAILING)
    direction = draws.choice(_DIRECTIONS)
    options = [
        ['verb = "PauseMember"', f'member = "{member}"'],
        ['verb = "CutMember"', f'member = "{member}"', f'direction = "{direction}"'],
        ['verb = "ResetMember"', f'member = "{member}"'],
        _of_requests(draws, "lose_answer", draws.choice(_LOST)),
        _of_requests(draws, "lose_request", draws.choice(_LOST)),
        [*_of_requests(draws, "fail", api), f'error = "{error}"'],
    ]
    if brokers > 1:
        stop = ['verb = "StopBroker"', f"broker = {broker}", f'how = "{draws.choice(_STOPS)}"']
        move = ['verb = "MoveLeader"', 'topic = "jobs"', "partition = 0", f"to = {broker}"]
        to = ['verb = "MoveCoordinator"', 'group = "workers"', f"to = {broker}"]
        options += [stop, move, move, to]
    chosen = draws.choice(options)
    begins = (
        _when(draws, member)
        if draws.between(0, 1)
        else [f'at = "{draws.between(5, busy_s // 2)}s"']
    )
    longest = draws.between(1, busy_s // 2)
    undone = [] if 'verb = "ResetMember"' in chosen else [f'lasts = ["1s", "{longest}s"]']
    return ["[[faults]]", *chosen, *begins, *undone]


def _of_requests(draws: Draws, action: str, api: str) -> list[str]:
    return [
        f'action = "{action}"',
        f'api = "{api}"',
        f"times = {draws.between(1, 4)}",
        "may_miss = true",
    ]
