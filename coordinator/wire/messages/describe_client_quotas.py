"""DescribeClientQuotas (key 48)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, float64, int16, int32, int8, string

KEY = 48


class ComponentData(Struct):
    entity_type: str = string(default="")
    match_type: int = int8(default=0)
    match: str | None = string(nullable=0, default="")


class DescribeClientQuotasRequest(Request, key=KEY, versions=(0, 1), flexible=1):
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


class DescribeClientQuotasResponse(Response, key=KEY, versions=(0, 1), flexible=1):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    entries: list[EntryData] | None = array(EntryData, nullable=0, default=())
