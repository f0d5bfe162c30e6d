"""The operations that a client is allowed, as the bit fields of KIP-430, at a broker without an
authorizer: all that apply to the kind of resource. With an authorizer, `authorization` replaces
them.
"""

from __future__ import annotations

NOT_ASKED = -2147483648
"""The field's value when the client did not ask."""

(
    _READ,
    _WRITE,
    _CREATE,
    _DELETE,
    _ALTER,
    _DESCRIBE,
    _CLUSTER_ACTION,
    _DESCRIBE_CONFIGS,
    _ALTER_CONFIGS,
    _IDEMPOTENT_WRITE,
) = (1 << code for code in range(3, 13))

TOPIC_OPERATIONS = (
    _READ | _WRITE | _CREATE | _DELETE | _ALTER | _DESCRIBE | _DESCRIBE_CONFIGS | _ALTER_CONFIGS
)
CLUSTER_OPERATIONS = (
    _CREATE
    | _ALTER
    | _DESCRIBE
    | _CLUSTER_ACTION
    | _DESCRIBE_CONFIGS
    | _ALTER_CONFIGS
    | _IDEMPOTENT_WRITE
)
