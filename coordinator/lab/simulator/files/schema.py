"""The keys of a scenario file: their names, types and meaning. Data; the checks, the JSON schema
and the documentation use it.

Durations are whole milliseconds or texts such as "500ms", "30s", "5m" and "2h".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from coordinator.kit.faults import ACTIONS
from coordinator.members.requests import CLIENT_VERSIONS

from ..conditions import EXAMPLES, PATTERN
from ..triggers import WHEN
from ..work import QUANTILES

_DURATION = re.compile(r"([0-9]{1,9})(ms|s|m|h)")
_MOST_DURATION_MS = 366 * 86_400_000
MOST: Final = 100_000_000_000
"""The largest whole number that a key takes."""
_PARAMETER = r"^\$\w+$"
_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


@dataclass(frozen=True, slots=True)
class Key:
    """One key. `kind`: the type of its value. `choices`: the allowed words, apart from texts
    that match the regular expression `others`, of which `such_as` has examples. `default`: None
    if there is none."""

    kind: str
    doc: str
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    others: str = ""
    such_as: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of keys. `several`: an array of such tables. `others`: any further key is taken, with
    a value of this kind."""

    doc: str
    keys: dict[str, Key]
    several: bool = False
    others: str = ""


def duration_ms(value: object) -> int | None:
    """Return a duration in milliseconds; None for a value that is no duration, or longer than
    any run."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    read = value if match is None else int(match[1]) * _UNIT_MS[match[2]]
    return read if type(read) is int and 0 <= read <= _MOST_DURATION_MS else None


WHAT_KINDS_TAKE: Final = {
    "text": 'a text, such as "app"',
    "count": f"a whole number from 0 to {MOST}",
    "flag": "true or false",
    "probability": "a number from 0 to 1",
    "duration": 'a duration, such as "30s" or "5m", or whole milliseconds, of at most 366 days (8784h)',
    "range": 'a duration, or two for the shortest and the longest, such as ["1ms", "20ms"]',
    "names": 'a text, or several, such as ["orders", "payments"]',
    "settings": "a table of texts, numbers and flags",
    "durations": 'a table of durations, such as { "orders-3" = "500ms" }',
    "work": "a duration, two for the shortest and the longest, or a table of some of "
    f'{", ".join(QUANTILES)}, such as {{ p50 = "10ms", p99 = "1s" }}',
}

NOTHING_SAID: Final[tuple[Any, ...]] = (None, "", [], {})
"""Defaults that say nothing: what holds then, the key's `doc` says."""
DEFAULT_HOT_SHARE: Final = 50
HOW: Final = ("close", "crash")
_TRIGGER = {
    "when": Key(
        "text",
        "instead of `at`: it happens once this is seen",
        choices=tuple(WHEN),
        others=PATTERN,
        such_as=EXAMPLES,
    ),
    "of": Key("text", "with when: the group or member in which it is seen (default: any)", ""),
    "seen": Key("count", "with when: the number of times it has to be seen", 1),
    "later": Key("duration", "with when: the delay after that", "0s"),
    "again": Key("count", "with when: the number of further times that a state counts", 0),
    "pause": Key("duration", "with when: the least time between two times that it counts", "30s"),
}
_WHEN = {
    **_TRIGGER,
    "at": Key("duration", "when it happens first", "0s"),
    "every": Key("duration", "the time from one repetition to the next", "60s"),
    "times": Key("count", "how often it happens", 1),
}

TABLES: Final[dict[str, Table]] = {
    "": Table(
        "A scenario.",
        {
            "name": Key("text", "name of the scenario", ""),
            "lesson": Key("text", "the lesson of the scenario, in a sentence or two", ""),
            "duration": Key("duration", "length of the run", "10m"),
            "extends": Key(
                "text",
                "another file beside this one, or a shipped scenario, from which keys that are missing here are taken",
            ),
        },
    ),
    "parameters": Table(
        'Values for "$name" anywhere below, and for "${name}" within a text.',
        {},
        others="any",
    ),
    "topics": Table("Topics with their numbers of partitions.", {}, others="count"),
    "brokers": Table(
        "The cluster.",
        {
            "count": Key("count", "number of brokers; their ids are 1, 2, ...", 1),
            "config": Key("settings", "broker settings by Kafka's names", {}),
            "kafka_version": Key(
                "text",
                "the Kafka release to behave as, such as 4.3 (default: the newest)",
                "",
            ),
            "zones": Key(
                "names",
                "zones (broker.rack), assigned to the brokers in turn",
                [],
            ),
            "requests_per_second": Key(
                "count",
                "requests a second that each broker handles, others wait in a queue; 0: no limit",
                0,
            ),
            "metadata_delay": Key(
                "duration", "delay until brokers learn of the controller's decisions", 0
            ),
        },
    ),
    "links": Table(
        "The network between members and brokers.",
        {
            "delay": Key("range", "time that a message takes, one way", ["1ms", "5ms"]),
            "between_zones": Key(
                "range", "the same between a client and a broker of another zone (default: delay)"
            ),
            "bandwidth": Key(
                "count",
                "bytes a second in each direction between a member and a broker; 0: no limit",
                0,
            ),
        },
    ),
    "security": Table(
        "Permissions. There is no login: a client's user is set by its kind.",
        {
            "acls": Key(
                "names",
                "ACLs, such as User:billing may Read group app; everything else is refused (default: no ACLs, "
                "everything is allowed)",
                [],
            ),
        },
    ),
    "members": Table(
        "A kind of member, and how many of them.",
        {
            "name": Key(
                "text", "client ids are this name and a number: NAME-1, NAME-2, ...", required=True
            ),
            "count": Key("count", "how many start", 1),
            "group": Key("text", "group.id", "app"),
            "topics": Key("names", "what they subscribe to", required=True),
            "assignor": Key(
                "names",
                "partition.assignment.strategy (default: range, cooperative-sticky), or group.remote.assignor",
                [],
            ),
            "protocol": Key(
                "text",
                "the group protocol; share: they are members of a share group (KIP-932)",
                "classic",
                choices=("classic", "consumer", "share"),
            ),
            "static": Key(
                "flag",
                "whether each is a static member, with its client id as group.instance.id",
                False,
            ),
            "start": Key(
                "range", "each starts at an instant drawn between these two", ["0s", "1s"]
            ),
            "reads": Key(
                "count",
                "records a second by which each member's position in each of its partitions grows, without fetching, "
                "unless consumes is true",
                10,
            ),
            "consumes": Key("flag", "whether members really fetch and process records", False),
            "processing": Key(
                "work",
                "processing time of a record: constant, drawn between two values, or given by quantiles",
                "0ms",
            ),
            "per": Key(
                "text",
                "processing: whether the time is drawn for each record or once for each key",
                "record",
                choices=("record", "key"),
            ),
            "slow": Key(
                "durations",
                "additional processing time for records of single partitions, such as orders-3",
                {},
            ),
            "on_poison": Key(
                "text",
                "poison: what a poison record does to the application",
                "fails",
                choices=("fails", "crashes", "hangs"),
            ),
            "assigning": Key(
                "duration",
                "time that the assignor takes when one of these members is the group's leader",
                0,
            ),
            "transactional_id": Key(
                "text",
                'commit = "transaction": the transactional.id of all of them (default: each has its own)',
                "",
            ),
            "late": Key(
                "range",
                "drawn delay of each heartbeat after it is due, as in a process that checks its timers only from time "
                "to time",
                [0, 0],
            ),
            "restarts": Key(
                "range",
                "restart a process that ended with an error after this time, doubled each time (default: no restart)",
            ),
            "release": Key(
                "probability",
                'protocol = "share": probability that a record is released, to be delivered again',
                0,
            ),
            "reject": Key(
                "probability",
                'protocol = "share": probability that a record is rejected',
                0,
            ),
            "renew": Key(
                "duration",
                'protocol = "share": processing time after which a member renews the locks of its records, '
                "repeatedly; 0: never",
                0,
            ),
            "poison": Key(
                "count",
                "every n-th record of a partition cannot be processed: it is released, or on_poison says what "
                "happens; 0: none",
                0,
            ),
            "commit": Key(
                "text",
                "commits: automatically, after each batch, after each record, never, or in a pipeline's transactions",
                "auto",
                choices=("auto", "batch", "record", "none", "transaction"),
            ),
            "repeats": Key(
                "count",
                'protocol = "share": every n-th request of a share session arrives twice, as through a proxy; 0: none',
                0,
            ),
            "output": Key(
                "text",
                'commit = "transaction": the topic to which a pipeline writes one record for each that it reads',
            ),
            "user": Key(
                "text",
                "security.acls: their user, NAME or User:NAME (default: User:ANONYMOUS)",
                "",
            ),
            "zone": Key("text", "their zone (client.rack), one of brokers.zones", ""),
            "delay": Key("range", "time that their messages take, one way (default: links.delay)"),
            "bandwidth": Key("count", "bandwidth of their links (default: links.bandwidth)"),
            "versions": Key(
                "text",
                "request versions: newest, or those of an older Kafka client",
                "newest",
                choices=tuple(CLIENT_VERSIONS),
            ),
            "config": Key("settings", "further consumer settings by Kafka's names", {}),
        },
        several=True,
    ),
    "groups": Table(
        "A group's own configuration.",
        {
            "name": Key("text", "group id, as in members.group", required=True),
            "config": Key("settings", "settings of the group by Kafka's names", {}),
        },
        several=True,
    ),
    "producers": Table(
        "A kind of producer, and how many of them.",
        {
            "name": Key(
                "text", "client ids are this name and a number: NAME-1, NAME-2, ...", required=True
            ),
            "count": Key("count", "how many start", 1),
            "topics": Key("names", "topics to write to, to each partition in turn", required=True),
            "rate": Key("count", "records a second of each producer, at least 1", 10),
            "batch": Key(
                "count",
                "records sent together to one partition, before the next partition's turn (default: those of a "
                "quarter of a second)",
            ),
            "start": Key(
                "range", "each starts at an instant drawn between these two", ["0s", "1s"]
            ),
            "stop": Key("duration", "end of sending (default: 30 s before the end)"),
            "transactional": Key(
                "flag",
                "whether each uses transactions, with its client id as transactional.id",
                False,
            ),
            "transactional_id": Key(
                "text",
                "with transactional: one transactional.id for all of them, instead of the client id",
                "",
            ),
            "transaction": Key("duration", "time that each transaction stays open", "1s"),
            "keys": Key(
                "count",
                "number of different keys, which decide the partition; 0: records without keys",
                0,
            ),
            "hot_keys": Key(
                "count", "with keys: number of hot keys, which are sent much more often", 0
            ),
            "hot_share": Key(
                "count",
                "with hot_keys: percentage of the records that have a hot key",
                DEFAULT_HOT_SHARE,
            ),
            "abort_every": Key(
                "count", "every n-th transaction is aborted by the application; 0: none", 0
            ),
            "user": Key(
                "text",
                "security.acls: their user, NAME or User:NAME (default: User:ANONYMOUS)",
                "",
            ),
            "zone": Key("text", "their zone (client.rack), one of brokers.zones", ""),
            "delay": Key("range", "time that their messages take, one way (default: links.delay)"),
            "bandwidth": Key("count", "bandwidth of their links (default: links.bandwidth)"),
            "config": Key("settings", "further producer settings by Kafka's names", {}),
        },
        several=True,
    ),
    "churn": Table(
        "Members that start, stop and stall.",
        {
            "kind": Key(
                "text",
                "what happens",
                required=True,
                choices=("poisson", "rolling", "restart", "stall", "scale", "waves"),
            ),
            "members": Key(
                "names",
                "the members that it affects: a kind; for restart and stall also one member such as app-1, 'leader of "
                "GROUP', or 'it' (the member in which `when` was seen)",
                required=True,
            ),
            **_WHEN,
            "within": Key(
                "duration",
                "drawn delay of the first time after `at`, at most this long",
                "0s",
            ),
            "spread": Key(
                "duration",
                "rolling, restart: drawn delay of each stop after its turn, at most this long",
                "0s",
            ),
            "until": Key(
                "duration",
                "poisson: the last arrival or departure is before this (default: 2 minutes before the end)",
            ),
            "arrivals_per_hour": Key("count", "poisson: mean number of arrivals an hour", 0),
            "departures_per_hour": Key("count", "poisson: mean number of departures an hour", 0),
            "at_once": Key("count", "rolling: number of members restarted together", 1),
            "surge": Key(
                "flag",
                "rolling: number of new members, with new names, that start `down` before the old ones stop",
                False,
            ),
            "becomes": Key(
                "text",
                "rolling, restart: members come back as this kind, whose own count may be 0",
            ),
            "low": Key("count", "waves, scale: least number of members, between the peaks", 1),
            "more": Key("count", "scale: number of members to add, up to `to`", 0),
            "fewer": Key("count", "scale: number of members to remove, down to `low`", 0),
            "down": Key("duration", "rolling, restart: time that a member is down", "5s"),
            "overlap": Key(
                "duration",
                "restart: the new process, with the same identities, starts at once, and the old one stops this much "
                "later",
                "0s",
            ),
            "lasts": Key("duration", "stall: time that the application does not poll", "6m"),
            "to": Key("count", "scale, waves: number of members at the peak", 1),
            "how": Key(
                "text",
                "how a member stops: its consumer is closed, or its process is killed",
                "close",
                choices=HOW,
            ),
        },
        several=True,
    ),
    "faults": Table(
        "Something that fails: a `verb` for hosts and links, or an `action` for single requests.",
        {
            "verb": Key(
                "text",
                "a verb of the cluster (StopBroker, CutLink, CreatePartitions, ...), of a member (CutMember, "
                "SlowMember, PauseMember, ...), or GrantAcls, RevokeAcls",
            ),
            "action": Key(
                "text", f"{', '.join(ACTIONS)}: what happens to the requests that are selected"
            ),
            **_TRIGGER,
            "at": Key("duration", "when it begins", "0s"),
            "repeats": Key("count", "how often it begins", 1),
            "every": Key("duration", "time from one start to the next", "60s"),
            "lasts": Key(
                "range",
                "time until it is undone, or the shortest and the longest time (default: it is not undone)",
            ),
        },
        several=True,
        others="any",
    ),
    "must": Table(
        "Conditions for the run. It fails if one of them does not hold.",
        {
            "judges": Key("names", "judges of the event log by name (default: all)", []),
            "stable_within": Key(
                "duration",
                "time after the last churn or fault until groups are stable and stay so",
            ),
            "grace": Key(
                "duration",
                "in real time: tolerated deviation of what is due; in virtual time nothing is late",
                "10s",
            ),
            "most_rebalances": Key("count", "largest number of generations of a group"),
            "may_fail": Key(
                "names",
                "kinds of members that may end with an error of their own, or any (default: none)",
                [],
            ),
        },
    ),
}


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of scenario files, for editors."""
    types: dict[str, dict[str, Any]] = {
        "text": {"type": "string"},
        "count": {"type": "integer", "minimum": 0, "maximum": MOST},
        "flag": {"type": "boolean"},
        "probability": {"type": "number", "minimum": 0, "maximum": 1},
        "any": {},
        "duration": {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": rf"^({_DURATION.pattern}|\$\w+)$"},
            ]
        },
        "names": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "settings": {"type": "object"},
    }
    for kind in ("count", "flag", "probability"):
        types[kind] = {"anyOf": [types[kind], {"type": "string", "pattern": _PARAMETER}]}
    types["durations"] = {"type": "object", "additionalProperties": types["duration"]}
    types["range"] = {
        "anyOf": [
            types["duration"],
            {"type": "array", "items": types["duration"], "minItems": 2, "maxItems": 2},
        ]
    }

    types["work"] = {
        "anyOf": [
            types["range"],
            {
                "type": "object",
                "properties": dict.fromkeys(QUANTILES, types["duration"]),
                "additionalProperties": False,
                "minProperties": 1,
            },
        ]
    }

    def choice(key: Key) -> dict[str, Any]:
        patterns = [_PARAMETER, *([f"^({key.others})$"] if key.others else [])]
        return {
            "anyOf": [
                {"type": "string", "enum": list(key.choices)},
                *({"type": "string", "pattern": pattern} for pattern in patterns),
            ]
        }

    def of(table: Table) -> dict[str, Any]:
        shape: dict[str, Any] = {
            "type": "object",
            "description": table.doc,
            "additionalProperties": types[table.others] if table.others else False,
            "properties": {
                name: {
                    **(choice(key) if key.choices else types[key.kind]),
                    "description": key.doc,
                    **({"default": key.default} if key.default not in NOTHING_SAID else {}),
                }
                for name, key in table.keys.items()
            },
        }
        required = [name for name, key in table.keys.items() if key.required]
        if required:
            shape["required"] = required
        return {"type": "array", "items": shape} if table.several else shape

    schema = of(TABLES[""])
    schema["properties"] |= {name: of(table) for name, table in TABLES.items() if name}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "coordinator scenario",
        **schema,
    }
