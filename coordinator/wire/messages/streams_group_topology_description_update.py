"""StreamsGroupTopologyDescriptionUpdate (key 93): a member describes its topology (KIP-1331)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int8, int16, int32, string, struct

KEY = 93


class TopologyDescriptionNode(Struct):
    name: str = string(default="")
    node_type: int = int8(default=0)
    source_topics: list[str] = array(string, default=())
    sink_topic: str | None = string(nullable=0, default=None)
    stores: list[str] = array(string, default=())
    successors: list[str] = array(string, default=())


class TopologyDescriptionSubtopology(Struct):
    subtopology_id: str = string(default="")
    nodes: list[TopologyDescriptionNode] = array(TopologyDescriptionNode, default=())


class TopologyDescriptionGlobalStore(Struct):
    source: TopologyDescriptionNode = struct(TopologyDescriptionNode, default=...)
    processor: TopologyDescriptionNode = struct(TopologyDescriptionNode, default=...)


class TopologyDescription(Struct):
    subtopologies: list[TopologyDescriptionSubtopology] = array(
        TopologyDescriptionSubtopology, default=()
    )
    global_stores: list[TopologyDescriptionGlobalStore] = array(
        TopologyDescriptionGlobalStore, default=()
    )


class StreamsGroupTopologyDescriptionUpdateRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    group_id: str = string(default="")
    member_id: str = string(default="")
    topology_epoch: int = int32(default=0)
    topology_description: TopologyDescription = struct(TopologyDescription, default=...)


class StreamsGroupTopologyDescriptionUpdateResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
