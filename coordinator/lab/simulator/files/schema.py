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
        "wait until this is seen, instead of `at`: then it happens",
        choices=tuple(WHEN),
        others=PATTERN,
        such_as=EXAMPLES,
    ),
    "of": Key("text", "when: by which group or member (default: any)", ""),
    "seen": Key("count", "when: how often it has to be seen", 1),
    "later": Key("duration", "when: how long after that", "0s"),
    "again": Key("count", "when: how often a state counts once more", 0),
    "pause": Key("duration", "when: how long from one time that it counts to the next", "30s"),
}
_WHEN = {
    **_TRIGGER,
    "at": Key("duration", "when it happens first", "0s"),
    "every": Key("duration", "how long from one time to the next", "60s"),
    "times": Key("count", "how often it happens", 1),
}

TABLES: Final[dict[str, Table]] = {
    "": Table(
        "A scenario.",
        {
            "name": Key("text", "what the scenario is called", ""),
            "lesson": Key("text", "what it teaches, in a sentence or two", ""),
            "duration": Key("duration", "how long the run lasts", "10m"),
            "extends": Key(
                "text",
                "another file, beside this one, or a shipped scenario: what is not said here is as it is there",
            ),
        },
    ),
    "parameters": Table(
        'Values that "$name" stands for anywhere below, and "${name}" within a text.',
        {},
        others="any",
    ),
    "topics": Table("Topics and how many partitions each has.", {}, others="count"),
    "brokers": Table(
        "The cluster.",
        {
            "count": Key("count", "how many brokers, with the ids 1, 2, ...", 1),
            "config": Key("settings", "broker settings by Kafka's names", {}),
            "kafka_version": Key(
                "text",
                "the release of Kafka that they behave as, such as 4.3 (default: the newest)",
                "",
            ),
            "zones": Key(
                "names",
                "broker.rack: the zones that brokers are in, one after the other in turn",
                [],
            ),
            "requests_per_second": Key(
                "count",
                "so many requests a second each broker handles, the others wait in line; 0: any number",
                0,
            ),
            "metadata_delay": Key(
                "duration", "how late brokers learn what the controller decides", 0
            ),
        },
    ),
    "links": Table(
        "The network between members and brokers.",
        {
            "delay": Key("range", "how long a message takes, one way", ["1ms", "5ms"]),
            "between_zones": Key(
                "range", "the same between a client and a broker of another zone (default: delay)"
            ),
            "bandwidth": Key(
                "count",
                "how many bytes a second pass each way between a member and a broker; 0: any amount",
                0,
            ),
        },
    ),
    "security": Table(
        "Who may do what. There is no login: a client is who its kind says.",
        {
            "acls": Key(
                "names",
                "access rules, such as User:billing may Read group app; what none allows is refused (default: everybody may do everything)",
                [],
            ),
        },
    ),
    "members": Table(
        "A kind of member, and how many of them.",
        {
            "name": Key("text", "their client ids are this and a number from 1 on", required=True),
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
            "static": Key("flag", "whether each has a group.instance.id, its name", False),
            "start": Key(
                "range", "when each starts: at an instant drawn between these two", ["0s", "1s"]
            ),
            "reads": Key(
                "count",
                "so many records a second each pretends to read from each of its partitions, unless it consumes",
                10,
            ),
            "consumes": Key("flag", "whether it really fetches and processes records", False),
            "processing": Key(
                "work",
                "how long its application takes over a record: always, or from the shortest to the longest, or by quantiles",
                "0ms",
            ),
            "per": Key(
                "text",
                "processing: whether each record takes its own time, or all of one key the same",
                "record",
                choices=("record", "key"),
            ),
            "slow": Key(
                "durations", "what a record of a partition takes in addition, such as orders-3", {}
            ),
            "on_poison": Key(
                "text",
                "poison: what such a record does to the application",
                "fails",
                choices=("fails", "crashes", "hangs"),
            ),
            "assigning": Key(
                "duration", "how long the assignor takes where one of them leads its group", 0
            ),
            "transactional_id": Key(
                "text",
                'commit = "transaction": the transactional.id of all of them (default: each has its own)',
                "",
            ),
            "late": Key(
                "range",
                "how much later than due each one's heartbeats are sent, drawn for each: a process looks at its timers now and then",
                [0, 0],
            ),
            "restarts": Key(
                "range",
                "a process that ends by an error starts again after so long, twice as long each time (default: it does not)",
            ),
            "release": Key(
                "probability",
                'protocol = "share": how probable it is that a record is given back, to be delivered again',
                0,
            ),
            "reject": Key(
                "probability",
                'protocol = "share": how probable it is that a record is refused for good',
                0,
            ),
            "renew": Key(
                "duration",
                'protocol = "share": after so much work it renews the locks of what it has in hand, again and again; 0: never',
                0,
            ),
            "poison": Key(
                "count",
                "every so manieth record of a partition cannot be processed: it is given back, or on_poison says what happens; 0: none",
                0,
            ),
            "commit": Key(
                "text",
                "when it commits: by itself, after each batch, after each record, never, or in a pipeline's transactions",
                "auto",
                choices=("auto", "batch", "record", "none", "transaction"),
            ),
            "repeats": Key(
                "count",
                'protocol = "share": every so manieth request within a share session arrives twice, as through a proxy; 0: none',
                0,
            ),
            "output": Key(
                "text",
                'commit = "transaction": the topic to which a pipeline writes one record for each that it reads',
            ),
            "user": Key(
                "text",
                "security.acls: who they are, NAME or User:NAME (default: User:ANONYMOUS)",
                "",
            ),
            "zone": Key("text", "client.rack: the zone that they are in, one of brokers.zones", ""),
            "delay": Key("range", "how long their messages take, one way (default: links.delay)"),
            "bandwidth": Key("count", "of their links (default: links.bandwidth)"),
            "versions": Key(
                "text",
                "the client's age: newest, or the request versions of an older Kafka client",
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
            "name": Key("text", "the group, as members have it", required=True),
            "config": Key("settings", "settings of the group by Kafka's names", {}),
        },
        several=True,
    ),
    "producers": Table(
        "A kind of producer, and how many of them.",
        {
            "name": Key("text", "their client ids are this and a number from 1 on", required=True),
            "count": Key("count", "how many start", 1),
            "topics": Key("names", "where they write to, to each partition in turn", required=True),
            "rate": Key("count", "so many records a second each sends, at least 1", 10),
            "batch": Key(
                "count",
                "so many records are sent at once, to one partition, then as many to the next "
                "(default: those of a quarter of a second)",
            ),
            "start": Key(
                "range", "when each starts: at an instant drawn between these two", ["0s", "1s"]
            ),
            "stop": Key("duration", "when they stop sending (default: 30 s before the end)"),
            "transactional": Key("flag", "whether each has a transactional.id, its name", False),
            "transactional_id": Key(
                "text",
                "transactional: the transactional.id of all of them, instead of the name",
                "",
            ),
            "transaction": Key("duration", "how long each transaction is kept open", "1s"),
            "keys": Key(
                "count", "how many keys records have, which decide the partition; 0: none", 0
            ),
            "hot_keys": Key("count", "keys: so many of them are sent much oftener", 0),
            "hot_share": Key(
                "count",
                "hot_keys: so many per cent of the records have one of these",
                DEFAULT_HOT_SHARE,
            ),
            "abort_every": Key(
                "count", "every so many transactions one is aborted by the application; 0: none", 0
            ),
            "user": Key(
                "text",
                "security.acls: who they are, NAME or User:NAME (default: User:ANONYMOUS)",
                "",
            ),
            "zone": Key("text", "client.rack: the zone that they are in, one of brokers.zones", ""),
            "delay": Key("range", "how long their messages take, one way (default: links.delay)"),
            "bandwidth": Key("count", "of their links (default: links.bandwidth)"),
            "config": Key("settings", "further producer settings by Kafka's names", {}),
        },
        several=True,
    ),
    "churn": Table(
        "Members that come, go and stall.",
        {
            "kind": Key(
                "text",
                "what happens",
                required=True,
                choices=("poisson", "rolling", "restart", "stall", "scale", "waves"),
            ),
            "members": Key(
                "names",
                "whom it befalls: a kind of member; restart, stall: or such as app-1, 'leader of GROUP', or 'it', of whom `when` was seen",
                required=True,
            ),
            **_WHEN,
            "within": Key(
                "duration",
                "it happens first at an instant drawn from `at` until so much later",
                "0s",
            ),
            "spread": Key(
                "duration",
                "rolling, restart: each goes so much later than its turn at most, drawn for each",
                "0s",
            ),
            "until": Key(
                "duration",
                "poisson: no arrival or departure later than this (default: 2 minutes before the end)",
            ),
            "arrivals_per_hour": Key("count", "poisson: how many come an hour, on average", 0),
            "departures_per_hour": Key("count", "poisson: how many go an hour, on average", 0),
            "at_once": Key("count", "rolling: so many are restarted at once", 1),
            "surge": Key(
                "flag",
                "rolling: new ones, with new names, start `down` before the old ones go",
                False,
            ),
            "becomes": Key(
                "text",
                "rolling, restart: they come back as this kind of member, whose own count may be 0",
            ),
            "low": Key("count", "waves, scale: how many there are between the peaks, at least", 1),
            "more": Key("count", "scale: so many more than there are, at most `to`", 0),
            "fewer": Key("count", "scale: so many fewer than there are, at least `low`", 0),
            "down": Key("duration", "rolling, restart: how long one is away", "5s"),
            "overlap": Key(
                "duration",
                "restart: a new process, another client with the same identities, starts at once, and the old one goes so much later",
                "0s",
            ),
            "lasts": Key("duration", "stall: how long the application does not poll", "6m"),
            "to": Key("count", "scale, waves: how many there shall be, at the peak", 1),
            "how": Key(
                "text",
                "how one goes: its consumer is closed, or its process is killed",
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
                "StopBroker, CutLink, CreatePartitions, ..., or CutMember, SlowMember, PauseMember, ..., or GrantAcls, RevokeAcls",
            ),
            "action": Key(
                "text", f"{', '.join(ACTIONS)}: what happens to the requests that are selected"
            ),
            **_TRIGGER,
            "at": Key("duration", "when it begins", "0s"),
            "repeats": Key("count", "how often it begins", 1),
            "every": Key("duration", "how long from one beginning to the next", "60s"),
            "lasts": Key(
                "range",
                "how long until it is undone, or the shortest and the longest of that (default: it is not)",
            ),
        },
        several=True,
        others="any",
    ),
    "must": Table(
        "What has to hold. Broken, it makes the run fail.",
        {
            "judges": Key("names", "judges of the event log by name (default: all)", []),
            "stable_within": Key(
                "duration",
                "groups are stable so long after the last churn or fault is over, and stay so",
            ),
            "grace": Key(
                "duration",
                "in real time: so far from its instant may happen what is due; in virtual time nothing is late",
                "10s",
            ),
            "most_rebalances": Key("count", "no group has more generations than this"),
            "may_fail": Key(
                "names",
                "kinds of members that may end by an error of theirs, or any (default: none)",
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
