"""Random sets of ACLs decide as Kafka's StandardAuthorizer does (ACL-3 to ACL-6, REF-3)."""

from __future__ import annotations

import json

import pytest

from coordinator.events.acls import Acl, Operation, PatternType, Permission, ResourceType
from coordinator.server.security.authorizer import Authorizer
from tests.java_jars import NoJavaError, java_program
from tests.server.security.decisions import (
    PROGRAM,
    VECTORS,
    decided,
    decided_by_java,
    make_case,
)


def test_as_was_recorded() -> None:
    kept = json.loads(VECTORS.read_text())
    assert set("".join(kept["answers"])) >= {"A", "D"}
    for number, answer in enumerate(kept["answers"]):
        assert decided(make_case(kept["seed"], number)) == answer, number


def test_as_kafkas_own_class_says() -> None:
    """10,000 requests."""
    cases = [make_case(2, number) for number in range(500)]
    try:
        with java_program(PROGRAM) as java:
            answers = decided_by_java(java, cases)
    except NoJavaError as missing:
        pytest.skip(str(missing))
    for case, answer in zip(cases, answers, strict=True):
        assert decided(case) == answer, case


def acl(host: str, permission: Permission = Permission.ALLOW) -> Acl:
    literal, kind = PatternType.LITERAL, ResourceType.TOPIC
    return Acl(kind, literal, "*", "User:a", host, Operation.WRITE, permission)


def test_an_address_of_ipv6_is_compared_as_java_writes_it() -> None:
    """ACL-5: ::1 is no host of an ACL that ever matches."""
    asked = ("User:a", "::1", Operation.WRITE, ResourceType.TOPIC, "t")
    assert not Authorizer([acl("::1")]).allows(*asked)
    assert Authorizer([acl("0:0:0:0:0:0:0:1")]).allows(*asked)
    assert Authorizer([acl("::1/128")]).allows(*asked)


def test_any_resource_where_everybody_may_what_no_acl_is_about() -> None:
    """REF-3: an ACL of somebody else about all of them is one."""
    asked = ("User:b", "10.0.0.1", Operation.WRITE, ResourceType.TOPIC)
    assert Authorizer(allow_everyone=True).allows_any(*asked)
    assert not Authorizer([acl("*")], allow_everyone=True).allows_any(*asked)
