"""What is plainly a fault of Kafka 4.4.0: requests never answered, groups left stuck. Recorded to
know them; not to be copied."""

from __future__ import annotations

from integration_tests.wire.people import Member, protocols, state, topic
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.produce import request


@scenario()
def null_records(s: Session) -> None:
    """Produce with null record bytes is never answered."""
    a = s.connect()
    a.send("Produce", 12, **request(topic(s, "t"), None))
    a.silent()


@scenario()
def one_protocol_twice(s: Session) -> None:
    """PROTO-5: the same assignor twice: never answered, and the group hangs in
    PreparingRebalance."""
    group = s.name("g")
    a = Member(s, "a", group, version=3)
    a.send_join(protocols=protocols("range", "range"))
    a.link.silent(400)
    s.say("state", state(s, group))


@scenario()
def a_subscription_that_lies_about_its_length(s: Session) -> None:
    """EXP-8: a count or length beyond the end of a first member's subscription: the join phase
    never ends."""
    group = s.name("g")
    a = Member(s, "a", group, version=3)
    a.send_join(protocols=protocols("range", metadata="00000000000900"))
    a.link.silent(400)
    s.say("state", state(s, group))


@scenario()
def one_resource_twice_in_alter_configs(s: Session) -> None:
    """AlterConfigs with a resource named twice is never answered."""
    a = s.connect()
    name = topic(s, "t")
    resource = {
        "resource_type": 2,
        "resource_name": name,
        "configs": [{"name": "segment.ms", "value": "100000"}],
    }
    a.send("AlterConfigs", 2, resources=[resource, resource], validate_only=False)
    a.silent()
