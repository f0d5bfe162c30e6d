"""The control port on a socket: uvicorn beside the emulator, on the same event loop, without
threads or timers of its own.

    async with ControlPort(kafka, "127.0.0.1:0") as port:
        port.url

It listens on loopback unless `allow_remote`. Beyond loopback a token is needed; one is drawn if
none is given. When the port closes, operations that wait are cancelled.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from coordinator.server.net.endpoints import Endpoint

from .guard import Guard

if TYPE_CHECKING:
    from uvicorn import Server

    from ..emulator.embedded import Emulator
    from .application import Application

TOKEN_VARIABLE = "COORDINATOR_CONTROL_TOKEN"
_LAST_WORDS_S = 1.0
_IDLE_S = 75


class ControlPortError(Exception):
    """The control port cannot be opened; the message says why, and what to change."""


class ControlPort:
    """A control port. `address`: host:port, port 0 for a free one. `advertise`: host or
    host:port for clients elsewhere. `token`: instead of the one in the environment variable
    COORDINATOR_CONTROL_TOKEN; beyond loopback one is drawn if there is none. `origins`: origins
    of pages that may use it. Raises ControlPortError for wrong options, at once or on `start`."""

    def __init__(
        self,
        kafka: Emulator,
        address: str = "127.0.0.1:0",
        *,
        advertise: str | None = None,
        token: str | None = None,
        origins: Collection[str] = (),
        allow_remote: bool = False,
        most_body_bytes: int = 16 << 20,
    ) -> None:
        for package in ("starlette", "uvicorn"):
            if find_spec(package) is None:
                from coordinator.base.installing import lacks

                raise ControlPortError(
                    lacks(f"the control port needs the package {package}", "control")
                )
        self._kafka = kafka
        self.endpoint = _endpoint(address)
        if not self.endpoint.is_loopback and not allow_remote:
            from coordinator.base.installing import see_agents

            raise ControlPortError(
                f"{address} can be reached from other machines: if that is meant, say so (--allow-remote); {see_agents()}"
            )
        given = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
        self.token_is_drawn = not given and not self.endpoint.is_loopback
        self.token = given or ("" if self.endpoint.is_loopback else secrets.token_urlsafe(24))
        if not self.token.isascii() or any(letter.isspace() for letter in self.token):
            raise ControlPortError(f"{TOKEN_VARIABLE}: a token is made of visible ASCII letters")
        self._advertised = (
            None
            if advertise is None
            else _endpoint(advertise if ":" in advertise else f"{advertise}:0")
        )
        self._origins = origins
        self._most_body_bytes = most_body_bytes
        self._server: Server | None = None
        self._socket: socket.socket | None = None
        self._application: Application | None = None

    @property
    def url(self) -> str:
        """The port's URL, with the advertised host. Known once the port is started."""
        shown = self.endpoint
        if self._advertised is not None:
            shown = shown._replace(
                host=self._advertised.host, port=self._advertised.port or shown.port
            )
        host = shown.host if shown.host not in ("", "0.0.0.0", "::") else "127.0.0.1"
        return f"http://[{host}]:{shown.port}" if ":" in host else f"http://{host}:{shown.port}"

    async def start(self) -> Self:
        """Listen. The emulator must run already. Raises ControlPortError if the address cannot
        be bound."""
        import uvicorn

        from .application import Application
        from .port import Port

        host = "127.0.0.1" if self.endpoint.host == "localhost" else self.endpoint.host
        held = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        try:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind((host, self.endpoint.port))
        except OSError as error:
            held.close()
            why = error.strerror or error
            raise ControlPortError(
                f"cannot listen on {host}:{self.endpoint.port}: {why}; port 0 takes a free one"
            ) from None
        held.setblocking(False)
        self.endpoint = self.endpoint._replace(port=held.getsockname()[1])
        hosts = [] if self._advertised is None else [self._advertised.host]
        if not self.endpoint.is_loopback and self.endpoint.host not in ("", "0.0.0.0", "::"):
            hosts.append(self.endpoint.host)
        try:
            self._application = Application(
                Port(self._kafka), Guard(hosts, self._origins, self.token), self._most_body_bytes
            )
        except BaseException:  # the emulator has no event log
            held.close()
            raise
        config = uvicorn.Config(
            self._application,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=_LAST_WORDS_S,  # type: ignore[arg-type]
        )
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[held])
        self._server, self._socket = server, held
        return self

    async def stop(self) -> None:
        """Answer requests that end soon, and close everything."""
        server, self._server = self._server, None
        if server is None or self._application is None or self._socket is None:
            return
        self._application.end()
        await server.shutdown(sockets=[self._socket])

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


@contextmanager
def opened(kafka: Emulator, address: str = "127.0.0.1:0", **options: Any) -> Iterator[ControlPort]:
    """Open a control port beside an emulator that runs on a thread of its own: `with Emulator()
    as kafka, opened(kafka) as port: port.url`."""
    port = ControlPort(kafka, address, **options)
    loop = kafka.server.loop
    asyncio.run_coroutine_threadsafe(port.start(), loop).result()
    try:
        yield port
    finally:
        asyncio.run_coroutine_threadsafe(port.stop(), loop).result()


def _endpoint(text: str) -> Endpoint:
    try:
        return Endpoint.parse(text)
    except ValueError:
        raise ControlPortError(
            f"{text!r} is no address: give host:port, such as 127.0.0.1:0"
        ) from None
