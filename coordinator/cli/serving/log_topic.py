"""`coordinator serve --log-topic NAME`: the event log in a Kafka topic, of the emulator itself or
(`--log-bootstrap`) of another Kafka."""

from __future__ import annotations

import sys
from argparse import Namespace
from os import fspath
from typing import TYPE_CHECKING

from coordinator.base.printable import printable

from .. import UsageError

if TYPE_CHECKING:
    from coordinator.kit.emulator.embedded import Emulator
    from coordinator.kit.emulator.log_publisher import LogPublisher


def check_options(args: Namespace) -> None:
    """Add the topic that receives the event log to `--topic`, if it is one of the emulator's
    own. Raises UsageError."""
    topic, bootstrap = "--log-topic", "--log-bootstrap"
    if args.from_environment:
        topic, bootstrap = (
            f"{topic} or COORDINATOR_LOG_TOPIC",
            f"{bootstrap} or COORDINATOR_LOG_BOOTSTRAP",
        )
    if args.log_bootstrap is not None and args.log_topic is None:
        raise UsageError(f"{bootstrap}: of which topic? Give {topic}, too")
    if args.log_command_config is not None and args.log_bootstrap is None:
        raise UsageError(f"--log-command-config: to get in where? Give {bootstrap}, too")
    if args.log_topic is None:
        return
    from coordinator.members.live.bootstrap import AddressError, parse_addresses
    from coordinator.server.cluster.topic_names import why_invalid

    if (why := why_invalid(args.log_topic)) is not None:
        raise UsageError(f"{topic}: {why}; give 1 to 249 of a-z A-Z 0-9 . _ -")
    if args.log_bootstrap is not None:
        try:
            parse_addresses(args.log_bootstrap)
        except AddressError as error:
            raise UsageError(f"{bootstrap}: {error}") from None
        from .. import command_config

        command_config.read(args.log_command_config)
    elif args.log_topic not in {each.partition(":")[0] for each in args.topic}:
        args.topic = [*args.topic, f"{args.log_topic}:1"]


class Publication:
    """Publishes the event log to a topic while an emulator runs."""

    def __init__(self, publisher: LogPublisher, topic: str, elsewhere: str | None) -> None:
        self._publisher = publisher
        self._elsewhere = elsewhere
        self.told = f"event log: also in topic {topic} of {elsewhere or 'this emulator'}"

    async def emulator_stops(self) -> None:
        """Write the log so far to the emulator's own topic, before the emulator stops."""
        if self._elsewhere is None:
            await self._stop()

    async def emulator_stopped(self) -> None:
        """Write the rest of the log, now complete, to the other Kafka."""
        if self._elsewhere is not None:
            await self._stop()

    async def _stop(self) -> None:
        if not await self._publisher.stop():
            _tell(
                f"event log: {self._publisher.published:,} lines are published, not all; the file has the rest"
            )


def published(
    emulator: Emulator, topic: str | None, elsewhere: str | None, config: str | None
) -> Publication | None:
    """Begin to publish the log of a running emulator; return None if no topic was given."""
    if topic is None:
        return None
    from coordinator.events.files import runs
    from coordinator.kit.emulator.log_publisher import LogPublisher
    from coordinator.kit.emulator.session import own_addresses, own_routes

    from .. import command_config

    assert emulator.log_path is not None
    path = fspath(emulator.log_path)
    routes = own_routes(emulator.servers) if elsewhere is None else {}
    publisher = LogPublisher(
        path,
        elsewhere or own_addresses(routes),
        topic,
        offset=runs(path)[-1].offset,
        routes=routes,
        entry=command_config.read(config),
        tell=_tell,
    )
    publisher.start()
    return Publication(publisher, topic, elsewhere)


def _tell(text: str) -> None:
    print(f"coordinator serve: {printable(text)}", file=sys.stderr, flush=True)
