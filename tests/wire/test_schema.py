"""The language of the tables: construction, defaults, equality, and what a version does to a
field."""

from __future__ import annotations

import copy
import pickle

import pytest

from coordinator.wire import schema
from coordinator.wire.compiler import decoder_source, encoder_source
from coordinator.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
)
from coordinator.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    PartitionData,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from coordinator.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from coordinator.wire.messages.metadata import MetadataRequest
from coordinator.wire.primitives import WireError, uvarint
from tests.wire.samples import message_types


def test_every_field_has_a_default_and_lists_are_not_shared() -> None:
    one, other = (
        JoinGroupRequest(),
        JoinGroupRequest(group_id="g", protocols=[JoinGroupRequestProtocol(name="range")]),
    )
    assert one.rebalance_timeout_ms == -1
    assert one.group_instance_id is None
    assert one.protocols == []
    one.protocols.append(JoinGroupRequestProtocol())
    assert JoinGroupRequest().protocols == []
    assert other.protocols[0].metadata == b""
    partition = PartitionData()
    partition.current_leader.leader_id = 7
    assert PartitionData().current_leader.leader_id == -1


def test_values_compare_by_fields_and_are_mutable_and_slotted() -> None:
    message = HeartbeatRequest(group_id="g", generation_id=3)
    same = HeartbeatRequest(group_id="g", generation_id=3)
    assert message == same
    same.generation_id = 4
    assert message != same
    assert message != "g"
    assert HeartbeatResponse() != HeartbeatRequest()
    assert HeartbeatResponse(unknown_tags={}) == HeartbeatResponse()
    assert HeartbeatResponse(unknown_tags={9: b""}) != HeartbeatResponse()
    with pytest.raises(AttributeError):
        message.typo = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        HeartbeatRequest(typo=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        hash(message)


def test_values_copy() -> None:
    message = JoinGroupRequest(group_id="g", protocols=[JoinGroupRequestProtocol(name="range")])
    assert copy.copy(message) == message
    assert copy.copy(message).protocols is message.protocols
    deep = copy.deepcopy(message)
    assert deep == message
    assert deep.protocols is not message.protocols
    assert pickle.loads(pickle.dumps(message)) == message


def test_repr_says_what_differs_from_the_defaults() -> None:
    assert (
        repr(HeartbeatRequest(group_id="g", generation_id=3))
        == "HeartbeatRequest(group_id='g', generation_id=3)"
    )
    assert (
        repr(HeartbeatResponse(unknown_tags={1: b"x"}))
        == "HeartbeatResponse(unknown_tags={1: b'x'})"
    )
    assert repr(HeartbeatResponse()) == "HeartbeatResponse()"


def test_a_version_leaves_out_what_it_does_not_carry() -> None:
    """VER-15: what is absent takes its default."""
    message = HeartbeatRequest(group_id="g", generation_id=3, member_id="m", group_instance_id="i")
    assert HeartbeatRequest.decode(2, message.encode(2)).group_instance_id is None
    assert HeartbeatRequest.decode(3, message.encode(3)) == message
    assert HeartbeatRequest.decode(4, message.encode(4)) == message


def test_leave_group_versions() -> None:
    """VER-4: one member id up to version 2, a list from 3 on, a reason each from 5 on."""
    message = LeaveGroupRequest(
        group_id="g",
        member_id="m",
        members=[MemberIdentity(member_id="n", group_instance_id="i", reason="r")],
    )
    old, middle, new = (
        LeaveGroupRequest.decode(version, message.encode(version)) for version in (2, 4, 5)
    )
    assert (old.member_id, old.members) == ("m", [])
    assert (middle.member_id, middle.members[0].reason) == ("", None)
    assert new.members[0].reason == "r"


@pytest.mark.parametrize("version", [-1, 5, 10**6])
def test_versions_without_a_table_are_refused(version: int) -> None:
    """VER-16."""
    with pytest.raises(WireError, match="HeartbeatRequest has versions 0 to 4"):
        HeartbeatRequest.decode(version, bytes(50))
    with pytest.raises(WireError, match="HeartbeatRequest has versions 0 to 4"):
        HeartbeatRequest().encode(version)


def test_null_where_none_may_be() -> None:
    """VER-17."""
    for version, body in ((0, "ffff"), (4, "00")):
        with pytest.raises(WireError, match="group_id is null"):
            HeartbeatRequest.decode(version, bytes.fromhex(body) + bytes(20))
    with pytest.raises(WireError, match="topics is null"):
        MetadataRequest.decode(0, b"\xff\xff\xff\xff")
    assert MetadataRequest.decode(1, b"\xff\xff\xff\xff").topics is None
    message = JoinGroupResponse(protocol_name=None)
    assert JoinGroupResponse.decode(7, message.encode(7)).protocol_name is None
    for faulty, version in (
        (message, 6),
        (JoinGroupRequest(group_id=None), 5),
        (JoinGroupRequest(protocols=None), 9),
    ):  # type: ignore[arg-type]
        with pytest.raises(WireError, match=type(faulty).__name__):
            faulty.encode(version)


def test_values_out_of_range_are_refused() -> None:
    for message in (
        HeartbeatResponse(error_code=1 << 15),
        HeartbeatResponse(throttle_time_ms=-(1 << 31) - 1),
    ):
        with pytest.raises(WireError, match="HeartbeatResponse v4"):
            message.encode(4)
    for version in (0, 4):
        assert HeartbeatRequest(group_id="x" * 32767).encode(version)
        with pytest.raises(WireError):
            HeartbeatRequest(group_id="x" * 32768).encode(version)
        with pytest.raises(WireError):
            HeartbeatRequest(group_id="\ud800").encode(version)


def test_malformed_utf_8_is_replaced() -> None:
    """Java's decoder never refuses a string; such requests are served."""
    body = b"\0\x04a\xff\xc3z" + bytes(4) + b"\0\0"
    assert HeartbeatRequest.decode(0, body).group_id == "a\ufffd\ufffdz"


def test_unknown_tags_are_kept_in_order() -> None:
    body = HeartbeatResponse(error_code=27, unknown_tags={1000: b"late", 3: b""}).encode(4)
    assert body.hex() == "00000000001b" + "02" + "0300" + "e807046c617465"
    decoded = HeartbeatResponse.decode(4, body)
    assert decoded.unknown_tags == {3: b"", 1000: b"late"}
    assert decoded.encode(4) == body
    assert HeartbeatResponse.decode(3, decoded.encode(3)).unknown_tags is None


def test_tagged_fields_at_their_default_are_not_written() -> None:
    plain = FetchResponse().encode(16)
    assert FetchResponse.decode(16, plain).node_endpoints == []
    partition = PartitionData(current_leader=LeaderIdAndEpoch(leader_id=-1, leader_epoch=-1))
    assert partition == PartitionData()
    without = FetchRequest(
        topics=[FetchTopic(partitions=[FetchPartition(replica_directory_id=bytes(16))])]
    ).encode(17)
    with_one = FetchRequest(
        topics=[FetchTopic(partitions=[FetchPartition(replica_directory_id=bytes(15) + b"\1")])]
    ).encode(17)
    assert len(with_one) - len(without) == 18, "tag, size and the UUID"


def test_a_tagged_field_sent_although_at_its_default_comes_back() -> None:
    body = FetchRequest().encode(12)[:-1] + bytes.fromhex("01 00 01 00")
    decoded = FetchRequest.decode(12, body)
    assert decoded.cluster_id is None
    assert decoded.encode(12) == body
    decoded.cluster_id = "c"
    assert FetchRequest.decode(12, decoded.encode(12)).cluster_id == "c"


def test_a_known_tag_of_another_version_is_refused() -> None:
    """As the reader that Kafka generates does; a tag nobody knows is forgiven."""
    tagged = FetchRequest(
        topics=[FetchTopic(partitions=[FetchPartition(replica_directory_id=b"\1" * 16)])]
    ).encode(17)
    assert FetchRequest.decode(17, tagged)
    with pytest.raises(WireError, match="replica_directory_id"):
        FetchRequest.decode(16, tagged)


def test_nullable_struct() -> None:
    for cursor in (None, Cursor(topic_name="t", partition_index=2)):
        message = DescribeTopicPartitionsRequest(cursor=cursor)
        assert DescribeTopicPartitionsRequest.decode(0, message.encode(0)) == message


def test_bytes_are_read_from_any_bytes_like_that_slices_to_bytes() -> None:
    body = HeartbeatRequest(group_id="g").encode(4)
    assert HeartbeatRequest.decode(4, bytes(bytearray(body))).group_id == "g"


def test_compiled_functions_can_be_looked_at() -> None:
    assert decoder_source(HeartbeatRequest, 4).startswith("def decode(data, p):")
    assert encoder_source(HeartbeatRequest, 4).startswith("def encode(o, most=1 << 62):")


def test_classes_are_compiled_late() -> None:
    """Making classes must stay cheap: nothing is compiled before it is used."""

    class Thing(schema.Request, key=1000, versions=(0, 1), flexible=1):
        name: str = schema.string(default="")

    assert Thing._decoders == {}
    assert Thing.decode(0, Thing(name="x").encode(0)).name == "x"
    assert list(Thing._decoders) == [0]
    assert list(Thing._encoders) == [0]


def test_an_array_of_structs_without_fields_cannot_be_endless() -> None:
    """Elements of no bytes would let a small frame claim any number of them: no table has such an
    array."""
    for message in message_types():
        for version in range(message.versions[0], message.versions[1] + 1):
            for field in (
                field
                for cls in structs(message)
                for field in cls.fields
                if field.kind == "array" and field.carried(version)
            ):
                elem = field.elem
                if isinstance(elem, schema.StructType) and version < message.flexible:
                    assert any(inner.carried(version) for inner in elem.fields), (
                        f"{message.__name__} v{version} {field.name}"
                    )


def structs(cls: schema.StructType) -> list[schema.StructType]:
    found = [cls]
    for field in cls.fields:
        if isinstance(field.elem, schema.StructType):
            found += structs(field.elem)
    return found


@pytest.mark.parametrize("size", [4, 99, 1, 0])
def test_a_known_tag_is_read_in_place_whatever_size_it_claims(size: int) -> None:
    """A 4.4.0 broker serves all of these."""
    body = FetchRequest().encode(12)[:-1] + bytes([1, 0, size]) + b"\x04abc"
    assert FetchRequest.decode(12, body).cluster_id == "abc"


def test_odd_tags_and_counts_that_a_broker_serves() -> None:
    """Unordered and doubled tags; numbers that only fit 32 bits unsigned; negative counts, which
    mean null."""
    head = HeartbeatRequest(group_id="g").encode(4)[:-1]
    for tail in ("03 0900 050161 090162", "01 ffffffff0f 00"):
        assert HeartbeatRequest.decode(4, head + bytes.fromhex(tail)).group_id == "g"
    assert MetadataRequest.decode(9, bytes.fromhex("ffffffff0f 000000 00")).topics is None
    assert MetadataRequest.decode(1, bytes.fromhex("fffffffe")).topics is None
    assert (
        MetadataRequest.decode(9, bytes.fromhex("02 868000") + b"topic" + bytes(5)).topics[0].name
        == "topic"
    )  # type: ignore[index]
    assert MetadataRequest.decode(4, bytes.fromhex("00000000 07")).allow_auto_topic_creation is True


def test_what_a_broker_closes_on() -> None:
    """A length of six bytes, and a compact string longer than a plain one could be."""
    with pytest.raises(WireError, match="more than five bytes"):
        MetadataRequest.decode(9, bytes.fromhex("02 868080808000") + b"topic" + bytes(5))
    with pytest.raises(WireError, match="40000 bytes"):
        HeartbeatRequest.decode(4, uvarint(40_001) + b"x" * 40_000 + bytes(20))
