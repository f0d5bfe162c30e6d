"""Random ACLs and requests, and what Kafka's StandardAuthorizer and ours decide. A case is made from
its seed and number alone.

    python -m tests.server.security.decisions --count 5000     Kafka's class beside ours; 1 if any differs
    python -m tests.server.security.decisions --record         what it decides, for machines without Java
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from coordinator.events.acls import Acl, Operation, PatternType, Permission, ResourceType
from coordinator.server.security.authorizer import Authorizer
from tests.java_jars import JavaProgram, NoJavaError, java_program

PROGRAM: Final = "Authorizing"
REQUESTS: Final = 20
"""Of a case."""
VECTORS: Final = Path(__file__).parents[2] / "vectors" / "decisions.json"
RECORDED: Final = 300
_NAMES: Final = ("*", "a", "ab", "abc", "abd", "b", "orders", "orders-1", "or", "ä", "x*", "")
_USERS: Final = ("alice", "bob", "carol", "User:alice", "CN=a, OU=b")
_PEOPLE: Final = (*(f"User:{name}" for name in (*_USERS, "*")), "Group:alice", "user:alice")
_HOSTS: Final = ("127.0.0.1", "10.1.2.3", "10.1.3.3", "::1", "fe80::1")
_FROM: Final = (
    *(
        "*",
        "*",
        "*",
        *_HOSTS,
        "localhost",
        "10.1.0.0/16",
        "10.1.2.0/24",
        "10.1.2.9/24",
        "0.0.0.0/0",
    ),
    *("::/0", "fe80::/10", "::1/128", "10.1.2.3/32", "127.0.0.0/8"),
)
_OPERATIONS: Final = tuple(
    each for each in Operation if each not in (Operation.UNKNOWN, Operation.ANY)
)
_TYPES: Final = tuple(
    each for each in ResourceType if each not in (ResourceType.UNKNOWN, ResourceType.ANY)
)


class Asked(NamedTuple):
    """One request. `name` "": any resource of the type."""

    user: str
    host: str
    operation: int
    resource_type: int
    name: str


class Case(NamedTuple):
    """A set of ACLs, and requests."""

    everyone: bool
    super_users: tuple[str, ...]
    acls: tuple[Acl, ...]
    requests: tuple[Asked, ...]


def make_case(seed: int, number: int) -> Case:
    """A case."""
    rng = random.Random(f"{seed} {number}")
    types = rng.sample(_TYPES, 2)
    operations = rng.sample(_OPERATIONS, 5)

    def acl() -> Acl:
        return Acl(
            rng.choice(types),
            rng.choice((PatternType.LITERAL, PatternType.LITERAL, PatternType.PREFIXED)),
            rng.choice(_NAMES[:-1]),
            rng.choice(_PEOPLE),
            rng.choice(_FROM),
            rng.choice(operations),
            rng.choice((Permission.ALLOW, Permission.ALLOW, Permission.DENY)),
        )

    def request() -> Asked:
        name = rng.choice(_NAMES)
        host = rng.choice(_HOSTS)
        return Asked(rng.choice(_USERS), host, rng.choice(operations), rng.choice(types), name)

    return Case(
        rng.random() < 0.3,
        tuple(rng.sample(_PEOPLE, rng.choice((0, 0, 0, 1)))),
        tuple(dict.fromkeys(acl() for _ in range(rng.randint(0, 14)))),
        tuple(request() for _ in range(REQUESTS)),
    )


def decided(case: Case) -> str:
    """What ours says: a letter for each request."""
    authorizer = Authorizer(case.acls, case.super_users, allow_everyone=case.everyone)

    def may(asked: Asked) -> bool:
        user, host, operation, kind, name = asked
        if not name:
            return authorizer.allows_any(f"User:{user}", host, operation, kind)
        return authorizer.allows(f"User:{user}", host, operation, kind, name)

    return "".join("A" if may(asked) else "D" for asked in case.requests)


def decided_by_java(java: JavaProgram, cases: Sequence[Case]) -> list[str]:
    """What Kafka's says."""
    return java.ask(map(_question, cases))


def _question(case: Case) -> str:
    acls = (
        f"{acl.resource_type:d},{acl.pattern_type:d},{_hex(acl.name)},{_hex(acl.principal)},{_hex(acl.host)},"
        f"{acl.operation:d},{acl.permission:d}"
        for acl in case.acls
    )
    requests = (
        f"{_hex(asked.user)},{_hex(asked.host)},{asked.operation:d},{asked.resource_type:d},{_hex(asked.name)}"
        for asked in case.requests
    )
    people = _hex(";".join(case.super_users))
    return f"{str(case.everyone).lower()}|{people}|{';'.join(acls)}|{';'.join(requests)}"


def _hex(text: str) -> str:
    return text.encode().hex()


def main(arguments: list[str] | None = None) -> int:
    """Without Java it only says so."""
    parser = argparse.ArgumentParser(prog="python -m tests.server.security.decisions")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args(arguments)
    count = RECORDED if options.record else options.count
    cases = [make_case(options.seed, number) for number in range(count)]
    try:
        with java_program(PROGRAM, long=True) as java:
            answers = decided_by_java(java, cases)
    except NoJavaError as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    if options.record:
        VECTORS.write_text(json.dumps({"seed": options.seed, "answers": answers}, indent=0) + "\n")
        return 0
    differ = [number for number in range(count) if decided(cases[number]) != answers[number]]
    for number in differ:
        print(f"case {number}: Kafka {answers[number]}, ours {decided(cases[number])}")
    print(f"seed {options.seed}: {count * REQUESTS} requests, {len(differ)} cases differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
