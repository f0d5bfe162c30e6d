"""The coordinator's assignors: vectors, what Kafka's own classes answer to the same cases, and
Java's tables and trees."""

from __future__ import annotations

import pytest

from assignors import AssignorError, java_hashing
from assignors.server_side import (
    DEFAULT_ASSIGNORS,
    GroupSpec,
    Member,
    RangeAssignor,
    ServerAssignor,
    UniformAssignor,
)
from tests.assignors import server_cases
from tests.assignors.client_java import mean_the_same_java
from tests.java_jars import NoJavaError, java_program

T1 = bytes(15) + b"\x01"
T2 = bytes(15) + b"\x02"


def spec(partitions: dict[bytes, int], **members: Member) -> GroupSpec:
    return GroupSpec(members=members, partitions=partitions)


W1 = spec({T1: 3, T2: 2}, A=Member(topics=(T1, T2)), B=Member(topics=(T1, T2)))


def test_srv_2_range() -> None:
    """SRV-2, vector W1."""
    assert RangeAssignor().assign(W1) == {"A": {T1: (0, 1), T2: (0,)}, "B": {T1: (2,), T2: (1,)}}


def test_srv_2_range_static_members_come_first() -> None:
    """SRV-2, APA-2."""
    group = spec(
        {T1: 3},
        A=Member(topics=(T1,)),
        B=Member(topics=(T1,), instance_id="z"),
        C=Member(topics=(T1,), instance_id="y"),
    )
    assert RangeAssignor().assign(group) == {"C": {T1: (0,)}, "B": {T1: (1,)}, "A": {T1: (2,)}}


def test_srv_3_uniform_from_nothing() -> None:
    """SRV-3 as it is since 4.1: A hands the fifth partition on, because it holds none and B is
    still to come (before: vector W2)."""
    assert UniformAssignor().assign(W1) == {"A": {T1: (0, 1)}, "B": {T1: (2,), T2: (0, 1)}}


def test_srv_3_uniform_takes_no_more_than_it_must() -> None:
    """SRV-3, vector W3."""
    group = spec(
        {T1: 6},
        A=Member(topics=(T1,), assignment={T1: (0, 1, 2)}),
        B=Member(topics=(T1,), assignment={T1: (3, 4, 5)}),
        C=Member(topics=(T1,)),
    )
    assert UniformAssignor().assign(group) == {
        "A": {T1: (0, 1)},
        "B": {T1: (3, 4)},
        "C": {T1: (2, 5)},
    }


def test_srv_3_who_holds_an_extra_partition_keeps_it() -> None:
    """SRV-3 as it is since 4.1: A would get the extra partition, but B holds it already."""
    group = spec(
        {T1: 3},
        A=Member(topics=(T1,), assignment={T1: (0,)}),
        B=Member(topics=(T1,), assignment={T1: (1, 2)}),
    )
    assert UniformAssignor().assign(group) == {"A": {T1: (0,)}, "B": {T1: (1, 2)}}


def test_srv_4_uniform_with_unequal_subscriptions() -> None:
    """SRV-4, vector W4."""
    group = spec(
        {T1: 3, T2: 4}, A=Member(topics=(T1,)), B=Member(topics=(T1, T2)), C=Member(topics=(T2,))
    )
    assert not group.is_homogeneous()
    assert UniformAssignor().assign(group) == {
        "A": {T1: (0, 1, 2)},
        "B": {T2: (0, 2)},
        "C": {T2: (1, 3)},
    }


@pytest.mark.parametrize("assignor", DEFAULT_ASSIGNORS)
@pytest.mark.parametrize("homogeneous", [True, False])
def test_srv_5_a_topic_that_nobody_can_describe(
    assignor: ServerAssignor, homogeneous: bool
) -> None:
    """SRV-5."""
    group = GroupSpec(members={"A": Member(topics=(T1,))}, partitions={}, homogeneous=homogeneous)
    with pytest.raises(AssignorError, match="SRV-5"):
        assignor.assign(group)


@pytest.mark.parametrize("assignor", DEFAULT_ASSIGNORS)
def test_an_empty_group_and_a_group_without_topics(assignor: ServerAssignor) -> None:
    """SRV-1, SRV-3."""
    assert assignor.assign(spec({T1: 1})) == {}
    assert not any(
        assignor.assign(spec({T1: 1}, A=Member(topics=(), assignment={T1: (0,)}))).values()
    )


def test_partitions_that_nobody_may_have_are_an_error() -> None:
    """SRV-3: two members' targets hold the same partitions, and so one is left over."""
    twice = Member(topics=(T1,), assignment={T1: (0, 1)})
    with pytest.raises(AssignorError, match="left unassigned"):
        UniformAssignor().assign(
            GroupSpec(members={"A": twice, "B": twice}, partitions={T1: 3}, homogeneous=True)
        )


def test_a_target_beyond_the_end_of_its_topic_is_an_error() -> None:
    """SRV-4: Java's array index is out of bounds."""
    group = spec(
        {T1: 1, T2: 1}, A=Member(topics=(T1,), assignment={T1: (1,)}), B=Member(topics=(T2,))
    )
    with pytest.raises(AssignorError, match="SRV-4"):
        UniformAssignor().assign(group)


@pytest.mark.parametrize("name", server_cases.ASSIGNORS)
@pytest.mark.unmeasured
def test_same_answers_as_java(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SRV-1..SRV-5: 500 cases, among them those that Java refuses; order counts."""
    monkeypatch.setattr(java_hashing, "java_release", java_hashing.java_release)
    try:
        with java_program("ServerAssignors") as java:
            mean_the_same_java(java)
            assert not next(
                server_cases.differences(java, name, 0, range(500 // server_cases.STEPS)), None
            )
    except NoJavaError as missing:
        pytest.skip(str(missing))
