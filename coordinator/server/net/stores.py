"""Files with the user's own keys and certificates. PKCS#12 is converted to PEM, which needs the
extra `security`. Does not know how they are used; see `certificates`.
"""

from __future__ import annotations

from typing import NamedTuple


class CertificateError(ValueError):
    """Error for a certificate that cannot be loaded; the message says why and what would be right."""


class Store(NamedTuple):
    """A key or certificate file. `kind`: PEM or PKCS12."""

    path: str
    kind: str = "PEM"
    password: str = ""

    def __repr__(self) -> str:
        """Leave the password out, for tracebacks show it."""
        return f"Store({self.path!r}, {self.kind})"


def as_pem(store: Store) -> bytes:
    """Return the content of a PKCS#12 file as PEM: its key, if any, and its certificates. Raises
    CertificateError.
    """
    try:
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            pkcs12,
        )
    except ImportError:
        from coordinator.base.installing import lacks

        raise CertificateError(
            lacks(
                f"{store.path}: PKCS#12 files need the extra `security`",
                "security",
                "PEM files need nothing",
            )
        ) from None
    try:
        with open(store.path, "rb") as file:
            found = pkcs12.load_pkcs12(file.read(), store.password.encode() or None)
    except OSError as error:
        raise CertificateError(f"{store.path}: {error.strerror or error}") from None
    except ValueError as error:
        raise CertificateError(
            f"{store.path}: no PKCS#12 file, or another password: {error}"
        ) from None
    named = [found.cert, *found.additional_certs]
    pem = b"".join(each.certificate.public_bytes(Encoding.PEM) for each in named if each)
    if found.key is None:
        return pem
    key = found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return key + pem
