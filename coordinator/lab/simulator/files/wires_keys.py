"""Reads a scenario's keys about zones and links. Raises ScenarioError.
`coordinator/lab/simulator/wires.py` applies them."""

from __future__ import annotations

from typing import Final

from ..wires import KindWires, Wires
from .key_positions import Places, Where
from .reading import Plain, ScenarioError
from .there import There

CUT_ZONE: Final = "CutZone"
"""The verb that cuts all links between a zone and the others: it becomes CutMember and CutLink."""


def read_wires(plain: Plain, places: Places) -> Wires:
    """Read the links of a scenario."""
    brokers, links = plain["brokers"], plain["links"]
    zones = tuple(brokers["zones"])
    if len(zones) > brokers["count"]:
        raise ScenarioError(
            f"{places.where('brokers').at('zones')}: brokers.zones: {len(zones)} zones for {brokers['count']} brokers: give brokers.count"
        )
    kinds: dict[str, KindWires] = {}
    for table in ("members", "producers"):
        for index, each in enumerate(plain[table]):
            zone, where = each["zone"], places.where(table, index)
            if zone and zone not in zones:
                right = f"one of {', '.join(zones)}" if zones else "brokers.zones"
                raise ScenarioError(
                    f"{where.at('zone')}: {table} {each['name']}: zone = {zone!r}: no broker is there: give {right}"
                )
            kinds[each["name"]] = KindWires(zone, each["delay"], each["bandwidth"])
    between = links["between_zones"]
    if between is not None and not any(kind.zone for kind in kinds.values()):
        raise ScenarioError(
            f"{places.where('links').at('between_zones')}: links.between_zones: no client has a zone"
        )
    return Wires(links["delay"], links["bandwidth"], zones, between, kinds)


def check_zone(fields: Plain, there: There, where: Where) -> Plain:
    """Check the zone that is cut off."""
    known = sorted(there.zones)
    for key in fields:
        if key != "zone":
            raise ScenarioError(f"{where.at(key)}: {CUT_ZONE} has the key zone, not {key}")
    if fields.get("zone") not in known:
        right = f"one of {', '.join(known)}" if known else "brokers.zones first"
        raise ScenarioError(
            f"{where.at('zone')}: {CUT_ZONE}: zone = {fields.get('zone')!r}: give {right}"
        )
    return fields
