"""Removes secrets from requests and responses before they are shown: passwords, keys, salts,
tokens."""

from __future__ import annotations

from typing import Any, Final

from coordinator.wire.schema import Struct

_APIS: Final = frozenset({33, 36, 38, 39, 40, 41, 44, 51})
"""SaslAuthenticate, requests about delegation tokens and credentials, changes of configurations."""
_BYTES: Final = frozenset({"auth_bytes", "hmac", "salt", "salted_password"})
_SETTINGS: Final = ("jaas.config", "password", "secret", "secret.key")
HIDDEN: Final = "[hidden]"
"""The text that stands for a password, as in Kafka."""


def without_secrets(key: int, message: Any) -> Any:
    """Remove the secrets from a message of an API, which is changed, and return it."""
    if key in _APIS:
        _hide(message)
    return message


def _hide(value: Struct) -> None:
    for field in type(value).fields:
        inner = getattr(value, field.name)
        if field.name in _BYTES:
            setattr(value, field.name, b"")
        elif isinstance(inner, list):
            for one in inner:
                if isinstance(one, Struct):
                    _hide(one)
    name = getattr(value, "name", None)
    if isinstance(name, str) and name.endswith(_SETTINGS) and getattr(value, "value", None):
        value.value = HIDDEN  # type: ignore[attr-defined]
