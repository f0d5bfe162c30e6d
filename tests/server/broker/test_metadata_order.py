"""The order of topics in Metadata, as real brokers answered (HM-4, HM-7, META-44-1)."""

from __future__ import annotations

import pytest

from coordinator.base.releases import NEWEST, release_named
from coordinator.base.scala_sets import copied_to_java, in_set_order
from coordinator.base.slices import ITEMS_A_STEP, whole
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.server.broker.driver import Driver

KAFKA_4_4 = [
    (
        "duigv juigv puigv",
        "duigv juigv puigv",
    ),
    (
        "vyzgo qyzgo ayzgo iyzgo",
        "iyzgo ayzgo vyzgo qyzgo",
    ),
    (
        "qayev mayev fayev kayev dayev",
        "dayev fayev kayev mayev qayev",
    ),
    (
        "gcunf ccunf ycunf zcunf rcunf ocunf",
        "zcunf ocunf ycunf rcunf gcunf ccunf",
    ),
    (
        "wpocu xpocu gpocu kpocu cpocu dpocu spocu opocu vpocu upocu ipocu hpocu",
        "dpocu upocu kpocu xpocu ipocu wpocu spocu opocu cpocu vpocu hpocu gpocu",
    ),
    (
        "qqxzj bqxzj mqxzj sqxzj tqxzj zqxzj hqxzj vqxzj pqxzj xqxzj eqxzj uqxzj oqxzj gqxzj aqxzj lqxzj kqxzj wqxzj jqxzj fqxzj",
        "bqxzj sqxzj lqxzj qqxzj uqxzj jqxzj wqxzj fqxzj hqxzj mqxzj aqxzj oqxzj eqxzj pqxzj vqxzj kqxzj tqxzj zqxzj gqxzj xqxzj",
    ),
]
"""Names that there are no topics of, as they were asked for and as a broker of 4.4.0 answered."""


def ask(driver: Driver, names: list[str]) -> list[str | None]:
    """The names in the answer."""
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=False,
    )
    answer = driver.client().ask(request, 12)
    assert isinstance(answer, MetadataResponse)
    return [topic.name for topic in answer.topics]


@pytest.mark.parametrize(("asked", "answered"), KAFKA_4_4)
def test_unknown_topics_stand_as_kafka_4_4_names_them(asked: str, answered: str) -> None:
    """META-44-1."""
    assert ask(Driver(), asked.split()) == answered.split()


@pytest.mark.parametrize(("asked", "answered"), KAFKA_4_4)
def test_known_topics_stand_in_the_order_of_the_set(asked: str, answered: str) -> None:
    """HM-7: up to four as they were asked for; a set's order does not depend on that of more."""
    names = asked.split()
    driver = Driver([f"{name}:1" for name in names])
    got = ask(driver, names)
    copied = copied_to_java([name for name in got if name is not None])
    assert whole(copied, 0) == answered.split()
    assert (got == names) or len(names) > 4
    if len(names) > 4:
        assert got == ask(driver, names[::-1])


def test_unknown_topics_of_4_3_stand_in_the_order_of_the_set() -> None:
    names = KAFKA_4_4[-1][0].split()
    driver = Driver(release=release_named("4.3"))
    assert not release_named("4.3").has("META-44-1")
    assert NEWEST.has("META-44-1")
    assert ask(driver, names) == whole_order(names)


def whole_order(names: list[str]) -> list[str]:
    """The order of a set, at once."""
    return whole(in_set_order(names), 0)


def test_many_names_are_put_in_order_in_slices() -> None:
    """One loop serves everybody: nothing is done for more than a few names without a stop."""
    names = [f"topic-{number}" for number in range(5_000)]
    for order in (in_set_order(names), copied_to_java(names)):
        stops = sum(1 for _ in order)
        assert stops >= len(names) // ITEMS_A_STEP
