"""The commands of `coordinator ctl` about faults, topics, brokers, time and the log."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .. import UsageError
from .words import Words, done, fault_told, pairs, table

if TYPE_CHECKING:
    from coordinator.http.client import Client

_SELECTORS = (
    "group",
    "topic",
    "partition",
    "member",
    "client_id",
    "instance_id",
    "transactional_id",
    "generation",
    "broker",
    "phase",
)
_NUMBERS = ("partition", "generation", "broker")
_OFTEN = ("nth", "times")
_ACTIONS = (
    "fail",
    "delay",
    "hold",
    "lose_request",
    "lose_answer",
    "disconnect",
    "garble",
    "throttle",
    "observe",
)


def add(words: Words) -> None:
    """The nouns `fault`, `topic`, `broker`, `snapshot`, `events`, and the commands `advance`,
    `mark`, `reset`, `story`."""
    _add_faults(words)
    _add_topics(words)
    _add_brokers(words)
    _add_snapshots(words)
    parser = words.alone("advance", "let the coordinators' clock jump", _advance, _lines)
    parser.add_argument("seconds", type=float)
    parser.add_argument(
        "--silent",
        action="append",
        metavar="MEMBER",
        help="a member that sends nothing meanwhile; repeatable",
    )
    words.alone(
        "mark",
        "a place in the event log, for --since",
        lambda client, args: client.get("/mark"),
        lambda a: str(a["mark"]),
    )
    words.alone(
        "reset",
        "forget faults, groups and topics",
        lambda client, args: client.post("/reset"),
        done,
    )
    words.alone(
        "story",
        "each group now, its timeline, its members' last words",
        lambda c, args: c.get("/story"),
        lambda a: str(a["text"]),
    )
    verb = words.noun("events", "the event log: list lines, or wait for them")
    for name, told, call in (
        ("list", "lines of the log", _events),
        ("wait", "wait for lines; the first of them", _await_events),
    ):
        parser = verb(name, told, call, _lines)
        for option in ("type", "group", "stream"):
            parser.add_argument(f"--{option}")
        parser.add_argument("--since", type=int, metavar="MARK")
        if name == "wait":
            parser.add_argument(
                "--field",
                action="append",
                metavar="NAME=VALUE",
                help="what else a line has to say; repeatable",
            )
            parser.add_argument("--count", type=int, default=1, metavar="N")
            parser.add_argument("--timeout", type=float, metavar="SECONDS")


def _add_faults(words: Words) -> None:
    verb = words.noun("fault", "faults of requests: put in force, wait until met, release, end")
    parser = verb("add", "put a fault in force; prints its number", _add_fault, fault_told)
    parser.add_argument("action", type=lambda text: text.replace("-", "_"), choices=_ACTIONS)
    parser.add_argument(
        "api",
        nargs="?",
        help="Kafka's name of the API, such as OffsetCommit; without it every request",
    )
    parser.add_argument("--error", help="fail: Kafka's error, by name or number")
    parser.add_argument(
        "--ms",
        type=int,
        dest="duration_ms",
        metavar="N",
        help="delay, throttle: so many milliseconds",
    )
    parser.add_argument(
        "--answer", action="store_true", help="delay: the answer rather than the request"
    )
    parser.add_argument(
        "--after", action="store_true", help="disconnect: after the request was handled"
    )
    for name in _SELECTORS:
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=int if name in _NUMBERS else str,
            help="which requests",
        )
    for name in _OFTEN:
        parser.add_argument(
            f"--{name}",
            type=int,
            metavar="N",
            help="from which on" if name == "nth" else "how many of them",
        )
    parser.add_argument("--probability", type=float, metavar="P")
    parser.add_argument("--name", help="what to call it")
    parser.add_argument(
        "--may-miss", action="store_true", help="it is no mistake if no request ever meets it"
    )
    parser.add_argument(
        "--missing-ok", action="store_true", help="its topic or partition may be made later"
    )
    verb("list", "the faults in force", lambda client, args: client.get("/faults"), _faults)
    verb("clear", "end all faults", lambda client, args: client.delete("/faults"), done)
    wait = verb(
        "wait", "wait until requests have met it", _wait_fault, lambda answer: str(answer["text"])
    )
    release = verb(
        "release",
        "let requests go on that it holds",
        _release,
        lambda answer: str(answer["released"]),
    )
    remove = verb(
        "remove", "end it", lambda client, args: client.delete(_path("faults", args.fault)), done
    )
    for each in (wait, release, remove):
        each.add_argument("fault", type=int, help="its number")
    wait.add_argument("--hits", type=int, default=1, metavar="N")
    wait.add_argument("--timeout", type=float, metavar="SECONDS")
    release.add_argument("--count", type=int, metavar="N")


def _add_topics(words: Words) -> None:
    verb = words.noun("topic", "topics and their records")
    verb("list", "all topics", lambda client, args: client.get("/topics"), _topics)
    parser = verb("create", "make a topic", _create, done)
    parser.add_argument("topic", metavar="NAME[:PARTITIONS]")
    parser.add_argument("--replication", type=int, default=-1, metavar="N")
    parser.add_argument("--config", action="append", metavar="NAME=VALUE")
    parser = verb("grow", "give it more partitions", _grow, done)
    parser.add_argument("topic")
    parser.add_argument("partitions", type=int, help="how many there are to be in all")
    verb(
        "delete", "delete it", lambda client, args: client.delete(_path("topics", args.topic)), done
    ).add_argument("topic")
    parser = verb("produce", "write records; prints where each was put", _produce, _written)
    parser.add_argument("topic")
    parser.add_argument("values", nargs="+")
    parser.add_argument("--partition", type=int)
    parser.add_argument("--key", help="the key of all of them")
    parser.add_argument("--header", action="append", metavar="NAME=VALUE")
    parser = verb("records", "read records", _records, _records_told)
    parser.add_argument("topic")
    parser.add_argument("--partition", type=int)
    parser.add_argument("--start", type=int, metavar="OFFSET")
    parser.add_argument("--committed", action="store_true", help="as read_committed consumers read")
    parser.add_argument("--limit", type=int)
    verb("ends", "where each partition ends", _ends, _ends_told).add_argument("topic")
    parser = verb(
        "truncate",
        "delete records; prints where the partition starts now",
        _truncate,
        lambda answer: str(answer["start"]),
    )
    parser.add_argument("topic")
    parser.add_argument("partition", type=int)
    parser.add_argument("--before", type=int, default=-1, metavar="OFFSET")


def _add_snapshots(words: Words) -> None:
    verb = words.noun("snapshot", "the whole emulator as it was: take, list, restore, forget")
    verb(
        "take",
        "keep everything as it is now; prints its number",
        lambda c, args: c.post("/snapshots"),
        lambda a: str(a["snapshot"]),
    )
    verb("list", "those that are kept", lambda client, args: client.get("/snapshots"), _snapshots)
    restore = verb(
        "restore", "go back to it; connections of Kafka clients are closed", _restore, done
    )
    forget = verb(
        "forget",
        "keep it no longer",
        lambda client, args: client.delete(_path("snapshots", args.snapshot)),
        done,
    )
    for each in (restore, forget):
        each.add_argument("snapshot", type=int, help="its number")


def _restore(client: Client, args: argparse.Namespace) -> Any:
    return client.post(_path("snapshots", args.snapshot, "restore"))


def _snapshots(answer: Any) -> str:
    rows = [
        [
            row["snapshot"],
            row["records"],
            ", ".join(f"{topic['name']}:{topic['partitions']}" for topic in row["topics"]),
            ", ".join(row["groups"]),
        ]
        for row in answer["snapshots"]
    ]
    return table([["SNAPSHOT", "RECORDS", "TOPICS", "GROUPS"], *rows])


_VERBS: dict[str, tuple[str, str, tuple[tuple[str, type], ...]]] = {
    "start": (
        "StartBroker",
        "start a stopped broker, or let a paused one go on",
        (("broker", int),),
    ),
    "fence": ("FenceBroker", "let the controller fence a broker", (("broker", int),)),
    "unfence": ("UnfenceBroker", "let a fenced broker come back", (("broker", int),)),
    "cut": ("CutLink", "let nothing pass between two brokers", (("one", int), ("other", int))),
    "heal": (
        "HealLink",
        "let things pass between two brokers again",
        (("one", int), ("other", int)),
    ),
    "move-leader": (
        "MoveLeader",
        "let another replica lead a partition",
        (("topic", str), ("partition", int), ("to", int)),
    ),
    "jump-clock": (
        "JumpClock",
        "let the wall clock of a broker's host jump; negative: back",
        (("broker", int), ("by_ms", int)),
    ),
    "move-coordinator": (
        "MoveCoordinator",
        "let another broker coordinate a group",
        (("group", str), ("to", int)),
    ),
}
"""Commands that are a verb of the cluster with just its fields."""


def _add_brokers(words: Words) -> None:
    verb = words.noun("broker", "brokers of a cluster: stop, start, pause, cut off, move leaders")
    verb("list", "all brokers", lambda client, args: client.get("/brokers"), _brokers)
    parser = verb(
        "stop",
        "stop a broker",
        lambda client, args: _control(client, "StopBroker", broker=args.broker, how=args.how),
        done,
    )
    parser.add_argument("broker", type=int)
    parser.add_argument("--how", choices=("controlled", "crash", "pause"), default="controlled")
    verb(
        "pause",
        "pause a broker, as SIGSTOP does",
        lambda client, args: _control(client, "StopBroker", broker=args.broker, how="pause"),
        done,
    ).add_argument("broker", type=int)
    for name, (_, told, fields) in _VERBS.items():
        parser = verb(name, told, _by_table, done)
        for field, kind in fields:
            parser.add_argument(field, type=kind)
    parser = verb("slow", "let a broker follow late and slowly", _slow, done)
    parser.add_argument("broker", type=int)
    parser.add_argument("--ms", type=int, default=0, metavar="N", help="so late")
    parser.add_argument("--bytes-per-second", type=int, metavar="N")
    parser = verb(
        "reassign", "let a partition move to other brokers, or cancel that", _reassign, done
    )
    parser.add_argument("topic")
    parser.add_argument("partition", type=int)
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--to",
        metavar="ID,ID,...",
        help="preferred leader first; without it one that lacks it takes the leader's place",
    )
    where.add_argument("--cancel", action="store_true", help="let it not move after all")
    for name, told in (
        ("unload", "let the only broker lose the groups' partition"),
        ("load", "let it lead that partition again"),
    ):
        verb(name, told, _shard, done).add_argument(
            "--partition", type=int, help="one of __consumer_offsets; without it all"
        )


# -- what they call
# ------------------------------------------------------------------------------------------------------


def _path(*parts: object) -> str:
    from coordinator.http.client import path_of

    return path_of(*parts)


def _advance(client: Client, args: argparse.Namespace) -> Any:
    return client.post("/advance", {"seconds": args.seconds, "silent": args.silent}, limit_s=600)


def _events(client: Client, args: argparse.Namespace) -> Any:
    return client.get(
        "/events", type=args.type, group=args.group, stream=args.stream, since=args.since
    )


def _await_events(client: Client, args: argparse.Namespace) -> Any:
    fields = {
        name: int(value) if value.removeprefix("-").isdecimal() else value
        for name, value in pairs("--field", args.field).items()
    }
    body = {
        name: getattr(args, name)
        for name in ("type", "group", "stream", "since", "count", "timeout")
    }
    return client.post("/events/wait", body | {"fields": fields})


def _add_fault(client: Client, args: argparse.Namespace) -> Any:
    given = {
        name: getattr(args, name)
        for name in ("action", "api", "duration_ms", *_SELECTORS, *_OFTEN, "probability", "name")
    }
    if args.error is not None:
        given["error"] = int(args.error) if args.error.removeprefix("-").isdecimal() else args.error
    given |= {
        name: True for name in ("answer", "after", "may_miss", "missing_ok") if getattr(args, name)
    }
    return client.post("/faults", given)


def _wait_fault(client: Client, args: argparse.Namespace) -> Any:
    return client.post(
        _path("faults", args.fault, "wait"), {"hits": args.hits, "timeout": args.timeout}
    )


def _release(client: Client, args: argparse.Namespace) -> Any:
    return client.post(_path("faults", args.fault, "release"), {"count": args.count})


def _create(client: Client, args: argparse.Namespace) -> Any:
    name, colon, count = args.topic.partition(":")
    if colon and not count.isdecimal():
        raise UsageError(f"{args.topic!r}: write NAME or NAME:PARTITIONS, such as orders:12")
    body = {
        "name": name,
        "partitions": int(count) if colon else -1,
        "replication": args.replication,
    }
    return client.post("/topics", body | {"config": pairs("--config", args.config)})


def _grow(client: Client, args: argparse.Namespace) -> Any:
    return client.post(_path("topics", args.topic, "grow"), {"partitions": args.partitions})


def _produce(client: Client, args: argparse.Namespace) -> Any:
    keys = None if args.key is None else [args.key] * len(args.values)
    body = {
        "values": args.values,
        "keys": keys,
        "partition": args.partition,
        "headers": pairs("--header", args.header),
    }
    return client.post(_path("topics", args.topic, "records"), body)


def _records(client: Client, args: argparse.Namespace) -> Any:
    query = {name: getattr(args, name) for name in ("partition", "start", "committed", "limit")}
    return client.get(_path("topics", args.topic, "records"), **query)


def _ends(client: Client, args: argparse.Namespace) -> Any:
    return client.get(_path("topics", args.topic, "end-offsets"))


def _truncate(client: Client, args: argparse.Namespace) -> Any:
    return client.post(
        _path("topics", args.topic, "partitions", args.partition, "truncate"),
        {"before": args.before},
    )


def _control(client: Client, verb: str, **fields: Any) -> Any:
    return client.post("/brokers/control", {"verb": verb, **fields})


def _by_table(client: Client, args: argparse.Namespace) -> Any:
    verb, _, fields = _VERBS[args.verb]
    return _control(client, verb, **{field: getattr(args, field) for field, _ in fields})


def _slow(client: Client, args: argparse.Namespace) -> Any:
    return _control(
        client,
        "SlowFollower",
        broker=args.broker,
        delay_ms=args.ms,
        bytes_per_second=args.bytes_per_second,
    )


def _reassign(client: Client, args: argparse.Namespace) -> Any:
    brokers = [] if args.to is None else args.to.split(",")
    if not all(broker.isdecimal() for broker in brokers):
        raise UsageError(
            f"--to {args.to!r}: write the ids of brokers, preferred leader first, such as 2,3"
        )
    replicas = None if args.cancel else [int(broker) for broker in brokers]
    return _control(
        client, "ReassignPartition", topic=args.topic, partition=args.partition, replicas=replicas
    )


def _shard(client: Client, args: argparse.Namespace) -> Any:
    return client.post(_path("coordinator", args.verb), {"partition": args.partition})


# -- how answers read
# ----------------------------------------------------------------------------------------------------


def _lines(answer: Any) -> str:
    hidden = {"seq", "at_ms", "run", "stream", "type", "cause", "durable"}
    rows = []
    for line in answer["events"]:
        told = ", ".join(
            f"{name} {value}"
            for name, value in line.items()
            if name not in hidden and not isinstance(value, list | dict)
        )
        rows.append(
            f"{line['seq']:>6}  {line['at_ms']:>8} ms  {line['type']}{': ' + told if told else ''}"
        )
    return "\n".join(rows)


def _faults(answer: Any) -> str:
    return "\n".join(f"{row['number']}: {row['text']}" for row in answer["faults"])


def _topics(answer: Any) -> str:
    return table(
        [["TOPIC", "PARTITIONS"], *([row["name"], row["partitions"]] for row in answer["topics"])]
    )


def _written(answer: Any) -> str:
    return "\n".join(
        f"{row['topic']}-{row['partition']} offset {row['offset']}" for row in answer["written"]
    )


def _records_told(answer: Any) -> str:
    rows = [
        [
            f"{row['topic']}-{row['partition']}",
            row["offset"],
            _shown(row["key"]),
            _shown(row["value"]),
        ]
        for row in answer["records"]
    ]
    return table([["PARTITION", "OFFSET", "KEY", "VALUE"], *rows])


def _shown(value: Any) -> str:
    return (
        "(none)"
        if value is None
        else value
        if isinstance(value, str)
        else f"base64 {value['base64']}"
    )


def _ends_told(answer: Any) -> str:
    return table(
        [["PARTITION", "END"], *([row["partition"], row["offset"]] for row in answer["offsets"])]
    )


def _brokers(answer: Any) -> str:
    rows = [
        [row["id"], "running" if row["running"] else "stopped or paused", row["address"]]
        for row in answer["brokers"]
    ]
    return table([["BROKER", "STATE", "ADDRESS"], *rows])
