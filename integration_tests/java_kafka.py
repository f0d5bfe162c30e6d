"""A real Kafka without containers until Ctrl-C, to try things with and to compare by hand: one
broker, or a cluster of three.

python -m integration_tests.java_kafka [--kafka-version 4.2.2] [--brokers 3] [--port N] [name=value ...]
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from integration_tests.java_broker import FOR_TESTS, BrokerError, JavaBroker
from integration_tests.java_cluster import BROKERS, JavaCluster
from tools import kafka_jars
from tools.kafka_jars import NoJavaError


def main(arguments: list[str] | None = None) -> int:
    """Run it until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m integration_tests.java_kafka",
        description="A real Kafka until Ctrl-C: 4.4.0, or another release.",
    )
    parser.add_argument(
        "--kafka-version",
        metavar="VERSION",
        help=f"the exact release of a single broker ({kafka_jars.reference()})",
    )
    parser.add_argument(
        "--brokers", type=int, choices=(1, len(BROKERS)), default=1, help="how many (1)"
    )
    parser.add_argument("--port", type=int, help="the port of a single broker (a free one)")
    parser.add_argument("config", nargs="*", metavar="name=value")
    options = parser.parse_args(arguments)
    wrong = [entry for entry in options.config if "=" not in entry]
    if wrong:
        parser.error(
            f"{wrong[0]!r} is no broker configuration: give name=value, such as group.max.size=2"
        )
    if options.brokers > 1 and options.port is not None:
        parser.error(f"--port {options.port}: is for a single broker; three take free ports")
    if options.brokers > 1 and options.kafka_version is not None:
        parser.error(f"--kafka-version {options.kafka_version}: is for a single broker")
    config: dict[str, object] = dict(entry.split("=", 1) for entry in options.config)
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # as Ctrl-C: the Java processes end too
    alone = {**FOR_TESTS, "group.initial.rebalance.delay.ms": 0, **config}
    try:
        with (
            JavaCluster(config)
            if options.brokers > 1
            else JavaBroker(alone, port=options.port, version=options.kafka_version) as kafka
        ):
            print(f"ready: {kafka.bootstrap_servers}", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except (NoJavaError, BrokerError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
