"""Share groups (KIP-932): members that join, stay and leave, their epochs, topics that change,
descriptions, other types of groups (SH-HB, SH-EP, SH-CFG, SH-ASN, SH-TYP, SH-LST, SH-DEL, SH-DSC)."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, await_coordinators, topics
from integration_tests.wire.people import Member, await_topic, topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.share_members import API, ShareMember, describe


@scenario("shares", since="4.2")
def a_lone_member(s: Session) -> None:
    """It joins, is given its partitions when their state is initialised, stays and leaves; the
    group is empty and can be deleted (SH-HB-2, SH-HB-3, SH-DEL-1)."""
    (t,) = topics(s, 3)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(3)
    describe(a.link, a.group)
    a.beat()
    a.beat(subscribed_topic_names=[t])
    a.link.ask("ListGroups", 5, only="groups")
    a.link.ask("DeleteGroups", 3, groups_names=[a.group])
    a.leave()
    describe(a.link, a.group)
    a.link.ask("ListGroups", 5, only="groups")
    a.beat()
    a.leave()
    a.link.ask("DeleteGroups", 3, groups_names=[a.group])
    a.link.ask("DeleteGroups", 3, groups_names=[a.group])
    describe(a.link, a.group)
    a.beat()
    a.leave()


@scenario("shares", since="4.2")
def a_second_life(s: Session) -> None:
    """A group that is deleted and made again begins at epoch 2, without partitions."""
    (t,) = topics(s, 2)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(2)
    a.leave()
    a.link.ask("DeleteGroups", 2, groups_names=[a.group])
    a.join(t)
    a.until(2)
    describe(a.link, a.group)


@scenario("shares", since="4.2")
def partitions_known_from_before(s: Session) -> None:
    """An emptied group gives the partitions that it has initialised at once."""
    (t,) = topics(s, 2)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(2)
    a.leave()
    describe(a.link, a.group)
    a.join(t)
    describe(a.link, a.group)
    a.beat()


@scenario("shares", since="4.2")
def requests_that_are_none(s: Session) -> None:
    """What is refused before any group is looked at (SH-HB-1)."""
    (t,) = topics(s, 1)
    a, group = s.connect("a"), s.name("g")
    join: Plain = {"group_id": group, "member_id": "m", "subscribed_topic_names": [t]}
    wrong: list[Plain] = [
        {"member_id": ""},
        {"member_id": " "},
        {"member_id": "x" * 36},
        {"member_id": "x" * 37},
        {"member_id": "x" * 40},
        {"group_id": ""},
        {"group_id": "  "},
        {"rack_id": ""},
        {"rack_id": " "},
        {"member_epoch": -2},
        {"member_epoch": -100},
        {"subscribed_topic_names": None},
        {"subscribed_topic_names": []},
        {"member_id": "", "member_epoch": 1},
        {"member_id": "", "member_epoch": -1},
        {"member_epoch": 1},
        {"member_epoch": -1},
        {"subscribed_topic_names": [""]},
        {"subscribed_topic_names": ["not/a/topic"]},
    ]
    for fields in wrong:
        a.ask(API, 1, **{**join, **fields})
    describe(a, group)


@scenario("shares", since="4.2")
def names_of_a_rejoin(s: Session) -> None:
    """A member that is known may come again with no names, with null, or with a name twice."""
    (t,) = topics(s, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t, t)
    a.until(1)
    describe(a.link, a.group)
    a.join(t)
    a.beat(member_epoch=0, subscribed_topic_names=None)
    a.beat(member_epoch=0, subscribed_topic_names=[])
    describe(a.link, a.group)
    a.beat()
    a.beat(subscribed_topic_names=[])
    a.beat(subscribed_topic_names=[t])
    a.beat()
    describe(a.link, a.group)


@scenario("shares", since="4.2")
def epochs_too_old_and_too_new(s: Session) -> None:
    """The current epoch and the one before are accepted, others fence (SH-EP-1)."""
    (t,) = topics(s, 2)
    a, b = (ShareMember(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.until(2)
    now = a.epoch
    for epoch in (now, now - 1, now - 2, now + 1, 1_000_000, 2_147_483_647):
        a.beat(member_epoch=epoch)
    b.counted(subscribed_topic_names=[t])
    a.counted()
    a.beat(member_epoch=now)
    a.beat(member_epoch=now - 1)
    a.counted(member_epoch=0, subscribed_topic_names=[t])
    a.beat(member_epoch=0, subscribed_topic_names=None)
    b.beat(member_id="stranger")
    b.beat(member_id="stranger", member_epoch=-1)
    b.beat(group_id=s.name("other"))
    b.beat(group_id=s.name("other"), member_epoch=-1)
    describe_counts(s, a)


@scenario("shares", since="4.2")
def two_members(s: Session) -> None:
    """The second takes what it is given at once; the first learns with its next heartbeat; one
    leaves (SH-HB-3)."""
    (t,) = topics(s, 4)
    a, b = (ShareMember(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.until(4)
    b.counted(subscribed_topic_names=[t])
    describe_counts(s, a)
    for member in (a, b, b):
        member.counted()
    s.say("none is left out", sorted(p for m in (a, b) for of in m.given.values() for p in of))
    b.leave()
    describe_counts(s, a)
    a.beat()


def describe_counts(s: Session, member: ShareMember) -> None:
    """A description, with how many partitions each has: which ones is a matter of hashes
    (SH-ASN-2)."""
    answer = member.link.ask_quietly("ShareGroupDescribe", 1, group_ids=[member.group])
    (group,) = answer["groups"]
    shown = {
        **{name: group[name] for name in ("group_state", "group_epoch", "assignment_epoch")},
        "members": sorted(
            [
                [
                    s.names.text(of["member_id"]),
                    of["member_epoch"],
                    sum(len(t["partitions"]) for t in of["assignment"]["topic_partitions"]),
                ]
                for of in group["members"]
            ]
        ),
    }
    s.say("described", shown)


@scenario("shares", since="4.2")
def a_topic_more(s: Session) -> None:
    """A second topic costs two epochs: one for the subscription, one when it is initialised
    (SH-HB-2)."""
    t, u = topics(s, 2, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(2)
    a.beat(subscribed_topic_names=[t, u])
    a.until(3)
    describe(a.link, a.group)
    a.beat(subscribed_topic_names=[u])
    a.beat(subscribed_topic_names=[t])
    a.beat()
    describe(a.link, a.group)


@scenario("shares", since="4.2")
def a_topic_that_comes_later(s: Session) -> None:
    """A name that no topic has is a subscription; the topic is given when it is there."""
    topics(s, 1)
    later = s.name("later")
    a = ShareMember(s, "a", s.name("g"))
    a.join(later)
    describe(a.link, a.group)
    a.beat()
    assert topic(s, "later", 2) == later
    s.names.topic_id(topic_id(s, later))
    await_coordinators(s, later)
    a.until(2)
    describe(a.link, a.group)


@scenario("shares", since="4.2")
def a_topic_that_grows(s: Session) -> None:
    """New partitions are initialised first, then given."""
    (t,) = topics(s, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(1)
    s.stage().ask_quietly(
        "CreatePartitions",
        3,
        topics=[{"name": t, "count": 3, "assignments": None}],
        timeout_ms=10_000,
        validate_only=False,
    )
    await_topic(s.stage(), t, 3)
    a.until(3)
    describe(a.link, a.group)


@scenario("shares", since="4.2")
def a_topic_that_goes(s: Session) -> None:
    """A deleted topic is taken away."""
    t, u = topics(s, 2, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t, u)
    a.until(3)
    s.stage().ask_quietly("DeleteTopics", 6, topics=[{"name": u}], timeout_ms=10_000)
    await_topic(s.stage(), u, None)
    a.until(2)
    describe(a.link, a.group)


@scenario("shares", since="4.2")
def a_session_that_ends(s: Session) -> None:
    """A member that is silent goes, and the group's epochs rise together (SH-HB-4)."""
    (t,) = topics(s, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(1)
    configs = [
        {"name": "share.heartbeat.interval.ms", "config_operation": 0, "value": "100"},
        {"name": "share.session.timeout.ms", "config_operation": 0, "value": "1000"},
    ]
    s.stage().ask(
        "IncrementalAlterConfigs",
        1,
        resources=[{"resource_type": 32, "resource_name": a.group, "configs": configs}],
        validate_only=False,
    )
    s.until(
        lambda: a.link.ask_quietly(API, 1, **a.said())["heartbeat_interval_ms"] == 100,
        "the interval never changed",
    )
    a.beat()
    s.until(
        lambda: (
            a.link.ask_quietly("ShareGroupDescribe", 1, group_ids=[a.group])["groups"][0][
                "group_state"
            ]
            == "Empty"
        ),
        "the member never went",
    )
    describe(a.link, a.group)
    a.beat()
    a.join(t)


@scenario("share_limits", since="4.2")
def a_full_group(s: Session) -> None:
    """The third member is refused, members that are there are not (SH-CFG-1)."""
    (t,) = topics(s, 2)
    a, b, c = (ShareMember(s, label, s.name("g")) for label in "abc")
    a.join(t)
    a.until(2)
    b.counted(subscribed_topic_names=[t])
    c.join(t)
    c.beat(member_epoch=1)
    c.leave()
    b.counted(member_epoch=0, subscribed_topic_names=[t])
    a.leave()
    c.counted(member_epoch=0, subscribed_topic_names=[t])
    describe_counts(s, c)


@scenario("shares", since="4.2")
def more_members_than_partitions(s: Session) -> None:
    """Each has a partition, some partitions have several members (SH-ASN-1)."""
    (t,) = topics(s, 2)
    members = [ShareMember(s, label, s.name("g")) for label in "abcde"]
    members[0].join(t)
    members[0].until(2)
    for member in members[1:]:
        member.counted(subscribed_topic_names=[t])
        describe_counts(s, member)
    members[1].leave()
    describe_counts(s, members[0])
    for member in (members[0], *members[2:]):
        member.counted()


@scenario("shares", since="4.2")
def described(s: Session) -> None:
    """Unknown, of other types, without a name, twice; authorised operations if asked (SH-DSC-1)."""
    (t,) = topics(s, 1)
    a = ShareMember(s, "a", s.name("g"), rack_id="r1")
    a.join(t)
    a.until(1)
    consumer = Consumer(s, "c", s.name("consumer"))
    consumer.join(t)
    classic = Member(s, "m", s.name("classic"))
    classic.join()
    describe(a.link, s.name("nowhere"))
    describe(a.link, consumer.group)
    describe(a.link, classic.group)
    describe(a.link, "")
    describe(a.link, a.group, a.group)
    describe(a.link, a.group, include_authorized_operations=True)
    describe(a.link)


@scenario("shares", since="4.2")
def other_requests_at_a_share_group(s: Session) -> None:
    """What members of other protocols and administrators are told (SH-TYP-1)."""
    (t,) = topics(s, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(1)
    for _ in range(2):
        consumer = Consumer(s, "c", a.group)
        consumer.join(t)
        consumer.leave()
        classic = Member(s, "m", a.group)
        classic.join()
        a.link.ask("DescribeGroups", 6, groups=[a.group])
        a.link.ask("DescribeGroups", 5, groups=[a.group])
        a.link.ask("ConsumerGroupDescribe", 1, group_ids=[a.group])
        consumer.commit(t)
        consumer.commit(t, epoch=-1, member_id="")
        consumer.fetch(t)
        consumer.fetch(t, member_id=None, member_epoch=-1)
        a.link.ask(
            "OffsetDelete",
            0,
            group_id=a.group,
            topics=[{"name": t, "partitions": [{"partition_index": 0}]}],
        )
        a.link.ask(
            "SyncGroup",
            5,
            group_id=a.group,
            generation_id=1,
            member_id="m",
            protocol_type="consumer",
            protocol_name="range",
            assignments=[],
        )
        a.link.ask("Heartbeat", 4, group_id=a.group, generation_id=1, member_id="m")
        a.link.ask("LeaveGroup", 5, group_id=a.group, members=[{"member_id": "m", "reason": None}])
        a.leave()


@scenario("shares", since="4.2")
def a_share_member_at_other_groups(s: Session) -> None:
    """Groups of other types refuse it, with members and emptied (SH-TYP-1)."""
    (t,) = topics(s, 1)
    consumer = Consumer(s, "c", s.name("consumer"))
    classic = Member(s, "m", s.name("classic"))
    consumer.join(t)
    classic.join()
    for group in (consumer.group, classic.group):
        member = ShareMember(s, "a", group)
        member.join(t)
        member.beat(member_epoch=1)
        member.leave()
    consumer.leave()
    classic.leave()
    for group in (consumer.group, classic.group):
        member = ShareMember(s, "a", group)
        member.join(t)
        member.leave()
    s.stage().ask(
        "OffsetCommit",
        9,
        group_id=s.name("commits"),
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[{"name": t, "partitions": [{"partition_index": 0, "committed_offset": 1}]}],
    )
    member = ShareMember(s, "a", s.name("commits"))
    member.join(t)


@scenario("shares", since="4.2")
def listed(s: Session) -> None:
    """Filters of ListGroups by type and state (SH-LST-1)."""
    (t,) = topics(s, 1)
    a, b = (ShareMember(s, label, s.name(f"g{label}")) for label in "ab")
    a.join(t)
    a.until(1)
    b.join(t)
    b.leave()
    for kinds in (["share"], ["Share"], ["SHARE", "consumer"], ["nothing"], ["classic"]):
        a.link.ask("ListGroups", 5, types_filter=kinds, only="groups")
    for states in (["Stable"], ["stable"], ["empty"], ["Empty", "Dead"], ["assigning"]):
        a.link.ask("ListGroups", 5, states_filter=states, types_filter=["share"], only="groups")
    a.link.ask("ListGroups", 3, only="groups")


@scenario("shares", since="4.2")
def what_the_coordinator_keeps_apart(s: Session) -> None:
    """Racks are told and change nothing; client ids are those of the last heartbeat."""
    (t,) = topics(s, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t, rack_id="r1")
    a.until(1)
    describe(a.link, a.group)
    a.beat(rack_id="r2")
    describe(a.link, a.group)
    other = s.connect("other", client_id="other")
    other.ask(API, 1, **a.said())
    describe(other, a.group)


@scenario("shares", since="4.2")
def another_interval(s: Session) -> None:
    """The group's own heartbeat interval is in the next answer; values out of bounds are refused
    (CFG-44-3)."""
    (t,) = topics(s, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(1)
    for name, value in (
        ("share.heartbeat.interval.ms", "1"),
        ("share.heartbeat.interval.ms", "15001"),
        ("share.session.timeout.ms", "60001"),
        ("share.session.timeout.ms", "50"),
        ("share.heartbeat.interval.ms", "6000"),
    ):
        s.stage().ask(
            "IncrementalAlterConfigs",
            1,
            resources=[
                {
                    "resource_type": 32,
                    "resource_name": a.group,
                    "configs": [{"name": name, "config_operation": 0, "value": value}],
                }
            ],
            validate_only=False,
        )
    s.until(
        lambda: a.link.ask_quietly(API, 1, **a.said())["heartbeat_interval_ms"] == 6000,
        "the interval never changed",
    )
    a.beat()


@scenario("shares", since="4.2")
def members_of_different_subscriptions(s: Session) -> None:
    """Each is given partitions of its own topics only."""
    t, u = topics(s, 2, 2)
    a, b = (ShareMember(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.until(2)
    b.join(u)
    b.until(2)
    describe(a.link, a.group)
    b.leave()
    a.beat()
    describe(a.link, a.group)


@scenario("shares", since="4.4")
def deleted_beside_others(s: Session) -> None:
    """DeleteGroups of an empty share group, one with members, one that is none, and a consumer
    group."""
    (t,) = topics(s, 1)
    a, b = (ShareMember(s, label, s.name(f"g{label}")) for label in "ab")
    a.join(t)
    b.join(t)
    b.leave()
    consumer = Consumer(s, "c", s.name("consumer"))
    consumer.join(t)
    names = [a.group, b.group, s.name("nowhere"), consumer.group]
    s.stage().ask("DeleteGroups", 3, groups_names=names, shuffled="results")
    describe(s.stage(), b.group)
    s.stage().ask("ListGroups", 5, only="groups")


@scenario("shares", since="4.2")
def a_topic_made_anew(s: Session) -> None:
    """A deleted topic that comes back under its name is another topic."""
    (t,) = topics(s, 2)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    a.until(2)
    s.stage().ask_quietly("DeleteTopics", 6, topics=[{"name": t}], timeout_ms=10_000)
    await_topic(s.stage(), t, None)
    a.until(0)
    assert topic(s, "t0", 1) == t
    s.names.topic_id(topic_id(s, t))
    await_coordinators(s, t)
    a.until(1)
    describe(a.link, a.group)


@scenario("shares", since="4.2")
def names_of_groups_and_members(s: Session) -> None:
    """Colons, blanks and letters of any kind are taken; what is trimmed away is not."""
    (t,) = topics(s, 1)
    for group, member in (("g:1", "m:1"), ("g 2", " m "), ("gü", "mü"), ("g-x", "0" * 36)):
        a = ShareMember(s, "a", s.name(group), member_id=member)
        a.join(t)
        a.until(1)
        describe(a.link, a.group)
        a.leave()
    b = ShareMember(s, "b", s.name("g"), member_id="\t")
    b.join(t)


@scenario("shares", since="4.2")
def a_topic_that_is_not_there_beside_one_that_is(s: Session) -> None:
    """A missing topic holds up nobody."""
    (t,) = topics(s, 2)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t, s.name("missing"))
    a.until(2)
    describe(a.link, a.group)
    a.beat(subscribed_topic_names=[s.name("missing")])
    describe(a.link, a.group)


@scenario("shares", since="4.2")
def a_member_that_left_comes_back(s: Session) -> None:
    """Under the same id, beside another member: it is a new member."""
    (t,) = topics(s, 2)
    a, b = (ShareMember(s, label, s.name("g")) for label in "ab")
    a.join(t)
    a.until(2)
    b.counted(subscribed_topic_names=[t])
    b.leave()
    b.leave()
    b.beat(member_epoch=4)
    b.counted(member_epoch=0, subscribed_topic_names=[t])
    a.counted()
    describe_counts(s, a)


@scenario("shares", since="4.2")
def six_partitions_among_three(s: Session) -> None:
    """Each has two; when one goes, three (SH-ASN-1, SH-ASN-2)."""
    (t,) = topics(s, 6)
    members = [ShareMember(s, label, s.name("g")) for label in "abc"]
    members[0].join(t)
    members[0].until(6)
    for member in members[1:]:
        member.counted(subscribed_topic_names=[t])
    for member in members:
        member.counted()
    kept = members[2].given
    members[1].leave()
    for member in (members[0], members[2]):
        member.counted()
    s.say("kept", all(set(old) <= set(members[2].given[of]) for of, old in kept.items()))
    describe_counts(s, members[0])


@scenario("shares", since="4.2")
def settings_taken_back(s: Session) -> None:
    """Without its own value a group has the broker's again."""
    (t,) = topics(s, 1)
    a = ShareMember(s, "a", s.name("g"))
    a.join(t)
    for operation, interval_ms in ((0, 6_000), (1, 5_000)):
        change = {"name": "share.heartbeat.interval.ms", "config_operation": operation}
        of = {"resource_type": 32, "resource_name": a.group}
        s.stage().ask_quietly(
            "IncrementalAlterConfigs",
            1,
            resources=[{**of, "configs": [{**change, "value": "6000"}]}],
            validate_only=False,
        )
        s.until(
            lambda wanted=interval_ms: (  # type: ignore[misc]
                a.link.ask_quietly(API, 1, **a.said())["heartbeat_interval_ms"] == wanted
            ),
            f"the interval was never {interval_ms}",
        )
        s.stage().ask(
            "DescribeConfigs",
            4,
            resources=[{**of, "configuration_keys": ["share.heartbeat.interval.ms"]}],
            include_synonyms=False,
            include_documentation=False,
        )


@scenario("shares", since="4.2")
def several_topics_at_once(s: Session) -> None:
    """All are initialised together; one that is left and taken up again is given at once."""
    names = topics(s, 1, 2, 3)
    a = ShareMember(s, "a", s.name("g"))
    a.join(*names)
    a.until(6)
    describe(a.link, a.group)
    a.beat(subscribed_topic_names=names[:1])
    a.beat(subscribed_topic_names=names)
    describe(a.link, a.group)
