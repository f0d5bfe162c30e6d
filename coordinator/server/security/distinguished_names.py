"""Subject name of a certificate as Kafka shows it: RFC 2253, as Java's X500Principal writes it
(TLS-2).

Python's `ssl` does not tell the string types of a certificate's attributes, which Java's form
depends on, so the name is read from the certificate's DER. TLS has verified the certificate
before; nothing is verified here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SHORT: Final = {
    bytes.fromhex("550403"): "CN",
    bytes.fromhex("550406"): "C",
    bytes.fromhex("550407"): "L",
    bytes.fromhex("550408"): "ST",
    bytes.fromhex("550409"): "STREET",
    bytes.fromhex("55040a"): "O",
    bytes.fromhex("55040b"): "OU",
    bytes.fromhex("0992268993f22c640101"): "UID",
    bytes.fromhex("0992268993f22c640119"): "DC",
}
_CHARACTERS: Final = {
    0x0C: "utf-8",
    0x13: "ascii",
    0x14: "latin-1",
    0x16: "ascii",
    0x1B: "ascii",
    0x1C: "utf-32-be",
    0x1E: "utf-16-be",
}
"""Types of text, and how each spells it."""
_VERSION: Final = 0xA0
_AFTER_VERSION: Final = 4
"""Serial number, algorithm, issuer and validity stand between the version and the subject."""
_ESCAPED: Final = re.compile(r'([,=+<>#;"\\])')
_CRITICAL_OTHER_NAMES: Final = bytes.fromhex("0603551d110101ff")
"""The extension of alternative names, said to be critical."""
_EDGES: Final = re.compile(r"^[ \r]+|[ \r]+$")


def distinguished_name(certificate: bytes) -> str | None:
    """Return the subject of a DER certificate, most specific part first. It may be empty if the
    alternative names are critical; None: Java refuses such a certificate (RFC 5280, 4.2.1.6).
    """
    [(_, whole, _)] = _elements(certificate)
    body = next(_elements(whole))[1]
    fields = list(_elements(body))
    subject = fields[_AFTER_VERSION + (fields[0][0] == _VERSION)][1]
    parts = [
        "+".join(_shown(pair) for _, pair, _ in _elements(part))
        for _, part, _ in _elements(subject)
    ]
    if not parts and _CRITICAL_OTHER_NAMES not in certificate:
        return None
    return ",".join(reversed(parts))


def _shown(pair: bytes) -> str:
    """Return an attribute as type=value."""
    (_, kind, _), (tag, value, encoded) = _elements(pair)
    short = _SHORT.get(kind)
    if short is None or tag not in _CHARACTERS:
        return f"{short or _dotted(kind)}=#{encoded.hex()}"
    text = _ESCAPED.sub(r"\\\1", value.decode(_CHARACTERS[tag], "replace")).replace("\0", r"\00")
    return f"{short}={_EDGES.sub(_escape_each, text)}"


def _escape_each(found: re.Match[str]) -> str:
    return "".join(f"\\{character}" for character in found[0])


def _dotted(kind: bytes) -> str:
    """Return an object identifier in dotted form."""
    numbers, number = [], 0
    for byte in kind:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _elements(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield tag, content and encoding of each element of a DER sequence."""
    at = 0
    while at < len(data):
        begin, length = at + 2, data[at + 1]
        if length & 0x80:
            begin += length & 0x7F
            length = int.from_bytes(data[at + 2 : begin], "big")
        end = begin + length
        yield data[at], data[begin:end], data[at:end]
        at = end
