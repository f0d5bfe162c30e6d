"""Malformed UTF-8 as Java reads it: which bytes become one U+FFFD.

Owns the error handler `JAVA` of Python's decoder. Java and Python's own "replace" part malformed
bytes alike, but for those of a surrogate, or its beginning: three U+FFFD, or two, to Python, and
one to Java. Well-formed text never comes here, and the rest of a malformed one is read at once:
clients decide how much of it there is.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

JAVA: Final = "java-replace"
"""The name of the handler: `data.decode("utf-8", JAVA)`."""
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    rest = _SURROGATE.sub(b"\xff", error.object[error.start :])
    return rest.decode("utf-8", "replace"), len(error.object)


codecs.register_error(JAVA, _replace)
