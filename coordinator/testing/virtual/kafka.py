"""`virtual_kafka` and the object that a test gets from it: the emulator, with methods that are
awaited if they wait. It gives the running loop virtual time and takes it away again."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from os import PathLike
from random import Random
from typing import Any

from coordinator.base.forgotten_awaits import await_is_watched
from coordinator.base.keyword_errors import nearest_keywords
from coordinator.events import EventLog
from coordinator.kit.emulator.options import EmulatorError
from coordinator.server.build import topic_options
from coordinator.server.cluster_runtime import Brokers, ClusterOptions
from coordinator.server.settings.broker_configs import BrokerConfigs

from ..asynchronous import AsyncKafka
from .brokers import VirtualBrokers
from .secured import Secured
from .time import RealIo, VirtualTime

EPOCH_S = 1_700_000_000
_LOOK_S = 0.01


class VirtualKafkaWarning(UserWarning):
    """The run can be repeated only with a fixed PYTHONHASHSEED."""


@await_is_watched
@nearest_keywords
class VirtualKafka(AsyncKafka):
    """Brokers under virtual time, made by `virtual_kafka`: the testing kit, with methods that
    wait as coroutines."""

    _kafka: VirtualBrokers

    @property
    def bootstrap(self) -> str:
        """The value for a client's `bootstrap_servers`."""
        return self._kafka.bootstrap

    @property
    def now_ms(self) -> int:
        """Virtual milliseconds since the start."""
        return self._kafka.now_ms

    async def until(self, condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
        """Let virtual time pass until a condition holds, up to a limit in virtual seconds.
        Raises TimeoutError."""
        deadline = self.now_ms + timeout_s * 1000
        while not condition():
            if self.now_ms >= deadline:
                raise TimeoutError(
                    f"it does not hold after {timeout_s:g} virtual seconds; until(..., timeout_s=...) waits longer"
                )
            await asyncio.sleep(_LOOK_S)


@asynccontextmanager
async def virtual_kafka(
    topics: Mapping[str, int] | None = None,
    *,
    brokers: int = 1,
    config: Mapping[str, object] | None = None,
    seed: int = 1,
    latency_ms: float = 1.0,
    log: str | PathLike[str] | None = None,
    real_io: RealIo = "refuse",
    security: str = "PLAINTEXT",
    users: Mapping[str, str] | None = None,
    acls: Sequence[str | Mapping[str, Any]] = (),
    super_users: Sequence[str] = (),
) -> AsyncIterator[VirtualKafka]:
    """Give the running loop virtual time and an emulator.

    `topics`: how many partitions each has. `config`: broker settings by Kafka's names. `seed`: of
    every draw, module `random`'s included. `latency_ms`: how long bytes take, one way. `log`: the
    file for the event log (default: in memory). `real_io`: whether threads, executors and other
    connections are refused with VirtualTimeError, or virtual time stands still until they are done
    ("wait"). `security`: PLAINTEXT or SASL_PLAINTEXT; `users`, `acls`, `super_users`: as `Emulator`
    takes them.
    """
    if real_io not in ("refuse", "wait"):
        raise EmulatorError(f'real_io={real_io!r}: "refuse" or "wait"')
    hash_seed = os.environ.get("PYTHONHASHSEED", "random")
    if hash_seed in ("", "random") and log is not None:
        warnings.warn(
            "PYTHONHASHSEED is not set: sets of texts have another order in each process, and the event log may differ. Set it to a number",
            VirtualKafkaWarning,
            stacklevel=4,
        )
    loop = asyncio.get_running_loop()
    clock = VirtualTime(loop, seed=seed, epoch_s=EPOCH_S, real_io=real_io)
    # Compiled parts of client libraries read the real clock for timestamps, which is far ahead of
    # the virtual one.
    settings = {
        "group.initial.rebalance.delay.ms": 0,
        "log.message.timestamp.after.max.ms": (1 << 63) - 1,
        **(config or {}),
    }
    configs = [
        BrokerConfigs({key: str(value) for key, value in settings.items()}, node_id=node)
        for node in range(1, brokers + 1)
    ]
    about: dict[str, Any] = {"epoch_ms": EPOCH_S * 1000, "config": {"PYTHONHASHSEED": hash_seed}}
    secured = Secured(security, users, acls, super_users, configs[0])
    opened = (
        EventLog(seed=seed, **about)
        if log is None
        else EventLog.open(log, mode="replace", seed=seed, **about)
    )
    opened.data = True
    clock.begin()
    kafka = None
    real: Any = loop.create_connection
    try:
        runtime = Brokers(
            ClusterOptions(
                configs=configs,
                random=Random(seed),
                epoch_ms=EPOCH_S * 1000,
                topics=topic_options(topics or {}),
                log=opened,
            )
        )
        kafka = VirtualBrokers(loop, clock, runtime, opened, log, seed, latency_ms / 1000, secured)
        connect = kafka.connect

        async def create_connection(
            factory: Any, host: Any = None, port: Any = None, **options: Any
        ) -> Any:
            return await connect(real, factory, host, port, **options)

        vars(loop)["create_connection"] = create_connection
        yield VirtualKafka(kafka)
    finally:
        vars(loop).pop("create_connection", None)
        if kafka is not None:
            kafka.stop()
        clock.end()
