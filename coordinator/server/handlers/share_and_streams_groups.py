"""Refusal of streams groups (keys 88, 89, 93, KIP-1071), which are not served, and of share groups
(76, 77, 90-92, KIP-932) while share.version is 0.

The answer is that of a Kafka broker whose share.version and streams.version are 0,
UNSUPPORTED_VERSION (35), so that a share consumer or a streams application fails at once with
Kafka's text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages import API_KEYS

from ..requests.call import Sliced
from ..requests.refusals import refused_whole_in_slices

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call

_TELLS_TEXT = frozenset({91, 92})


def handle(broker: Broker, call: Call) -> Sliced:
    """Refuse the request at once, in the API's form."""
    key, error = call.message.api_key, ErrorCode.UNSUPPORTED_VERSION
    broker.unserved.refused(
        broker.log,
        call,
        API_KEYS[key],
        "is refused, because share groups and streams groups are not served",
    )
    text = error.message if key in _TELLS_TEXT else None
    return Sliced(refused_whole_in_slices(call.message, call.version, error, text))
