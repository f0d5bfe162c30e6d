"""Client quotas: set, described, refused (KIP-546)."""

from __future__ import annotations

import math
import time
from typing import Any

from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.cluster_admin import await_answer

Named = tuple[str, "str | None"]
EXACT, DEFAULT, SPECIFIED = range(3)


def quota(*named: Named, **values: float | None) -> Plain:
    """What is to be set (None: removed) for an entity."""
    ops = [
        {"key": key, "value": value or 0, "remove": value is None} for key, value in values.items()
    ]
    return {
        "entity": [{"entity_type": kind, "entity_name": name} for kind, name in named],
        "ops": ops,
    }


def set_quotas(link: Link, *entries: Plain, version: int = 1, validate_only: bool = False) -> Plain:
    """AlterClientQuotas. Values that JSON cannot say are shown as texts."""
    answer = link.ask_quietly(
        "AlterClientQuotas", version, entries=list(entries), validate_only=validate_only
    )
    link.session.say(
        f"set v{version}",
        {
            "asked": _shown(list(entries)),
            "validate_only": validate_only,
            "answer": {**answer, "entries": sorted(answer["entries"], key=str)},
        },
    )
    return answer


def quotas(
    link: Link, *components: tuple[str, int, str | None], strict: bool = False, version: int = 1
) -> Plain:
    """DescribeClientQuotas; of the entries only this run's."""
    asked = [
        {"entity_type": kind, "match_type": match, "match": name}
        for kind, match, name in components
    ]
    answer = link.ask_quietly("DescribeClientQuotas", version, components=asked, strict=strict)
    mine = (
        None
        if answer["entries"] is None
        else [
            {"entity": e["entity"], "values": sorted(e["values"], key=str)}
            for e in answer["entries"]
            if link.session.nonce in str(e)
        ]
    )
    shown = {**answer, "entries": mine if mine is None else sorted(mine, key=str)}
    link.session.say(
        f"quotas v{version}", {"asked": asked, "strict": strict, "answer": _shown(shown)}
    )
    return answer


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def settle_quotas(link: Link) -> None:
    """Wait until all that was set is seen: by a mark, set after it and awaited."""
    mark = quota(("client-id", link.session.name("mark")), request_percentage=time.monotonic())
    link.ask_quietly("AlterClientQuotas", 1, entries=[mark], validate_only=False)
    await_answer(
        link,
        "DescribeClientQuotas",
        1,
        lambda found: (
            bool(found["entries"])
            and found["entries"][0]["values"][0]["value"] == mark["ops"][0]["value"]
        ),
        components=[
            {"entity_type": "client-id", "match_type": EXACT, "match": link.session.name("mark")}
        ],
        strict=True,
    )


@scenario()
def quotas_kept(s: Session) -> None:
    """Set for users, client ids, both; found by exact name, by type, strictly; removed."""
    a, user, client = s.connect(), s.name("u"), s.name("c")
    quotas(a, ("user", EXACT, user), version=0)
    set_quotas(a, quota(("user", user), producer_byte_rate=1000, request_percentage=1.5), version=0)
    set_quotas(
        a,
        quota(
            ("user", user),
            ("client-id", client),
            consumer_byte_rate=5,
            controller_mutation_rate=0.25,
        ),
    )
    set_quotas(
        a,
        quota(("client-id", client), ("user", None), consumer_byte_rate=7),
        quota(("client-id", client), producer_byte_rate=8),
    )
    settle_quotas(a)
    for strict in (False, True):
        quotas(a, ("user", EXACT, user), strict=strict)
        quotas(a, ("user", EXACT, user), ("client-id", SPECIFIED, None), strict=strict)
        quotas(a, ("user", DEFAULT, None), strict=strict)
        quotas(a, ("client-id", EXACT, client), strict=strict)
        quotas(a, ("client-id", SPECIFIED, None), ("user", SPECIFIED, None), strict=strict)
        quotas(a, ("client-id", EXACT, client), ("user", DEFAULT, None), strict=strict, version=0)
    quotas(a, ("user", EXACT, ""))
    quotas(a, ("ip", SPECIFIED, None))
    set_quotas(
        a, quota(("user", user), producer_byte_rate=None, consumer_byte_rate=9), validate_only=True
    )
    set_quotas(a, quota(("user", user), producer_byte_rate=None, consumer_byte_rate=9, nope=None))
    settle_quotas(a)
    quotas(a, ("user", EXACT, user))
    set_quotas(
        a,
        quota(
            ("user", user),
            request_percentage=None,
            consumer_byte_rate=None,
            producer_byte_rate=None,
        ),
        quota(
            ("user", user),
            ("client-id", client),
            consumer_byte_rate=None,
            controller_mutation_rate=None,
        ),
        quota(("client-id", client), ("user", None), consumer_byte_rate=None),
    )
    settle_quotas(a)
    quotas(a, ("user", SPECIFIED, None))
    quotas(a, ("client-id", EXACT, client))


@scenario()
def quotas_refused(s: Session) -> None:
    """Unknown keys, values that are none, entities that cannot be (42): nothing of an entry is
    done."""
    a, user = s.connect(), s.name("u")
    me = ("user", user)
    set_quotas(a)
    for values in (
        {"nope": 1},
        {"producer_byte_rate": 0},
        {"producer_byte_rate": -3.5},
        {"producer_byte_rate": 1.5},
        {"producer_byte_rate": 1.0000001},
        {"producer_byte_rate": 1e300},
        {"producer_byte_rate": float(2**63)},
        {"producer_byte_rate": math.nan},
        {"consumer_byte_rate": math.inf},
        {"request_percentage": math.inf},
        {"request_percentage": -math.inf},
        {"controller_mutation_rate": 1e-9},
        {"connection_creation_rate": 2},
        {"consumer_byte_rate": 8, "nope": 9, "producer_byte_rate": 11},
        {"nope": 1, "producer_byte_rate": -1},
    ):
        set_quotas(a, quota(me, **values), validate_only=True)
    for entity in (
        (),
        (("nope", "a"),),
        (me, ("nope", None)),
        (("user", ""), ("nope", None)),
        (("user", ""),),
        (("client-id", ""),),
        (("user", "other"), me),
        (("", "a"),),
    ):
        set_quotas(a, quota(*entity, producer_byte_rate=2), validate_only=True)
    set_quotas(a, quota(me))
    set_quotas(
        a,
        quota(me, producer_byte_rate=-1),
        quota(("user", s.name("v")), producer_byte_rate=1),
        validate_only=True,
    )
    settle_quotas(a)
    quotas(a, ("user", SPECIFIED, None))


@scenario()
def quotas_of_addresses(s: Session) -> None:
    """Only new connections are limited, in whole numbers; never together with users (42)."""
    a = s.connect()
    for name in (
        "1.2.3.4",
        "::1",
        "localhost",
        None,
        "",
        "not an ip",
        "300.1.1.1",
        "no.such.host.invalid",
        "1.2.3.4.5",
    ):
        set_quotas(a, quota(("ip", name), connection_creation_rate=2), validate_only=True)
    for rate in (2.5, 3e9, 0, 2**31 - 1, 2**31):
        set_quotas(a, quota(("ip", "1.2.3.4"), connection_creation_rate=rate), validate_only=True)
    set_quotas(a, quota(("ip", "1.2.3.4"), producer_byte_rate=2), validate_only=True)
    set_quotas(
        a, quota(("ip", "1.2.3.4"), ("user", "a"), connection_creation_rate=2), validate_only=True
    )
    set_quotas(
        a,
        quota(("user", "a"), ("client-id", None), ("ip", "1.2.3.4"), producer_byte_rate=2),
        validate_only=True,
    )


@scenario()
def quotas_set_twice(s: Session) -> None:
    """An entity twice: the first entry is done, and the answer is a refusal. A key twice: nothing
    is done."""
    a, user = s.connect(), s.name("u")
    me = ("user", user)
    set_quotas(a, quota(me, producer_byte_rate=5), quota(me, producer_byte_rate=6))
    settle_quotas(a)
    quotas(a, ("user", EXACT, user))
    twice = quota(me, producer_byte_rate=8)
    set_quotas(a, {**twice, "ops": twice["ops"] * 2})
    both = (me, ("client-id", "c"))
    set_quotas(
        a,
        quota(*both, producer_byte_rate=8),
        quota(*reversed(both), producer_byte_rate=9),
        validate_only=True,
    )
    set_quotas(a, {**quota(me, ("client-id", None)), "ops": twice["ops"] * 2})
    settle_quotas(a)
    quotas(a, ("user", EXACT, user))


@scenario()
def quotas_asked_badly(s: Session) -> None:
    """Unknown types (35), matches that contradict themselves, types that do not go together
    (42)."""
    a = s.connect()
    for component in (
        ("nope", EXACT, "x"),
        ("", EXACT, "x"),
        ("user", EXACT, None),
        ("user", DEFAULT, "x"),
        ("user", SPECIFIED, "x"),
        ("user", 3, None),
        ("user", -1, "x"),
        ("nope", 9, None),
    ):
        for version in (0, 1):
            quotas(a, component, version=version)
    quotas(a, ("user", SPECIFIED, None), ("user", DEFAULT, None))
    quotas(a, ("ip", SPECIFIED, None), ("user", SPECIFIED, None))
    quotas(a, ("client-id", EXACT, "a"), ("ip", EXACT, "1.2.3.4"))
