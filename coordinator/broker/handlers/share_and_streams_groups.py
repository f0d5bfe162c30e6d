"""Streams groups (keys 88, 89, 93, KIP-1071), which are not served here, and share groups (76, 77,
90-92, KIP-932) while share.version is 0.

Answered as a Kafka broker answers whose share.version and streams.version are 0: UNSUPPORTED_VERSION
(35), so that a share consumer or a streams application fails at once with Kafka's text.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import ErrorCode
from ...wire.messages import API_KEYS, response_type

if TYPE_CHECKING:
    from ...wire.schema import Message
    from ..call import Call, Result
    from ..core import Broker

_DESCRIBE_OFFSETS = 90
_TELLS_TEXT = frozenset({91, 92})
_DESCRIBES = frozenset({77, 89})


def handle(broker: Broker, call: Call) -> Result:
    """Refused at once, in the shape that each API has for it."""
    request: Any = call.message
    messages: Any = import_module(type(call.message).__module__)
    key = type(call.message).api_key
    refused = ErrorCode.UNSUPPORTED_VERSION
    broker.unserved.refused(
        broker.log,
        call,
        API_KEYS[key],
        "is refused, because share groups and streams groups are not served",
    )
    if key in _DESCRIBES:
        rows = [
            messages.DescribedGroup(group_id=group_id, error_code=refused)
            for group_id in request.group_ids
        ]
        return _response(key, groups=rows)
    if key == _DESCRIBE_OFFSETS:
        shape = messages.DescribeShareGroupOffsetsResponseGroup
        return _response(
            key,
            groups=[shape(group_id=of.group_id, error_code=refused) for of in request.groups],
        )
    return _response(
        key,
        error_code=refused,
        **({"error_message": refused.message} if key in _TELLS_TEXT else {}),
    )


def _response(key: int, **fields: Any) -> Message:
    response: Message = response_type(key)(**fields)
    return response
