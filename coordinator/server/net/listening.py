"""Listening sockets: what is said when there are no descriptors for more connections, and how they
end.

asyncio tells of every failed accept, a thousand times a second with a traceback each; `Descriptors`
makes one line of an outage. `stop_listening` loses no connection between the two objects that
asyncio makes of it. Does not depend on what is served.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from asyncio.constants import ACCEPT_RETRY_DELAY
from typing import Any

logger = logging.getLogger("coordinator.server.net.server")

_ACCEPT_FAILED = "socket.accept() out of system resource"
"""The message to asyncio's exception handler."""
_RETRY = "_start_serving"
"""The call of asyncio a second after a failed accept, by the name its exception handler is told; a
listening socket that is closed by then makes it fail."""
_TELL_AGAIN_S = 60.0
"""An outage that lasts is told this often."""
_RETRIED_S = 0.1
"""By so much later what was to be tried again has been."""
_LAST_FEW = 8
"""So many descriptors before the limit the outage is told, too: uvloop closes connections that find
none and tells nobody."""

_TURNS_TO_MAKE = 3
"""So many turns of the loop after a connection was accepted its protocol is made, and can be ended.
"""


async def stop_listening(loop: asyncio.AbstractEventLoop, listening: list[asyncio.Server]) -> None:
    """Accept nobody any more, let those who were accepted just now be made, then close the
    listening sockets.

    asyncio leaves the socket of a connection open, and forgets it, whose server was closed between
    accept and connection_made.
    """
    for server in listening:
        for listener in server.sockets:
            loop.remove_reader(listener.fileno())
    for _ in range(_TURNS_TO_MAKE):
        await asyncio.sleep(0)
    for server in listening:
        server.close()
    listening.clear()


class Descriptors:
    """How near a loop's servers are to the limit of open files. One for each server; the handler of
    a loop is put in place once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._told_at = -_TELL_AGAIN_S
        self._failed_at = -_TELL_AGAIN_S
        self._before = loop.get_exception_handler()

    def watch(self) -> None:
        """Take the loop's news of failed accepts; everything else goes where it went before."""
        self._loop.set_exception_handler(self._on_error)

    def stop(self) -> None:
        """Leave the loop as it was, once no accept that failed is tried again."""
        left_s = self._failed_at + ACCEPT_RETRY_DELAY - self._loop.time()
        if left_s >= 0:
            self._loop.call_later(left_s + _RETRIED_S, self._restore)
        else:
            self._restore()

    def _restore(self) -> None:
        if self._loop.get_exception_handler() == self._on_error:
            self._loop.set_exception_handler(self._before)

    def accepted(self, number: int) -> None:
        """A connection was accepted, and has this descriptor."""
        if number >= self._limit - _LAST_FEW:
            self._tell()

    def _on_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if context.get("message") == _ACCEPT_FAILED:
            self._failed_at = self._loop.time()
            self._tell()
        elif isinstance(context.get("exception"), ValueError) and _RETRY in str(
            context.get("message")
        ):
            return
        elif self._before is not None:
            self._before(loop, context)
        else:
            loop.default_exception_handler(context)

    def _tell(self) -> None:
        now = self._loop.time()
        if now - self._told_at >= _TELL_AGAIN_S:
            self._told_at = now
            logger.warning(
                "no more connections can be accepted: %d files may be open (ulimit -n); those that wait are accepted when others end",
                self._limit,
            )
