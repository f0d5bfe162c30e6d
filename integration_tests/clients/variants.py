"""The players of the matrix: which client library, with which assignor; and how the agent of a
library is started."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from integration_tests.clients import java_agent


class Variant(NamedTuple):
    """A client library and the assignor its members use."""

    name: str
    library: str
    assignor: str


def _python(module: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, "-m", f"integration_tests.clients.agents.{module}"]


LIBRARIES: Final[dict[str, Callable[[], list[str]]]] = {
    "kafka-python": _python("kafka_python_agent"),
    "aiokafka": _python("aiokafka_agent"),
    "confluent": _python("confluent_agent"),
    "java": cache(java_agent.command),
}
"""The command of each library's agent."""

VARIANTS: Final = {
    variant.name: variant
    for variant in (
        Variant("kafka-python", "kafka-python", "range"),
        Variant("kafka-python-cooperative", "kafka-python", "cooperative-sticky"),
        Variant("aiokafka", "aiokafka", "roundrobin"),
        Variant("confluent", "confluent", "range"),
        Variant("confluent-cooperative", "confluent", "cooperative-sticky"),
        Variant("java", "java", "range"),
        Variant("java-cooperative", "java", "cooperative-sticky"),
    )
}
"""All variants by name."""
