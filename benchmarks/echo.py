"""`python -m benchmarks.echo PORT LOOP`: the least a server can do on the same sockets and loop, to
hold our figures against.

Sends back as many bytes as a heartbeat's answer has for each read. What it costs is the price of
the event loop and the kernel; the rest of a heartbeat's cost is ours.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from coordinator.cli.serving.serve import loop_factory

_ANSWER = bytes(16)
_buffer = memoryview(bytearray(1 << 18))


class _Echo(asyncio.BufferedProtocol):
    transport: Any

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return _buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.transport.write(_ANSWER)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Echo, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=loop_factory(sys.argv[2])) as runner:
        runner.run(_serve(int(sys.argv[1])))
