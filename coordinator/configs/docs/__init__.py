"""Each configuration's purpose, in a sentence of this project: DescribeConfigs v3+ shows it to
who asks for documentation (KIP-569).

Kafka's own texts are longer; the facts are the same. The tables are read when they are first asked
for.
"""

from __future__ import annotations

from functools import cache

from ..definitions import ResourceType


@cache
def texts(resource_type: int) -> dict[str, str]:
    """The sentence for each configuration of topics, brokers, groups or client metrics; empty for
    other resources."""
    from . import broker, other

    table = {
        ResourceType.TOPIC: other.TOPIC,
        ResourceType.BROKER: broker.BROKER,
        ResourceType.GROUP: other.GROUP,
        ResourceType.CLIENT_METRICS: other.CLIENT_METRICS,
    }.get(ResourceType(resource_type), "")
    return dict(line.split(": ", 1) for line in table.strip().splitlines())
