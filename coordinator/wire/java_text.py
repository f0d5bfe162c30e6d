"""Malformed UTF-8 as Java reads it: which bytes become one U+FFFD.

Owns the error handler `JAVA` of Python's decoder. Java and Python's own "replace" split
malformed bytes alike, except those of a surrogate or its beginning: they are three U+FFFD, or
two, in Python, and one in Java. Well-formed text never reaches this handler, and the rest of a
malformed text is read at once, because clients decide how much of it there is.
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
