"""ACLs made, described and deleted; what patterns, denials and hosts mean (ACL-3 to ACL-9)."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import as_user, count, found, grant, new_user, revoke_all, rule


def create(s: Session, user: str, wanted: int, *creations: Plain) -> None:
    """CreateAcls, and the wait until so many are seen."""
    s.stage().ask("CreateAcls", 3, creations=list(creations))
    s.until(lambda: count(s.stage(), user) == wanted, "no ACLs")


def described(s: Session, label: str, **filters: Any) -> None:
    """DescribeAcls, in an order of its own."""
    answer = s.stage().ask_quietly("DescribeAcls", 3, **filters)
    rows = [
        [
            each["resource_type"],
            each["resource_name"],
            each["pattern_type"],
            acl["principal"],
            acl["host"],
            acl["operation"],
            acl["permission_type"],
        ]
        for each in answer["resources"]
        for acl in each["acls"]
    ]
    s.say(label, [answer["error_code"], answer["error_message"], sorted(rows, key=str)])


@scenario("security", since="4.3")
def made(s: Session) -> None:
    """Each on its own; what is no value, no name, no principal, no block (ACL-5, ACL-7)."""
    user, name = new_user(s, "u"), s.name("t")
    good = rule(user, f"Read topic {name}")
    create(s, user, 1, good, good)
    for field in ("resource_type", "resource_pattern_type", "operation", "permission_type"):
        create(s, user, 1, {**good, field: 1}, {**good, "operation": 4})
    create(s, user, 1, {**good, "resource_pattern_type": 2})
    create(
        s,
        user,
        2,
        {**good, "resource_name": ""},
        {**good, "resource_type": 4, "resource_name": "other"},
        {**good, "principal": "nonsense"},
        {**good, "operation": 4},
    )
    create(
        s,
        user,
        2,
        {**good, "resource_type": 99},
        {**good, "resource_pattern_type": 99},
        {**good, "operation": 99},
        {**good, "permission_type": 99},
    )
    create(
        s,
        user,
        8,
        {**good, "host": "10.0.0.0/8"},
        {**good, "host": "127.0.0.1"},
        {**good, "host": "nonsense"},
        {**good, "host": ""},
        {**good, "host": "10.0.0.0/99"},
        {**good, "host": "x/y"},
        {**good, "operation": 5},
        {**good, "operation": 12},
        {**good, "resource_type": 4, "resource_name": "kafka-cluster", "resource_pattern_type": 4},
    )
    revoke_all(s, user)


@scenario("security")
def described_by_filters(s: Session) -> None:
    """Match, Any, null and values that there are not (ACL-8)."""
    user, t = new_user(s, "u"), s.name("t")
    create(
        s,
        user,
        5,
        rule(user, f"Read topic {t}"),
        rule(user, f"Write topic {t} prefixed"),
        rule(user, "Read topic *"),
        rule(user, f"Read group {t}"),
        rule(user, f"Read topic {t}-more denied", host="1.2.3.4"),
    )
    filters: tuple[Plain, ...] = (
        {},
        {"resource_type_filter": 2},
        {"resource_name_filter": t},
        {"resource_name_filter": t, "pattern_type_filter": 2},
        {"resource_name_filter": t, "pattern_type_filter": 3},
        {"resource_name_filter": t, "pattern_type_filter": 4},
        {"resource_name_filter": f"{t}-more", "pattern_type_filter": 2},
        {"resource_name_filter": "*"},
        {"resource_name_filter": "*", "pattern_type_filter": 2},
        {"resource_name_filter": ""},
        {"host_filter": "1.2.3.4"},
        {"host_filter": "*"},
        {"operation": 4},
        {"permission_type": 2},
        {"resource_type_filter": 99},
        {"operation": 99},
        {"pattern_type_filter": 77},
        {"principal_filter": ""},
    )
    for number, each in enumerate(filters):
        described(s, f"filter {number}", **{**found(user), **each})
    revoke_all(s, user)


@scenario("security")
def deleted(s: Session) -> None:
    """Each filter reports what it found, also what another one found too (ACL-9)."""
    user, t = new_user(s, "u"), s.name("t")
    create(s, user, 2, rule(user, f"Read topic {t}"), rule(user, f"Write topic {t}"))
    answer = s.stage().ask_quietly(
        "DeleteAcls",
        3,
        filters=[{**found(user), "operation": 3}, found(user), {**found(user), "operation": 5}],
    )
    s.say(
        "deleted",
        [
            [each["error_code"], sorted(acl["operation"] for acl in each["matching_acls"])]
            for each in answer["filter_results"]
        ],
    )
    s.until(lambda: count(s.stage(), user) == 0, "ACLs that stay")
    s.stage().ask("DeleteAcls", 3, filters=[found(user)])
    s.stage().ask("DeleteAcls", 3, filters=[])


@scenario("security", since="4.3")
def deleted_by_filters_that_mean_nothing(s: Session) -> None:
    """A number that stands for nothing refuses its filter alone; a name and a pattern come first."""
    user, t = new_user(s, "u"), s.name("t")
    create(s, user, 1, rule(user, f"Read topic {t}"))
    strange: tuple[Plain, ...] = (
        {"resource_type_filter": 8},
        {"resource_type_filter": -1},
        {"pattern_type_filter": 9},
        {"operation": 16},
        {"operation": -1},
        {"permission_type": 4},
        {"permission_type": 4, "pattern_type_filter": 9},
        {"operation": 16, "resource_name_filter": "", "host_filter": "nonsense"},
    )
    for version in (1, 3):
        filters = [{**found(user), **each} for each in strange]
        s.stage().ask("DeleteAcls", version, filters=filters)
    s.stage().ask("DeleteAcls", 3, filters=[{**found(user), "operation": 16}, found(user)])
    s.until(lambda: count(s.stage(), user) == 0, "ACLs that stay")


def may(link: Link, name: str, label: str) -> None:
    """What a user may do to a topic, by its operations and by what it is refused."""
    answer = link.ask_quietly(
        "DescribeTopicPartitions",
        0,
        topics=[{"name": name}],
        response_partition_limit=10,
        cursor=None,
    )["topics"][0]
    link.session.say(label, [answer["error_code"], answer["topic_authorized_operations"]])


@scenario("security", since="4.3")
def meanings(s: Session) -> None:
    """Patterns, implied operations, denials, hosts, other people (ACL-3 to ACL-6)."""
    user, other = new_user(s, "u"), s.name("v")
    name = topic(s, "topic", 1)
    link, stage = as_user(s, user), s.stage()
    for rights in (
        ("Create topic {t}",),
        ("Read topic {t}",),
        ("Write topic {t}",),
        ("Delete topic {t}",),
        ("Alter topic {t}",),
        ("AlterConfigs topic {t}",),
        ("DescribeConfigs topic {t}",),
        ("All topic {t}",),
        ("Read topic *",),
        ("Read topic topic prefixed",),
        ("Read topic topi*",),
        ("Read topic * prefixed",),
        ("Read topic {t}", "Describe topic {t} denied"),
        ("Read topic {t}", "Read topic {t} denied"),
        ("All topic {t}", "All topic {t} denied"),
        ("All topic {t}", "Read topic topic prefixed denied"),
        ("All topic {t}", "Read topic * denied"),
        ("Read group {t}",),
    ):
        grant(s, user, *(right.format(t=name) for right in rights))
        may(link, name, " and ".join(rights))
        revoke_all(s, user)
    for label, changes in (
        ("my address", {"host": "127.0.0.1"}),
        ("another address", {"host": "127.0.0.2"}),
        ("a block", {"host": "127.0.0.0/8"}),
        ("a block with bits of a host", {"host": "127.9.9.9/8"}),
        ("another block", {"host": "10.0.0.0/8"}),
        ("everything of version 6", {"host": "::/0"}),
        ("a name", {"host": "localhost"}),
        ("another type", {"principal": f"Group:{user}"}),
        ("a type in small letters", {"principal": f"user:{user}"}),
        ("somebody else", {"principal": f"User:{other}"}),
    ):
        acl = {**rule(user, f"Read topic {name}"), **changes}
        stage.ask_quietly("CreateAcls", 3, creations=[acl])
        mine = {**found(None), "principal_filter": acl["principal"]}
        s.until(
            lambda mine=mine: bool(stage.ask_quietly("DescribeAcls", 3, **mine)["resources"]),  # type: ignore[misc]
            "no ACL",
        )
        may(link, name, label)
        stage.ask_quietly("DeleteAcls", 3, filters=[mine])
        s.until(
            lambda mine=mine: not stage.ask_quietly("DescribeAcls", 3, **mine)["resources"],  # type: ignore[misc]
            "an ACL that stays",
        )


@scenario("security")
def topics_made_by_asking(s: Session) -> None:
    """Automatic creation wants Describe and Create (ACL-2)."""
    user = new_user(s, "u")
    link = as_user(s, user)
    for rights in (
        (),
        ("Create topic {t}",),
        ("Create cluster",),
        ("Describe topic {t}",),
        ("Describe topic {t}", "Create topic {t}"),
    ):
        name = s.name(f"auto{len(rights)}{rights[-1].partition(' ')[2][:3] if rights else ''}")
        if rights:
            grant(s, user, *(right.format(t=name) for right in rights))
        link.ask(
            "Metadata",
            9,
            topics=[{"name": name}],
            allow_auto_topic_creation=True,
            include_cluster_authorized_operations=False,
            include_topic_authorized_operations=False,
        )
        if rights:
            revoke_all(s, user)
