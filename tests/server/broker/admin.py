"""A broker without sockets for the tests of topics, metadata and configurations: requests go in and
answers come out encoded."""

from __future__ import annotations

from random import Random
from typing import Any

from coordinator.base.slices import whole
from coordinator.events.line import Line, line_of
from coordinator.server.apis import handler_of
from coordinator.server.build import TopicOption, build_broker
from coordinator.server.requests.call import Call, Encoded, Sliced
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.wire.messages import request_type, response_type

LISTENER = "PLAINTEXT"


class Log:
    """Remembers what was appended."""

    writable = True

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def append(self, event: Any, **envelope: Any) -> int:
        self.lines.append(line_of(event, **envelope))
        return len(self.lines)

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
        self.log.lines.clear()

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
            line.plain for line in self.log.lines if (line.stream, line.name) == ("cluster", kind)
        ]
