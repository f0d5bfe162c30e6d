"""The answer to a request that comes while a client is to log in: an error in the request's own shape
(SASL-2).

Kafka makes it from the request alone, so that what it says differs from one request to the next: the
error's own text, that of the exception, or none; here stands which. Does not depend on logins,
delays, or what the client may do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ...wire.messages import API_KEYS
from ...wire.schema import Struct
from ..error_responses import refused_whole
from .out_of_turn_shapes import ILLEGAL, OWN

if TYPE_CHECKING:
    from ...wire.schema import Request, Response

_WITHOUT_TEXT: Final = frozenset(
    {
        "ConsumerGroupDescribe",
        "ConsumerGroupHeartbeat",
        "DeleteGroups",
        "DeleteShareGroupState",
        "DeleteTopics",
        "DescribeGroups",
        "DescribeProducers",
        "InitializeShareGroupState",
        "ShareAcknowledge",
        "ShareFetch",
        "ShareGroupDescribe",
        "ShareGroupHeartbeat",
        "StreamsGroupDescribe",
        "StreamsGroupHeartbeat",
    }
)
_WITH_THE_EXCEPTIONS: Final = frozenset(
    {
        "AlterConfigs",
        "AlterPartitionReassignments",
        "AlterUserScramCredentials",
        "CreateAcls",
        "CreatePartitions",
        "CreateTopics",
        "DeleteAcls",
        "DescribeAcls",
        "DescribeClientQuotas",
        "DescribeCluster",
        "DescribeShareGroupOffsets",
        "DescribeUserScramCredentials",
        "ElectLeaders",
        "IncrementalAlterConfigs",
        "ListPartitionReassignments",
        "Produce",
        "StreamsGroupTopologyDescriptionUpdate",
        "UnregisterBroker",
        "UnregisterController",
        "UpdateFeatures",
    }
)


def answer(message: Request, version: int) -> Response | None:
    """The answer to the client; None: nothing, its connection closes at once."""
    api = API_KEYS[message.api_key]
    make = OWN.get(api)
    made = refused_whole(api, message, version, ILLEGAL) if make is None else make(message, version)
    if made is not None and api in _WITHOUT_TEXT:
        _retell(made, None)
    elif made is not None and api in _WITH_THE_EXCEPTIONS:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", api).upper()
        _retell(made, f"Unexpected Kafka request of type {name} during SASL authentication.")
    return made


def _retell(made: Any, text: str | None) -> None:
    """Put a text wherever the error has one, all the way down."""
    for field in type(made).fields:
        value = getattr(made, field.name)
        if field.name == "error_message":
            made.error_message = text
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, Struct):
                    _retell(each, text)
