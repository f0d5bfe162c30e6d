"""DescribeClientQuotas and AlterClientQuotas: quotas of users, client ids and addresses."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, float64, int16, int32, int8, string


class ComponentData(Struct):
    entity_type: str = string(default="")
    match_type: int = int8(default=0)
    match: str | None = string(nullable=0, default="")


class DescribeClientQuotasRequest(Request, key=48, versions=(0, 1), flexible=1):
    """DescribeClientQuotas (key 48): list the quotas that match a filter."""

    components: list[ComponentData] = array(ComponentData, default=())
    strict: bool = boolean(default=False)


class EntityData(Struct):
    entity_type: str = string(default="")
    entity_name: str | None = string(nullable=0, default="")


class ValueData(Struct):
    key: str = string(default="")
    value: float = float64(default=0.0)


class EntryData(Struct):
    entity: list[EntityData] = array(EntityData, default=())
    values: list[ValueData] = array(ValueData, default=())


class DescribeClientQuotasResponse(Response, key=48, versions=(0, 1), flexible=1):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    entries: list[EntryData] | None = array(EntryData, nullable=0, default=())


class OpData(Struct):
    key: str = string(default="")
    value: float = float64(default=0.0)
    remove: bool = boolean(default=False)


class AlterClientQuotasRequestEntryData(Struct):
    entity: list[EntityData] = array(EntityData, default=())
    ops: list[OpData] = array(OpData, default=())


class AlterClientQuotasRequest(Request, key=49, versions=(0, 1), flexible=1):
    """AlterClientQuotas (key 49): set or remove quotas."""

    entries: list[AlterClientQuotasRequestEntryData] = array(
        AlterClientQuotasRequestEntryData, default=()
    )
    validate_only: bool = boolean(default=False)


class AlterClientQuotasResponseEntryData(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    entity: list[EntityData] = array(EntityData, default=())


class AlterClientQuotasResponse(Response, key=49, versions=(0, 1), flexible=1):
    throttle_time_ms: int = int32(default=0)
    entries: list[AlterClientQuotasResponseEntryData] = array(
        AlterClientQuotasResponseEntryData, default=()
    )
