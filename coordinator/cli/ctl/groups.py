"""The commands of `coordinator ctl` about groups and peers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .. import UsageError
from .words import Words, done, fault_told, offsets, pairs, table

if TYPE_CHECKING:
    from coordinator.http.client import Client


def add(words: Words) -> None:
    """The nouns `group` and `peer`."""
    verb = words.noun("group", "consumer groups: look, wait, act on members")
    verb("list", "all groups", lambda client, args: client.get("/groups"), _list)
    for name, told, call, tell in (
        ("describe", "a group as it is now", _describe, _text),
        (
            "rebalances",
            "its rebalances: why each began, how long it took",
            _rebalances,
            _rebalances_told,
        ),
        ("explain", "why each rebalance happened, in sentences", _explain, _text),
        ("delete", "delete a group and its offsets", _delete, done),
    ):
        verb(name, told, call, tell).add_argument("group")
    _add_wait(
        verb("wait", "wait until everything that is given holds at the same instant", _wait, _text)
    )
    _add_verify(
        verb(
            "verify",
            "assertions about what happened; status 1 if one does not hold",
            _verify,
            _verified,
        )
    )
    rebalance = verb(
        "rebalance", "let it rebalance: every member has to join again", _rebalance, done
    )
    rebalance.add_argument("group")
    rebalance.add_argument("--reason", help="what stands in the event log")
    for name, told in (
        ("remove", "take a member out, as an administrator does"),
        ("expire", "end a member's session now"),
        ("fence", "take over a static member's identity"),
        ("lose", "let a member find out that it lost its partitions"),
    ):
        parser = verb(name, told, _on_member, fault_told if name == "lose" else done)
        parser.add_argument("group")
        parser.add_argument(
            "member", help="its member id, client id, instance id, or a beginning that only one has"
        )
    commit = verb("commit", "set committed offsets while it has no members", _commit, done)
    commit.add_argument("group")
    commit.add_argument("offsets", nargs="+", metavar="TOPIC-PARTITION=OFFSET")
    _add_peer(
        verb("peer", "start a simulated member, and wait until it is settled", _peer, _peer_told)
    )
    _add_peers(words)


def _add_wait(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")
    parser.add_argument("--state", help="such as Stable, Empty, joining")
    parser.add_argument("--members", type=int, metavar="N", help="exactly so many")
    parser.add_argument(
        "--generation-above", type=int, metavar="N", help="a later generation than this one"
    )
    parser.add_argument(
        "--assigned",
        metavar="all|MEMBER=TOPIC-PARTITION,...",
        action="append",
        help="who has what; repeatable",
    )
    parser.add_argument(
        "--committed",
        metavar="TOPIC-PARTITION=OFFSET",
        action="append",
        help="at least so far; repeatable",
    )
    parser.add_argument("--lag", type=int, metavar="N", help="at most so many records behind")
    parser.add_argument(
        "--acted",
        action="store_true",
        default=None,
        help="every member has acted on each partition it was given",
    )
    parser.add_argument(
        "--heard",
        action="store_true",
        default=None,
        help="every member has sent a heartbeat since it was told",
    )
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (30)")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")
    parser.add_argument(
        "--since", type=int, default=0, metavar="MARK", help="only what happened from this mark on"
    )
    for name in ("single-owner", "revoked-before-assigned", "no-stale-commit", "left-cleanly"):
        parser.add_argument(
            f"--{name}", action="append_const", dest="checks", const=name.replace("-", "_")
        )
    for name in ("exactly", "at-least", "at-most"):
        parser.add_argument(f"--rebalances-{name}", type=int, metavar="N")
    parser.add_argument(
        "--committed", metavar="TOPIC-PARTITION=OFFSET", action="append", help="exactly; repeatable"
    )


def _add_peer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")
    parser.add_argument("--topic", action="append", help="what it subscribes to; repeatable")
    parser.add_argument(
        "--pattern", help="instead, a regular expression that whole names must match"
    )
    parser.add_argument(
        "--config",
        action="append",
        metavar="NAME=VALUE",
        help="a consumer's setting by Kafka's name; repeatable",
    )
    parser.add_argument("--keep-going", action="store_true", help="a fault does not end it")
    parser.add_argument(
        "--protocol", choices=("classic", "consumer"), help="the group protocol (default classic)"
    )
    parser.add_argument("--no-wait", action="store_true", help="do not wait until it is settled")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (30)")


def _add_peers(words: Words) -> None:
    verb = words.noun("peer", "the simulated members that were started here")
    verb("list", "all of them", lambda client, args: client.get("/peers"), _peers)
    for name, told in (
        ("describe", "one of them"),
        ("pause", "let it stand still: no heartbeats, no polls, nothing read"),
        ("stall", "let it poll no more"),
        ("resume", "let it go on"),
        ("rebalance", "let it join anew"),
        ("commit", "let it commit its positions"),
        ("crash", "let it die without a word"),
        ("stop", "let it leave and end"),
    ):
        parser = verb(name, told, _on_peer, _peer_told)
        parser.add_argument("peer", help="its number or its client id")


# -- what they call
# ------------------------------------------------------------------------------------------------------


def _path(*parts: object) -> str:
    from coordinator.http.client import path_of

    return path_of(*parts)


def _describe(client: Client, args: argparse.Namespace) -> Any:
    return client.get(_path("groups", args.group))


def _rebalances(client: Client, args: argparse.Namespace) -> Any:
    return client.get(_path("groups", args.group, "rebalances"))


def _explain(client: Client, args: argparse.Namespace) -> Any:
    return client.get(_path("groups", args.group, "explain"))


def _delete(client: Client, args: argparse.Namespace) -> Any:
    return client.delete(_path("groups", args.group))


def _wait(client: Client, args: argparse.Namespace) -> Any:
    body = {
        name: getattr(args, name)
        for name in ("state", "members", "generation_above", "lag", "acted", "heard", "timeout")
    }
    committed = offsets("--committed", args.committed) or None
    return client.post(
        _path("groups", args.group, "wait"),
        body | {"assigned": _assigned(args.assigned), "committed": committed},
    )


def _assigned(given: list[str] | None) -> Any:
    if not given:
        return None
    if given == ["all"]:
        return "all"
    if "all" in given:
        raise UsageError("--assigned all stands alone: who has what is a stronger condition")
    return {
        name: [item for item in rows.split(",") if item]
        for name, rows in pairs("--assigned", given).items()
    }


def _verify(client: Client, args: argparse.Namespace) -> Any:
    checks: list[dict[str, Any]] = [{"check": name} for name in args.checks or ()]
    counts = {
        name: value
        for name in ("exactly", "at_least", "at_most")
        if (value := getattr(args, f"rebalances_{name}")) is not None
    }
    if counts:
        checks.append({"check": "rebalances", **counts})
    if args.committed:
        checks.append({"check": "committed", "offsets": offsets("--committed", args.committed)})
    if not checks:
        raise UsageError(
            "verify what? Give --single-owner, --no-stale-commit, --rebalances-at-most N or another check (--help)"
        )
    return client.post(
        _path("groups", args.group, "verify"), {"checks": checks, "since": args.since}
    )


def _rebalance(client: Client, args: argparse.Namespace) -> Any:
    return client.post(_path("groups", args.group, "rebalance"), {"reason": args.reason})


def _on_member(client: Client, args: argparse.Namespace) -> Any:
    return client.post(_path("groups", args.group, "members", args.member, args.verb))


def _commit(client: Client, args: argparse.Namespace) -> Any:
    return client.post(
        _path("groups", args.group, "commit"), {"offsets": offsets("offsets", args.offsets)}
    )


def _peer(client: Client, args: argparse.Namespace) -> Any:
    started = client.post(
        "/peers",
        {
            "group": args.group,
            "topics": args.topic,
            "pattern": args.pattern,
            "config": pairs("--config", args.config),
            "keep_going": args.keep_going,
            "protocol": args.protocol,
        },
    )
    return (
        started
        if args.no_wait
        else client.post(_path("peers", started["peer"], "wait"), {"timeout": args.timeout})
    )


def _on_peer(client: Client, args: argparse.Namespace) -> Any:
    path = _path("peers", args.peer)
    return client.get(path) if args.verb == "describe" else client.post(f"{path}/{args.verb}")


# -- how answers read
# ----------------------------------------------------------------------------------------------------


def _text(answer: Any) -> str:
    return str(answer["text"])


def _list(answer: Any) -> str:
    rows = [
        [row["group_id"], row["state"], row["type"], row["members"]] for row in answer["groups"]
    ]
    return table([["GROUP", "STATE", "TYPE", "MEMBERS"], *rows])


def _rebalances_told(answer: Any) -> str:
    rows = [
        [row["generation"], row["outcome"], row["started_ms"], row["stable_ms"], row["because"]]
        for row in answer["rebalances"]
    ]
    return table([["GENERATION", "OUTCOME", "BEGAN (ms)", "STABLE (ms)", "BECAUSE"], *rows])


def _verified(answer: Any) -> str:
    rows = [
        f"{'holds' if row['holds'] else 'DOES NOT HOLD'}: {row['check']}"
        for row in answer["checks"]
    ]
    return "\n".join([*rows, *(row["failure"] for row in answer["checks"] if not row["holds"])])


def _peers(answer: Any) -> str:
    rows = [_row(row) for row in answer["peers"]]
    return table([["PEER", "GROUP", "CLIENT ID", "STATE", "GENERATION", "PARTITIONS"], *rows])


def _row(row: Any) -> list[Any]:
    state = "ended" if row["ended"] else "paused" if row["paused"] else row["state"]
    return [
        row["peer"],
        row["group"],
        row["client_id"],
        state,
        row["generation"],
        " ".join(row["owned"]),
    ]


def _peer_told(answer: Any) -> str:
    return _peers({"peers": [answer]}) if "peer" in answer else ""
