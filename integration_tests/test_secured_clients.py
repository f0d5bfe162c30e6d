"""Unmodified clients that log in over TLS (SASL_SSL, SCRAM) and have rights of their own, on the
emulator and on a real Apache Kafka 4.4.0 with StandardAuthorizer.

What is compared is what both have to come to: who owns what when all is quiet, which error a
refusal is to each library, and that open connections outlive a change of the password. All stories
are under way at once; each test awaits its own. On a real broker `make test` has one story of each
library, `make fuzz` the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from integration_tests.clients import java_agent
from integration_tests.clients.agents_running import Agents
from integration_tests.clients.perform import Part, Performance
from integration_tests.clients.secured_cast import NEW_PASSWORD, SECURED_VARIANTS, SecuredCast
from integration_tests.conftest import REQUIRED
from integration_tests.gate import on_a_real_broker
from integration_tests.targets import EmulatorTarget, KafkaTarget
from integration_tests.wire.secured import PROFILE
from tools.kafka_jars import NoJavaError

Story = Callable[[SecuredCast], None]
REFUSED: Final = "GROUP_AUTHORIZATION_FAILED"
WRONG_PASSWORD: Final = {
    "aiokafka": "create: KafkaConnection",
    "java": "poll failed: SASL_AUTHENTICATION_FAILED",
    "kafka-python": "create: KafkaTimeout",
}
"""What a wrong password is to each library. librdkafka tells a callback, and tries for ever."""
_OWN_SETTINGS: Final[dict[str, dict[str, Any]]] = {"kafka-python": {"bootstrap_timeout_ms": 3_000}}


def members_share(cast: SecuredCast) -> None:
    """A rebalance over TLS: a newcomer gets its share, who closes leaves its own to the others."""
    cast.give_group()
    orders = cast.topic("orders", 6)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    b = cast.member("B").subscribe(orders)
    cast.settled(a, b)
    assert (len(a.owned), len(b.owned)) == (3, 3)
    cast.produce(orders, dict.fromkeys(range(6), "x"))
    a.until_consumed(3)
    b.until_consumed(3)
    a.commit()
    assert a.steps[-1] == "commit: ok"
    a.close()
    cast.settled(b)
    assert len(b.owned) == 6


def a_group_is_refused(cast: SecuredCast) -> None:
    """Who may not read the group is told so, and gets in once it may."""
    orders = cast.topic("orders", 2)
    a = cast.member("A").subscribe(orders)
    a.until_step(f"poll failed: {REFUSED}")
    assert not a.owned
    cast.give_group()
    cast.settled(a)


def a_right_is_taken_away(cast: SecuredCast) -> None:
    """A member whose right to the group is gone is told so, and goes on once it is back."""
    cast.give_group()
    orders = cast.topic("orders", 2)
    a = cast.member("A", session_timeout_ms=45_000).subscribe(orders)
    cast.settled(a)
    cast.produce(orders, {0: "ab"})
    a.until_consumed(2)
    cast.take_group()
    a.commit()
    a.until_step(f"commit: {REFUSED}", f"poll failed: {REFUSED}")
    cast.give_group()
    cast.settled(a)
    a.commit()
    assert a.steps[-1] == "commit: ok"
    cast.until_committed(orders, 0, 2)


def a_password_is_changed(cast: SecuredCast) -> None:
    """SCRAM-5: open connections live on; who comes later needs the new password."""
    cast.give_group()
    orders = cast.topic("orders", 4)
    a = cast.member("A").subscribe(orders)
    cast.settled(a)
    cast.produce(orders, dict.fromkeys(range(4), "x"))
    a.until_consumed(4)
    cast.change_password()
    a.commit()
    assert a.steps[-1] == "commit: ok"
    b = cast.member("B", password=NEW_PASSWORD).subscribe(orders)
    cast.settled(a, b)
    library = cast.variant.library
    told = WRONG_PASSWORD.get(library)
    if told is None:
        return
    c = cast.member("C", **_OWN_SETTINGS.get(library, {}))
    if told.startswith("create"):
        assert c.steps == [told]
        c.gone()
    else:
        c.subscribe(orders).until_step(told)
    assert (len(a.owned), len(b.owned)) == (2, 2)


STORIES: Final[dict[str, Story]] = {
    story.__name__: story
    for story in (
        members_share,
        a_group_is_refused,
        a_right_is_taken_away,
        a_password_is_changed,
    )
}
PARTS: Final = [(variant, story) for variant in SECURED_VARIANTS for story in STORIES]


@pytest.fixture(scope="session")
def no_java() -> str:
    """Why the Java consumer cannot play; empty if it can."""
    try:
        java_agent.command()
    except NoJavaError as reason:
        return str(reason)
    return ""


def performance(
    request: pytest.FixtureRequest, test: str, address: str
) -> Iterator[Performance[None]]:
    """Begin all the parts that tests of this name will ask for."""
    agents, no_java = (request.getfixturevalue(name) for name in ("agents", "no_java"))
    chosen: list[Part] = []
    for item in request.session.items:
        if (
            isinstance(item, pytest.Function)
            and item.module.__name__ == __name__
            and item.originalname == test
        ):
            part: Any = item.callspec.params["part"]
            if not (no_java and part[0] == "java"):
                chosen.append(part)
    performed = Performance(lambda part: play(part, address, agents), chosen)
    yield performed
    performed.close()


def play(part: Part, address: str, agents: Agents) -> None:
    """Play one story; Stuck says what did not come."""
    variant, story = part
    cast = SecuredCast(SECURED_VARIANTS[variant], address, agents)
    try:
        STORIES[story](cast)
    finally:
        cast.transcript()
        cast.leave()


@pytest.fixture(scope="session")
def on_emulator(
    request: pytest.FixtureRequest, emulator: EmulatorTarget
) -> Iterator[Performance[None]]:
    """Everything on the emulator."""
    yield from performance(request, test_on_the_emulator.__name__, emulator.address(PROFILE))


@pytest.fixture(scope="session")
def on_kafka(request: pytest.FixtureRequest, kafka: KafkaTarget) -> Iterator[Performance[None]]:
    """Everything on a real broker."""
    yield from performance(request, test_on_a_real_broker.__name__, kafka.address(PROFILE))


def awaited(part: Part, performed: Performance[None], no_java: str) -> None:
    """Fail if a story failed."""
    if part not in performed.played:
        reason = f"the Java consumer cannot play: {no_java}"
        if REQUIRED:
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    performed.played[part].result()


@pytest.mark.parametrize("part", PARTS, ids="-".join)
def test_on_the_emulator(part: Part, on_emulator: Performance[None], no_java: str) -> None:
    awaited(part, on_emulator, no_java)


@pytest.mark.parametrize(
    "part",
    on_a_real_broker(
        PARTS, [part for part in PARTS if part[1] == members_share.__name__], "-".join
    ),
)
def test_on_a_real_broker(part: Part, on_kafka: Performance[None], no_java: str) -> None:
    awaited(part, on_kafka, no_java)
