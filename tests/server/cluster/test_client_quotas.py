"""Client quotas (KIP-546): what can be set for whom, and how it is found. Codes and texts as Kafka
4.4.0 answered them."""

from __future__ import annotations

import math

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.cluster.client_quotas import (
    DEFAULT,
    EXACT,
    SPECIFIED,
    Change,
    ClientQuotas,
    Component,
    QuotaRefused,
    duplicate,
    entity,
)

ME = entity([("user", "me")])


def refusal(whose: tuple[tuple[str, str | None], ...], **values: float) -> str:
    quotas = ClientQuotas()
    with pytest.raises(QuotaRefused) as refused:
        quotas.alter(
            entity(whose),
            [Change(key, value) for key, value in values.items()],
            validate_only=False,
        )
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    assert list(quotas.find([], strict=False)) == []
    return str(refused.value)


def test_an_entity_stands_in_the_order_of_a_java_map() -> None:
    assert entity([("user", "u"), ("client-id", None)]) == (("client-id", None), ("user", "u"))
    assert entity([("ip", "1.2.3.4"), ("user", "u")]) == (("user", "u"), ("ip", "1.2.3.4"))
    assert entity([("user", "u"), ("client-id", None), ("ip", "x")]) == (
        ("client-id", None),
        ("user", "u"),
        ("ip", "x"),
    )
    assert entity([("user", "a"), ("user", "b")]) == (("user", "b"),)
    assert entity([]) == ()
    assert str(duplicate(entity([("user", "u"), ("client-id", None)]))) == (
        "Ignoring duplicate entity ClientQuotaEntity(entries={client-id=null, user=u})"
    )


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("nope", 1, "Invalid configuration key nope"),
        ("connection_creation_rate", 1, "Invalid configuration key connection_creation_rate"),
        ("producer_byte_rate", 0, "Quota producer_byte_rate must be greater than 0"),
        ("request_percentage", -0.5, "Quota request_percentage must be greater than 0"),
        ("consumer_byte_rate", 1.5, "consumer_byte_rate cannot be a fractional value."),
        (
            "producer_byte_rate",
            1e300,
            "Proposed value for producer_byte_rate is too large for a LONG.",
        ),
        (
            "producer_byte_rate",
            math.inf,
            "Quota producer_byte_rate must be a finite number",
        ),
        ("producer_byte_rate", math.nan, "Quota producer_byte_rate must be a finite number"),
        ("request_percentage", math.inf, "Quota request_percentage must be a finite number"),
        ("request_percentage", -math.inf, "Quota request_percentage must be a finite number"),
    ],
)
def test_values_that_cannot_be(key: str, value: float, why: str) -> None:
    """QUO-44-1: numbers that are finite."""
    assert refusal((("user", "me"),), **{key: value}) == why


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("producer_byte_rate", float(2**63)),
        ("producer_byte_rate", 1.0000001),
        ("controller_mutation_rate", 1e-9),
    ],
)
def test_values_that_just_can_be(key: str, value: float) -> None:
    quotas = ClientQuotas()
    quotas.alter(ME, [Change(key, value)], validate_only=False)
    [(whose, found)] = quotas.find([], strict=False)
    assert whose == ME
    assert str(found) == str({key: value})


@pytest.mark.parametrize(
    ("whose", "why"),
    [
        ((), "Invalid empty client quota entity"),
        ((("nope", "a"),), "Unhandled client quota entity type: nope"),
        ((("user", ""), ("nope", None)), "Empty user not supported"),
        (
            (("ip", "1.2.3.4"), ("user", "a")),
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId",
        ),
        ((("ip", "not an ip"),), "not an ip is not a valid IP or resolvable host."),
        ((("ip", "300.1.1.1"),), "300.1.1.1 is not a valid IP or resolvable host."),
        (
            (("ip", "no.such.host.invalid"),),
            "no.such.host.invalid is not a valid IP or resolvable host.",
        ),
    ],
)
def test_entities_that_cannot_be(whose: tuple[tuple[str, str | None], ...], why: str) -> None:
    assert refusal(whose, connection_creation_rate=1) == why


@pytest.mark.parametrize("name", ["1.2.3.4", "::1", "localhost", "a.host.name", None])
def test_addresses(name: str | None) -> None:
    quotas = ClientQuotas()
    quotas.alter(
        (("ip", name),), [Change("connection_creation_rate", 2**31 - 1)], validate_only=False
    )
    assert len(list(quotas.find([Component("ip", SPECIFIED, None)], strict=True))) == 1
    assert refusal((("ip", name),), connection_creation_rate=2.0**31) == (
        "Proposed value for connection_creation_rate is too large for an INT."
    )


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (("producer_byte_rate", "nope"), "Invalid configuration key nope"),
        (("nope", ""), "Invalid configuration key "),
        (
            ("controller_mutation_rate", "consumer_byte_rate"),
            "Quota consumer_byte_rate must be greater than 0",
        ),
        (
            ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "a"),
            "Invalid configuration key a",
        ),
    ],
)
def test_of_several_faults_the_first_of_a_java_map_is_told(
    keys: tuple[str, ...], told: str
) -> None:
    assert refusal(ME, **dict.fromkeys(keys, -1.0)) == told


def test_all_of_an_entry_or_none() -> None:
    quotas = ClientQuotas()
    with pytest.raises(QuotaRefused):
        quotas.alter(ME, [Change("consumer_byte_rate", 8), Change("nope", 9)], validate_only=False)
    quotas.alter(ME, [Change("consumer_byte_rate", 8)], validate_only=True)
    assert list(quotas.find([], strict=False)) == []


def test_removed() -> None:
    quotas = ClientQuotas()
    quotas.alter(
        ME, [Change("consumer_byte_rate", 8), Change("producer_byte_rate", 9)], validate_only=False
    )
    quotas.alter(
        ME, [Change("consumer_byte_rate", None), Change("nope", None)], validate_only=False
    )
    assert list(quotas.find([], strict=False)) == [(ME, {"producer_byte_rate": 9})]
    quotas.alter(ME, [Change("producer_byte_rate", None)], validate_only=False)
    assert list(quotas.find([], strict=False)) == []


def test_found() -> None:
    quotas = ClientQuotas()
    both, anybody = entity([("user", "me"), ("client-id", "c")]), entity([("user", None)])
    for whose in (ME, both, anybody):
        quotas.alter(whose, [Change("producer_byte_rate", 1)], validate_only=False)

    def found(*components: Component, strict: bool = False) -> list[object]:
        return [whose for whose, _ in quotas.find(components, strict=strict)]

    assert found() == [ME, both, anybody]
    assert found(strict=True) == []
    assert found(Component("user", EXACT, "me")) == [ME, both]
    assert found(Component("user", EXACT, "me"), strict=True) == [ME]
    assert found(Component("user", DEFAULT, None)) == [anybody]
    assert found(Component("user", SPECIFIED, None), strict=True) == [ME, anybody]
    assert found(Component("user", SPECIFIED, None), Component("client-id", EXACT, "c")) == [both]
    assert found(Component("client-id", DEFAULT, None)) == []


@pytest.mark.parametrize(
    ("components", "code", "why"),
    [
        ([("nope", EXACT, "x")], 35, "Unsupported entity type nope"),
        ([("", EXACT, "x")], 42, "Invalid empty entity type."),
        (
            [("user", EXACT, None)],
            42,
            "Request specified MATCH_TYPE_EXACT, but set match string to null.",
        ),
        (
            [("user", DEFAULT, "x")],
            42,
            "Request specified MATCH_TYPE_DEFAULT, but also specified a match string.",
        ),
        (
            [("user", SPECIFIED, "x")],
            42,
            "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string.",
        ),
        ([("user", 3, None)], 42, "Unknown match type 3"),
        (
            [("user", SPECIFIED, None), ("user", DEFAULT, None)],
            42,
            "Entity type user cannot appear more than once in the filter.",
        ),
        (
            [("ip", SPECIFIED, None), ("user", SPECIFIED, None)],
            42,
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId filter component.",
        ),
    ],
)
def test_questions_that_cannot_be(
    components: list[tuple[str, int, str | None]], code: int, why: str
) -> None:
    with pytest.raises(QuotaRefused) as refused:
        list(ClientQuotas().find([Component(*each) for each in components], strict=False))
    assert (refused.value.code, str(refused.value)) == (code, why)
