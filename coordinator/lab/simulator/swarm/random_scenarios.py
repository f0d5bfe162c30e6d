"""Random scenarios: one seed gives the text of one scenario file, so that a failing one can be
kept, replayed and made smaller.

Each seed draws its features (brokers, static members, consuming members, producers, applications
that work in transactions, churn, faults, triggers) and their settings. Judges of safety judge
the whole run; liveness counts from the last fault on. This module must not know the world.
"""

from __future__ import annotations

from ..chance import Draws
from . import rights, sharing, timing

_SETTLE_S = 150
"""Quiet time at the end: longer than any session timeout and rebalance timeout that is drawn,
together."""
_TOPICS = ('["orders"]', '["orders", "payments"]')
_DIRECTIONS = ("both", "to_broker", "from_broker")
_STOPS = ("controlled", "crash", "pause")
_ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
_RECORDS_POLLED = 100
"""A full poll of the slowest application takes 30 s: one that is slower than its poll interval
leaves the group again and again."""
_SOON_KNOWN = '"metadata.max.age.ms" = 10000'
"""Members learn of changed topics within 10 s. Java's consumer tries to commit for a deleted
topic until its rebalance timeout is over or its metadata are new; and a group assigns a new
topic only when its leader's metadata have it, which must be before the quiet part of the run."""
_TOPIC_VERBS = frozenset(
    f'verb = "{verb}"' for verb in ("CreatePartitions", "CreateTopic", "DeleteTopic")
)
_COMMITTED = '"isolation.level" = "read_committed"'
_BANDWIDTHS = (0, 0, 0, 4_000, 20_000)
_COMMITS = ("auto", "auto", "batch", "record", "none")
_FAILING = (
    ("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS"),
    ("JoinGroup", "COORDINATOR_NOT_AVAILABLE"),
    ("Heartbeat", "NOT_COORDINATOR"),
    ("SyncGroup", "REBALANCE_IN_PROGRESS"),
    ("OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS"),
    ("FindCoordinator", "COORDINATOR_NOT_AVAILABLE"),
)
_JUMPS_MS = (-86_400_000, -600_000, -1_000, 5_000, 1_800_000, 5_400_000, 8 * 86_400_000)
_LOST = (
    "JoinGroup",
    "SyncGroup",
    "OffsetCommit",
    "Heartbeat",
    "LeaveGroup",
    "Produce",
    "EndTxn",
    "TxnOffsetCommit",
)


def scenario_text(seed: int, minutes: int = 5) -> str:
    """Return the scenario of a seed: minutes of churn and faults, then quiet time."""
    draws, more = Draws(seed, "swarm", "scenario"), Draws(seed, "swarm", "features")
    speaks_consumer, isolation = (
        more.between(0, 4) == 0,
        more.choice(("read_uncommitted", "read_committed")),
    )
    network = Draws(seed, "swarm", "network")
    busy_s = minutes * 60
    brokers = draws.choice((1, 1, 3))
    count = draws.between(2, 5)
    consumes = draws.between(0, 3) == 0
    lines = [
        f'name = "swarm {seed}"',
        f'duration = "{busy_s + _SETTLE_S}s"',
        "[topics]",
        f"orders = {draws.between(1, 12)}",
        f"payments = {draws.between(1, 4)}",
        "invoices = 2",
        "[brokers]",
        f"count = {brokers}",
        _config(*_brokers(brokers, seed)),
        "[links]",
        f'delay = ["1ms", "{draws.between(2, 80)}ms"]',
        f"bandwidth = {network.choice(_BANDWIDTHS)}",
        "[[members]]",
        'name = "app"',
        f"count = {count}",
        f"topics = {draws.choice(_TOPICS)}",
        f'assignor = "{_assignor(draws.choice(_ASSIGNORS), speaks_consumer)}"',
        f"static = {draws.choice(('true', 'false'))}",
        f"reads = {draws.choice((0, 10))}",
    ]
    session_ms = draws.choice((10_000, 20_000, 45_000))
    times = timing.of_members(seed, "app", None if speaks_consumer else session_ms)
    most = min(times.most_records, _RECORDS_POLLED)
    polls = [f'"isolation.level" = "{isolation}"', f'"max.poll.records" = {most}']
    lines.append(_config(*times.config, *(polls if consumes else ())))
    if speaks_consumer:
        lines.append('protocol = "consumer"')
    if consumes:
        lines += [
            "consumes = true",
            f'commit = "{draws.choice(_COMMITS)}"',
            f'processing = "{draws.choice((0, 5, 300))}ms"',
        ]
        lines += _records(draws, busy_s, seed)
    whom = ["app"] * 3 + (["pipe"] if any('name = "pipe"' in line for line in lines) else [])
    for _ in range(draws.between(0, 3)):
        lines += _churn(draws, busy_s, count, draws.choice(whom))
    for _ in range(draws.between(0, 3)):
        lines += _fault(draws, busy_s, count, brokers)
    producers = [name for name in ("shop", "bank") if f'name = "{name}"' in lines]
    for _ in range(network.choice((0, 0, 1, 2))):
        lines += _network_fault(network, busy_s, count, brokers, producers)
    lines += _clock_faults(Draws(seed, "swarm", "clocks"), busy_s, count, brokers, producers)
    lines += _topic_faults(Draws(seed, "swarm", "topics"), busy_s)
    lines += _rare(Draws(seed, "swarm", "rare"), busy_s, lines)
    lines = _taken_over(Draws(seed, "swarm", "taken over"), busy_s, brokers, lines)
    lines += timing.faults(seed, busy_s, count, brokers, lines)
    lines += timing.idle_group(seed, lines)
    lines = sharing.added(lines, seed, busy_s, brokers)
    lines = rights.added(lines, seed, busy_s)
    if _TOPIC_VERBS.intersection(lines):
        lines = [
            line.replace('"max.poll.interval.ms"', f'{_SOON_KNOWN}, "max.poll.interval.ms"')
            for line in lines
        ]
    return "\n".join(
        [*lines, "[must]", f'stable_within = "{_SETTLE_S - 10}s"', 'may_fail = ["any"]', ""]
    )


def _assignor(drawn: str, speaks_consumer: bool) -> str:
    """Return the assignor's name: coordinators have other assignors than members."""
    return {"range": "range"}.get(drawn, "uniform") if speaks_consumer else drawn


def _config(*settings: str) -> str:
    return f"config = {{ {', '.join(settings)} }}"


def _brokers(brokers: int, seed: int) -> list[str]:
    return [
        '"offsets.topic.num.partitions" = 3',
        f'"default.replication.factor" = {brokers}',
        '"min.insync.replicas" = 2',
        *timing.of_brokers(seed),
    ]


def _records(draws: Draws, busy_s: int, seed: int) -> list[str]:
    """Return producers, and sometimes an application that works in transactions, with a reader
    of its output."""
    lines = [
        "[[producers]]",
        'name = "shop"',
        f"topics = {draws.choice(_TOPICS)}",
        f"rate = {draws.between(1, 4)}",
        f'stop = "{busy_s}s"',
    ]
    if draws.between(0, 1):
        lines += [
            "[[producers]]",
            'name = "bank"',
            'topics = "orders"',
            "rate = 2",
            "transactional = true",
            f"abort_every = {draws.between(0, 3)}",
            f'transaction = "{draws.between(1, 5)}s"',
            f'stop = "{busy_s}s"',
            f'config = {{ "transaction.timeout.ms" = {timing.of_transactions(seed)} }}',
        ]
    if draws.between(0, 1):
        lines += [
            "[[members]]",
            'name = "pipe"',
            'group = "pipe"',
            "count = 2",
            'topics = "orders"',
            'commit = "transaction"',
            'output = "invoices"',
            f'assignor = "{draws.choice(_ASSIGNORS)}"',
            _config(*timing.of_members(seed, "pipe", 10_000).config),
            "[[members]]",
            'name = "reader"',
            'group = "reader"',
            'topics = "invoices"',
            "consumes = true",
            _config(_COMMITTED, *timing.of_members(seed, "reader", 45_000).config),
        ]
    return lines


def _churn(draws: Draws, busy_s: int, count: int, kind_of_member: str) -> list[str]:
    kind = draws.choice(("poisson", "rolling", "restart", "stall", "scale", "waves"))
    at, how = draws.between(0, busy_s // 2), draws.choice(("close", "crash"))
    members = 2 if kind_of_member == "pipe" else count
    whom = (
        f"{kind_of_member}-{draws.between(1, members)}"
        if kind in ("restart", "stall")
        else kind_of_member
    )
    lines = ["[[churn]]", f'kind = "{kind}"', f'members = "{whom}"', f'how = "{how}"']
    trigger = draws.choice(("", "", "", "join phase", "sync phase", "commit"))
    if trigger and kind in ("restart", "stall"):
        lines += [
            f'when = "{trigger}"',
            f"seen = {draws.between(1, 4)}",
            f'later = "{draws.between(0, 500)}ms"',
        ]
    else:
        lines.append(f'at = "{at}s"')
    match kind:
        case "poisson":
            rates = draws.between(0, 60), draws.between(0, 60)
            lines += [
                f"arrivals_per_hour = {rates[0] or int(not rates[1])}",
                f"departures_per_hour = {rates[1]}",
                f'until = "{busy_s}s"',
            ]
        case "rolling" | "restart":
            times = draws.between(1, 4)
            lines += [f"times = {times}"] if kind == "restart" else []
            lines += [
                f'every = "{busy_s // 2 // max(times, members)}s"',
                f'down = "{draws.between(0, 30)}s"',
            ]
            if kind == "rolling" and draws.between(0, 2) == 0:
                lines.append("surge = true")
        case "stall":
            lines += [f'lasts = "{draws.between(1, busy_s // 2)}s"']
        case "waves":
            low = draws.between(1, 3)
            lines += [
                f"low = {low}",
                f"to = {low + draws.between(1, 3)}",
                f'every = "{max(busy_s // 2, 40)}s"',
            ]
        case _:
            lines += [f"to = {draws.between(1, 7)}"]
    return lines


def _network_fault(
    draws: Draws, busy_s: int, count: int, brokers: int, producers: list[str]
) -> list[str]:
    """Return faults of links, and of responses that producers wait for, so that they send again
    what was written already."""
    member, broker = f"app-{draws.between(1, count)}", draws.between(1, brokers)
    options = [
        [
            'verb = "SlowMember"',
            f'member = "{member}"',
            f"bytes_per_second = {draws.choice((200, 1_000, 5_000))}",
        ],
        [
            'verb = "CutMember"',
            f'member = "{member}"',
            f"broker = {broker}",
            f'direction = "{draws.choice(_DIRECTIONS)}"',
        ],
        ['verb = "CutClient"', f'client_id = "{member}"', f"broker = {broker}"],
    ]
    for name in producers:
        options += [
            [
                'action = "lose_answer"',
                'api = "Produce"',
                f'client_id = "{name}-1"',
                f"times = {draws.between(1, 3)}",
                "may_miss = true",
            ],
            [
                'action = "disconnect"',
                "after = true",
                'api = "Produce"',
                f'client_id = "{name}-1"',
                "probability = 0.1",
                "may_miss = true",
            ],
            [f'verb = "{draws.choice(("SlowMember", "CutMember"))}"', f'member = "{name}-1"'],
        ]
        if options[-1][0] == 'verb = "SlowMember"':
            options[-1].append("bytes_per_second = 300")
    if brokers > 1:
        other = broker % brokers + 1
        options += [
            ['verb = "CutLink"', f"one = {broker}", f"other = {other}"],
            ['verb = "FenceBroker"', f"broker = {broker}"],
            ['verb = "SlowLoad"', f"broker = {broker}", f"load_ms = {draws.between(100, 8_000)}"],
            [
                'verb = "SlowFollower"',
                f"broker = {broker}",
                f"delay_ms = {draws.between(100, 20_000)}",
            ],
            ['verb = "MoveLeader"', 'topic = "orders"', "partition = 0", f"to = {broker}"],
        ]
    begins = f'at = "{draws.between(5, busy_s // 2)}s"'
    return [
        "[[faults]]",
        *draws.choice(options),
        begins,
        f'lasts = ["1s", "{draws.between(1, busy_s // 2)}s"]',
    ]


def _clock_faults(
    draws: Draws, busy_s: int, count: int, brokers: int, producers: list[str]
) -> list[str]:
    """In one scenario of four, return jumps of wall clocks. The draws are separate: other
    features do not depend on them."""
    lines: list[str] = []
    for _ in range(draws.choice((0, 0, 0, 0, 0, 0, 1, 2))):
        host = draws.choice(
            (f"app-{draws.between(1, count)}", *(f"{name}-1" for name in producers))
        )
        broker = draws.between(1, brokers)
        whose = draws.choice(
            (
                ['verb = "JumpClock"', f"broker = {broker}"],
                ['verb = "JumpMemberClock"', f'member = "{host}"'],
            )
        )
        lines += [
            "[[faults]]",
            *whose,
            f"by_ms = {draws.choice(_JUMPS_MS)}",
            f'at = "{draws.between(5, busy_s // 2)}s"',
        ]
        if draws.between(0, 1):
            lines.append(f'lasts = ["1s", "{draws.between(1, busy_s // 2)}s"]')
    return lines


def _topic_faults(draws: Draws, busy_s: int) -> list[str]:
    """In one scenario of six, return a topic that grows, is deleted, or exists for a while. The
    draws are separate."""
    if draws.between(0, 5):
        return []
    verb = draws.choice(("CreatePartitions", "CreatePartitions", "DeleteTopic", "CreateTopic"))
    topic = {"CreatePartitions": "orders", "DeleteTopic": "payments", "CreateTopic": "returns"}[
        verb
    ]
    lines = [
        "[[faults]]",
        f'verb = "{verb}"',
        f'topic = "{topic}"',
        f'at = "{draws.between(5, busy_s // 2)}s"',
    ]
    if verb != "DeleteTopic":
        lines.append(f"partitions = {draws.between(13, 20)}")
    if verb != "CreatePartitions" and draws.between(0, 1):
        lines.append(f'lasts = ["1s", "{draws.between(1, busy_s // 2)}s"]')
    return lines


def _rare(draws: Draws, busy_s: int, lines: list[str]) -> list[str]:
    """Return rare events: a process with the identity of another one, and a producer that is
    away for longer than its transaction."""
    more: list[str] = []
    if (
        "static = true" in lines
        and 'protocol = "consumer"' not in lines
        and not draws.between(0, 3)
    ):
        app = lines.index('name = "app"')
        alike = [
            line
            for line in lines[app : app + 12]
            if line.startswith(("assignor", "reads", "config", "consumes", "commit"))
        ]
        more += [
            "[[members]]",
            'name = "twin"',
            'group = "app"',
            'topics = "orders"',
            f'start = "{draws.between(10, busy_s // 2)}s"',
            *(
                line.replace("config = {", 'config = { "group.instance.id" = "app-1",')
                for line in alike
            ),
        ]
    if 'name = "bank"' in lines and draws.between(0, 1):
        at = f'at = "{draws.between(5, busy_s // 2)}s"'
        more += [
            "[[faults]]",
            'verb = "PauseMember"',
            'member = "bank-1"',
            at,
            'lasts = ["25s", "60s"]',
        ]
    return more


def _taken_over(draws: Draws, busy_s: int, brokers: int, lines: list[str]) -> list[str]:
    """In half of the scenarios with transactions on several brokers, add a change of coordinator
    while markers of transactions are in flight. The draws are separate."""
    transactional = {'name = "bank"', 'name = "pipe"'}.intersection(lines)
    if brokers < 2 or not transactional or draws.between(0, 1):
        return lines
    at_s, first = draws.between(5, busy_s // 2), draws.between(1, brokers)
    held = draws.choice(
        (
            ['action = "delay"', f"duration_ms = {draws.between(4, 20)}000"],
            ['action = "lose_request"'],
        )
    )
    more = [
        "[[faults]]",
        *held,
        'api = "WriteTxnMarkers"',
        f'at = "{at_s}s"',
        f'lasts = "{draws.between(3, 9)}s"',
        "may_miss = true",
    ]
    for later_s, to in ((2, first), (4, first % brokers + 1)):
        more += [
            "[[faults]]",
            'verb = "MoveLeader"',
            'topic = "__transaction_state"',
            "partition = 0",
            f"to = {to}",
            f'at = "{at_s + later_s}s"',
        ]
    one = '"offsets.topic.num.partitions" = 3'
    return [
        *(
            line.replace(one, f'{one}, "transaction.state.log.num.partitions" = 1')
            for line in lines
        ),
        *more,
    ]


def _fault(draws: Draws, busy_s: int, count: int, brokers: int) -> list[str]:
    member = f"app-{draws.between(1, count)}"
    broker = draws.between(1, brokers)
    api, error = draws.choice(_FAILING)
    options = [
        [
            'verb = "CutMember"',
            f'member = "{member}"',
            f'direction = "{draws.choice(_DIRECTIONS)}"',
        ],
        ['verb = "PauseMember"', f'member = "{member}"'],
        ['verb = "ResetMember"', f'member = "{member}"'],
        [
            'action = "fail"',
            f'api = "{api}"',
            f'error = "{error}"',
            f"times = {draws.between(1, 5)}",
            "may_miss = true",
        ],
        [
            'action = "lose_answer"',
            f'api = "{draws.choice(_LOST)}"',
            f"times = {draws.between(1, 3)}",
            "may_miss = true",
        ],
    ]
    if brokers > 1:
        options += [
            ['verb = "StopBroker"', f"broker = {broker}", f'how = "{draws.choice(_STOPS)}"'],
            ['verb = "MoveCoordinator"', 'group = "app"', f"to = {broker}"],
        ]
    trigger = draws.choice(("", "", "join phase", "sync phase", "commit"))
    if trigger:
        begins = [
            f'when = "{trigger}"',
            'of = "app"',
            f"seen = {draws.between(1, 4)}",
            f'later = "{draws.between(0, 200)}ms"',
        ]
    else:
        begins = [f'at = "{draws.between(5, busy_s // 2)}s"']
    longest, chosen = draws.between(1, busy_s // 2), draws.choice(options)
    undone = [] if 'verb = "ResetMember"' in chosen else [f'lasts = ["1s", "{longest}s"]']
    return ["[[faults]]", *chosen, *begins, *undone]
