"""Classes of characters in brackets, nested and intersected (&&), as Java reads them.

Owns the brackets. Classes that stand in one another are kept in a list, so none of them overflows a
stack. Does not depend on what is around a class.
"""

from __future__ import annotations

from typing import Final

from .cursor import END, Cursor, PatternRefused
from .escapes import Groups, escape, family

MOST_NESTED: Final = 3_600


class _Class:
    """A class that is being read. `filled`: whether it holds anything yet. `closes`: whether it has
    a bracket of its own, which an operand of && has not. `operand`: of && in it, whether there is
    one; None: none is read."""

    __slots__ = ("closes", "filled", "operand")

    def __init__(self, *, closes: bool) -> None:
        self.closes = closes
        self.filled = False
        self.operand: bool | None = None


def read_class(cursor: Cursor, groups: Groups) -> None:
    """Read a class from its bracket on, and past its end. Raises PatternRefused."""
    open_classes = [_Class(closes=True)]
    found = _begin(cursor)
    while open_classes:
        if len(open_classes) > MOST_NESTED:
            raise PatternRefused("classes stand in one another too deeply")
        here = open_classes[-1]
        if here.operand is not None:
            if found not in ("]", "&"):
                here.operand = True
                if found != "[":
                    cursor.unread()
                open_classes.append(_Class(closes=found == "["))
                found = _begin(cursor)
                continue
            if not here.filled and not here.operand:
                raise PatternRefused("&& has nothing on either side")
            here.filled, here.operand = True, None
        if found == "[":
            open_classes.append(_Class(closes=True))
            found = _begin(cursor)
            continue
        if found == "]" and here.filled:
            if here.closes:
                cursor.next()
            open_classes.pop()
            if open_classes:
                open_classes[-1].filled |= open_classes[-1].operand is None
            found = cursor.peek()
            continue
        if found == "&":
            if cursor.next() == "&":
                here.operand = False
                found = cursor.next()
                continue
            cursor.unread()
        elif found == END and cursor.at_end:
            raise PatternRefused("unclosed class of characters")
        _range(cursor, groups)
        here.filled = True
        found = cursor.peek()


def _begin(cursor: Cursor) -> str:
    """The first character within a class."""
    found = cursor.next()
    if found == "^" and cursor.character(cursor.at - 1) == "[":
        found = cursor.next()
    return found


def _range(cursor: Cursor, groups: Groups) -> None:
    """A character, a range or a kind of characters."""
    found = cursor.peek()
    if found == "\\":
        if cursor.next_escaped() in ("p", "P"):
            family(cursor)
            return
        in_range = cursor.character(cursor.at + 1) == "-"
        cursor.unread()
        code = escape(cursor, groups, in_class=True, in_range=in_range)
        if not isinstance(code, int):
            return
    else:
        cursor.next()
        code = ord(found)
    if cursor.peek() != "-" or cursor.character(cursor.at + 1) in ("[", "]"):
        return
    last = cursor.next()
    if last == "\\":
        end = escape(cursor, groups, in_class=True, makes=False, in_range=True)
    else:
        cursor.next()
        end = ord(last)
    if not isinstance(end, int) or end < code:
        raise PatternRefused("a range of characters goes from the lower to the higher")
