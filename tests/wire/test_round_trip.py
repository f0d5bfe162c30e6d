"""Any message that a table can say comes back as it was, from its bytes and from its plain form."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coordinator.base.slices import whole
from coordinator.wire.json_values import bounds, from_plain, to_plain
from coordinator.wire.messages import API_KEYS
from coordinator.wire.schema import Field, Message, StructType
from tests.wire.samples import SERVED, all_versions, carried, message_types

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "binary": st.binary(max_size=300),
    "uuid": st.binary(min_size=16, max_size=16),
    "boolean": st.booleans(),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    **{kind: st.integers(*bounds(kind)) for kind in ("int8", "int16", "uint16", "int32", "int64")},
}
TAGS = st.none() | st.dictionaries(
    st.integers(100, 2**31 - 1), st.binary(max_size=200), min_size=1, max_size=3
)


def structs(cls: StructType, message: type[Message], version: int) -> st.SearchStrategy[Any]:
    """Instances of `cls` with all fields that the version carries drawn, the others at their
    defaults."""
    fields = {
        field.name: values(field, message, version) for field in carried(cls, message, version)
    }
    if version >= message.flexible:
        fields["unknown_tags"] = TAGS
    return st.builds(cls, **fields)


def values(field: Field, message: type[Message], version: int) -> st.SearchStrategy[Any]:
    if field.kind == "array":
        elem = field.elem
        assert elem is not None
        drawn = st.lists(
            values(elem, message, version)
            if isinstance(elem, Field)
            else structs(elem, message, version),
            max_size=3,
        )
    elif field.kind == "struct":
        assert isinstance(field.elem, StructType)
        drawn = structs(field.elem, message, version)
    else:
        drawn = SCALARS[field.kind]
    return st.none() | drawn if version >= field.nullable else drawn


def any_message(keys: tuple[int, ...]) -> st.SearchStrategy[tuple[int, Any]]:
    """A version and a message of it, of one of these APIs."""
    choices = st.sampled_from(
        [(message, version) for message in message_types(keys) for version in all_versions(message)]
    )
    return choices.flatmap(
        lambda choice: st.tuples(st.just(choice[1]), structs(choice[0], *choice))
    )


def check(version: int, message: Message) -> None:
    body = message.encode(version)
    assert type(message).decode(version, body) == message
    assert whole(type(message).decode_in_slices(version, body), 0) == message
    assert whole(message.encode_in_slices(version), 0) == body
    plain = json.loads(json.dumps(to_plain(message, version)))
    assert from_plain(type(message), version, plain).encode(version) == body


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_message(SERVED))
def test_served_apis(drawn: tuple[int, Message]) -> None:
    check(*drawn)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_message(tuple(set(API_KEYS) - set(SERVED))))
def test_other_apis(drawn: tuple[int, Message]) -> None:
    check(*drawn)
