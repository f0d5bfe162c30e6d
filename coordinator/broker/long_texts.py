"""Error messages that quote what a client sent, and are longer for it than a string may be: they are shortened, and the answer goes out.

Owns what is done when an answer could not be encoded. Kafka hangs up there (docs/divergences.md). Does not depend on the connection.
"""

from __future__ import annotations

from typing import Final

from ..slices import ITEMS_A_STEP, Slices
from ..wire.primitives import MAX_STRING_BYTES, WireError
from ..wire.schema import Message, Struct

_END: Final = "..."


def encode_shortened(response: Message, version: int, most_bytes: int, error: WireError) -> Slices[bytes]:
    """The bytes of an answer whose error messages are shortened. Raises `error`, why it could not be, if none is too long."""
    if not (yield from _shorten(response)):
        raise error
    body = yield from response.encode_in_slices(version, most_bytes)
    return body


def _shorten(response: Message) -> Slices[bool]:
    found, seen = False, 0
    structs: list[Struct] = [response]
    while structs:
        struct = structs.pop()
        seen += 1
        if not seen % ITEMS_A_STEP:
            yield
        for field in type(struct).fields:
            value = getattr(struct, field.name)
            if isinstance(value, Struct):
                structs.append(value)
            elif isinstance(value, list):
                structs.extend(item for item in value if isinstance(item, Struct))
            elif field.name == "error_message" and isinstance(value, str) and len(value) * 4 > MAX_STRING_BYTES:
                data = value.encode()
                if len(data) > MAX_STRING_BYTES:
                    setattr(struct, field.name, data[: MAX_STRING_BYTES - len(_END)].decode(errors="ignore") + _END)
                    found = True
    return found
