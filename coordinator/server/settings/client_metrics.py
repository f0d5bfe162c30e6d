"""Client metrics subscriptions (KIP-714; DescribeConfigs resource type 16): validated, stored and
shown, but without effect, for telemetry is not served.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from coordinator.base.errors import ErrorCode

from .definitions import ConfigDef, ConfigException, read_table, trim

TABLE = """
interval.ms int 300000 - -
match list '' [] -
metrics list '' [] -
"""

_LEAST_MS, _MOST_MS = 100, 3_600_000
_SELECTORS = (
    "client_id",
    "client_instance_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)


@cache
def client_metrics_defs() -> dict[str, ConfigDef]:
    """Return all configurations of a subscription by name."""
    return read_table(TABLE)


class SubscriptionRefused(Exception):
    """Error code with which a subscription's values are refused; `str()` is Kafka's message."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def validate(values: Mapping[str, str]) -> None:
    """Validate a subscription's values together. Raises SubscriptionRefused."""
    defs = client_metrics_defs()
    for name in values:
        if name not in defs:
            raise SubscriptionRefused(
                ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {name}"
            )
    for name, text in values.items():
        try:
            value = defs[name].parse(text)
        except ConfigException as refused:
            raise SubscriptionRefused(ErrorCode.INVALID_CONFIG, str(refused)) from None
        if isinstance(value, int) and not _LEAST_MS <= value <= _MOST_MS:
            why = f"Invalid value {value} for interval.ms, interval must be between {_LEAST_MS} and {_MOST_MS} (1 hour)"
            raise SubscriptionRefused(ErrorCode.INVALID_REQUEST, why)
        if name == "match" and isinstance(value, list):
            for pattern in value:
                _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    """Check one item of `match`: a selector, an equals sign and a Java regular expression, which is
    not compiled here. Raises SubscriptionRefused. Trailing equals signs are dropped, as by
    Java's String.split.
    """
    pair = pattern.rstrip("=").split("=")
    if len(pair) != 2 or trim(pair[0]) not in _SELECTORS:
        raise SubscriptionRefused(
            ErrorCode.INVALID_CONFIG, f"Illegal client matching pattern: {pattern}"
        )
