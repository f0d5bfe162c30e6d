"""`EmulatorContainer`: this project's emulator in a container, in place of a Kafka container.

Owns the variables by which the image is told its topics, configuration and address. Refuses to know what is asked of it. In a Python
test suite `coordinator.Emulator` does the same without Docker; the container is for suites that think in containers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from ... import __version__
from ...broker.build import TopicError, topic_options
from ...cluster.configs import BrokerConfigs, ConfigError
from .brokers import CLIENT_PORT, Brokers
from .errors import ContainerError
from .settings import checked_config, variable

DEFAULT_IMAGE: Final = f"kafka-group-coordinator:{__version__}"


class EmulatorContainer(Brokers):
    """The emulator for as long as a `with` lasts; it keeps all in memory, so a stopped broker starts again empty.

    `topics`: `{"orders": 12}` or `["orders:12", "payments"]`. `config`: broker configurations by Kafka's names; defaults are Kafka's,
    except that group.initial.rebalance.delay.ms is 0. `image`: instead of the environment's COORDINATOR_IMAGE, or
    kafka-group-coordinator with this package's version. `port`: a port of this machine; None for a free one.

    Raises ContainerError for arguments that cannot be, and when the emulator cannot be had within `pull_timeout_s` and
    `startup_timeout_s`; DockerUnavailableError and ImageUnavailableError are such errors.
    """

    kind = "emulator"
    advice = (
        "build it in a checkout of this project (`python -m tools.images emulator`), or name another with COORDINATOR_IMAGE; "
        "in Python tests `coordinator.Emulator` needs no container"
    )

    def __init__(
        self,
        topics: Iterable[str] | Mapping[str, int] = (),
        config: Mapping[str, object] | None = None,
        image: str | None = None,
        port: int | None = None,
        *,
        startup_timeout_s: float = 60,
        pull_timeout_s: float = 300,
    ) -> None:
        super().__init__(
            image=image or os.environ.get("COORDINATOR_IMAGE") or DEFAULT_IMAGE, count=1, ports=port,
            startup_timeout_s=startup_timeout_s, pull_timeout_s=pull_timeout_s,
        )  # fmt: skip
        self._config = checked_config(config or {})
        try:
            self._topics = topic_options([topics] if isinstance(topics, str) else topics)
            BrokerConfigs(self._config)
        except TopicError as error:
            raise ContainerError(f"topics: {error}") from error
        except ConfigError as error:
            raise ContainerError(f"config: {error}") from error

    def _environment(self, number: int, address: str) -> Mapping[str, str]:
        variables = {variable(name): value for name, value in self._config.items()}
        variables["KAFKA_LISTENERS"] = f"PLAINTEXT://0.0.0.0:{CLIENT_PORT}"
        variables["KAFKA_ADVERTISED_LISTENERS"] = f"PLAINTEXT://{address}"
        variables["COORDINATOR_TOPICS"] = ",".join(
            topic.name if topic.partitions is None else f"{topic.name}:{topic.partitions}" for topic in self._topics
        )
        return variables
