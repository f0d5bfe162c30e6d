"""A network between clients and a broker that is never quite even: what comes is passed on in order,
each piece some milliseconds late, and now and then a second."""

from __future__ import annotations

import asyncio
import random
from threading import Event, Thread


class Jitter:
    """Listens at `port` and passes on to `target` on loopback; in a thread of its own."""

    def __init__(self, port: int, target: int, seed: int) -> None:
        self._port, self._target = port, target
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._listens = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Jitter:
        self._thread.start()
        self._listens.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        listening = asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._loop.run_until_complete(listening)
        self._listens.set()
        self._loop.run_forever()

    async def _connected(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, forth = await asyncio.open_connection("127.0.0.1", self._target)
        await asyncio.gather(self._pass(near, forth), self._pass(far, back))

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 16):
                await asyncio.sleep(self._late_s())
                sink.write(data)
        except OSError:
            pass
        finally:
            sink.close()

    def _late_s(self) -> float:
        if self._random.random() < 0.01:
            return self._random.uniform(0.3, 1.2)
        return self._random.expovariate(1 / 0.012)
