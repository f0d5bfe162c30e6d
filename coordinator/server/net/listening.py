"""Listening sockets: their orderly end, and the report of a lack of file descriptors.

asyncio logs every failed accept, a thousand times a second with a traceback; `Descriptors`
reports an outage in one line. `stop_listening` loses no connection that was just accepted. Does
not know what is served.
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
"""The name of asyncio's call one second after a failed accept, as its exception handler gets it;
the call fails if the listening socket is closed by then."""
_TELL_AGAIN_S = 60.0
"""The interval at which a lasting outage is reported again."""
_RETRIED_S = 0.1
"""By so much later what was to be tried again has been."""
_LAST_FEW = 8
"""The number of descriptors below the limit at which the outage is reported, too: uvloop closes
connections that get none, without a report."""

_TURNS_TO_MAKE = 3
"""So many turns of the loop after a connection was accepted its protocol is made, and can be ended.
"""


async def stop_listening(loop: asyncio.AbstractEventLoop, listening: list[asyncio.Server]) -> None:
    """Stop accepting, let the connections just accepted be created, then close the listening
    sockets.

    If a server is closed between accept and connection_made, asyncio leaves the accepted socket
    open and forgets it.
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
    """Watch on the limit of open files of a loop's servers, one for each server. The loop's
    exception handler is installed once.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._told_at = -_TELL_AGAIN_S
        self._failed_at = -_TELL_AGAIN_S
        self._before = loop.get_exception_handler()

    def watch(self) -> None:
        """Handle the loop's reports of failed accepts; other reports go to the previous handler."""
        self._loop.set_exception_handler(self._on_error)

    def stop(self) -> None:
        """Restore the loop's exception handler, once no failed accept is retried any more."""
        left_s = self._failed_at + ACCEPT_RETRY_DELAY - self._loop.time()
        if left_s >= 0:
            self._loop.call_later(left_s + _RETRIED_S, self._restore)
        else:
            self._restore()

    def _restore(self) -> None:
        if self._loop.get_exception_handler() == self._on_error:
            self._loop.set_exception_handler(self._before)

    def accepted(self, number: int) -> None:
        """Note the file descriptor of an accepted connection, and report if few are left."""
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
