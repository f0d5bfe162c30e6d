"""A broker without sockets for the tests of topics, metadata and configurations: requests go in and
answers come out encoded."""

from __future__ import annotations

from random import Random
from typing import Any

from coordinator.broker.apis import handler_of
from coordinator.broker.build import TopicOption, build_broker
from coordinator.broker.call import Call, Encoded, Sliced
from coordinator.common.slices import whole
from coordinator.configs.broker_configs import BrokerConfigs
from coordinator.wire.messages import request_type, response_type

LISTENER = "PLAINTEXT"


class Log:
    """Remembers what was appended."""

    writable = True

    def __init__(self) -> None:
        self.events: list[tuple[str, str, dict[str, Any]]] = []

    def append(self, stream: str, kind: str, **fields: Any) -> int:
        self.events.append((stream, kind, fields))
        return len(self.events)

    def flush(self) -> None:
        pass

    def group_event(self, *_: object) -> int:
        return 0


class Admin:
    """One broker with node id 1 at 127.0.0.1:9092, and a client that speaks any version."""

    def __init__(self, *topics: str, **configs: str) -> None:
        options = {name.replace("_", "."): value for name, value in configs.items()}
        self.log = Log()
        self.broker = build_broker(
            configs=BrokerConfigs(options),
            random=Random(1),
            epoch_ms=0,
            topics=[TopicOption.parse(topic) for topic in topics],
            log=self.log,  # type: ignore[arg-type]
        )
        self.cluster = self.broker.cluster
        node = self.cluster.brokers[1]
        node.endpoints[LISTENER] = ("127.0.0.1", 9092)
        self.cluster.add_broker(node)
        self.log.events.clear()

    def ask(self, key: int, version: int, **fields: Any) -> Any:
        """The decoded answer to a request. Both go through bytes, so that only what the version
        carries is seen."""
        request = request_type(key)
        message = request.decode(version, request(**fields).encode(version))
        answer = handler_of(key)(
            self.broker, Call(message, version, "test", "/127.0.0.1", 1, 0, LISTENER, 7)
        )
        if isinstance(answer, Sliced):
            answer = whole(answer.work, 0)
        body = answer.body if isinstance(answer, Encoded) else answer.encode(version)
        return response_type(key).decode(version, body)

    def logged(self, kind: str) -> list[dict[str, Any]]:
        return [
            fields
            for stream, logged, fields in self.log.events
            if stream == "cluster" and logged == kind
        ]
