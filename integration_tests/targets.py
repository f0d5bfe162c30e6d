"""The two targets of every integration test: this emulator, and a real Apache Kafka 4.4.0; one
broker for each profile.

The emulator is embedded. The real broker runs in containers (`RealKafka`); where none can run, as
plain Java processes; where there is no Java either, not at all. REAL_BROKER=container|java|none
overrules what is found. REQUIRE_REAL_BROKER=1 makes anything but containers a failure. Owns which
broker is where, and its end. Does not depend on what is asked of them.
"""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from threading import Lock
from typing import Final, Protocol

from coordinator import Emulator
from coordinator.base.releases import NEWEST, release_named
from coordinator.server.settings.broker_configs import known_settings
from integration_tests.java_broker import FOR_TESTS, JavaBroker
from integration_tests.wire import secured
from integration_tests.wire.registry import PROFILES
from integration_tests.wire.secured import SecuredEmulator, SecuredJavaBroker
from tools import kafka_jars

LOCAL_IMAGE: Final = "local/kafka:4.4.0"
START_S: Final = 600.0
"""The limit of a container's start: eight at once beside other work take minutes."""
KINDS: Final = ("auto", "container", "java", "none")


class NoBroker(Exception):
    """No real broker can be had; the text says why and what to do."""


class Target(Protocol):
    """Where brokers of each profile listen."""

    def begin(self, profiles: Iterable[str]) -> None:
        """Start the brokers of these profiles together, but for those that run. Does not wait."""

    def address(self, profile: str) -> str:
        """`host:port` of the profile's broker; it is started if need be."""

    def logs(self) -> str:
        """The ends of the brokers' logs."""


class EmulatorTarget:
    """An embedded emulator for each profile, each on a thread of its own, started when first asked
    for."""

    def __init__(self, kafka_version: str | None = None) -> None:
        self._kafka_version = kafka_version
        self._running: dict[str, Emulator] = {}
        self._stack = ExitStack()
        self._lock = Lock()

    def begin(self, profiles: Iterable[str]) -> None:
        """Nothing to do: each starts in milliseconds."""

    def address(self, profile: str) -> str:
        """`host:port` of the profile's emulator."""
        with self._lock:
            if profile not in self._running:
                self._running[profile] = self._stack.enter_context(
                    SecuredEmulator(self._kafka_version)
                    if profile == secured.PROFILE
                    else Emulator(
                        config=self._known({**FOR_TESTS, **PROFILES[profile]}),
                        kafka_version=self._kafka_version,
                    )
                )
            return self._running[profile].bootstrap_servers

    def _known(self, config: Mapping[str, str]) -> dict[str, str]:
        """The settings that the release knows. Kafka ignores others."""
        release = NEWEST if self._kafka_version is None else release_named(self._kafka_version)
        return known_settings(config, release)

    def logs(self) -> str:
        """The emulator writes none."""
        return ""

    def close(self) -> None:
        """Stop all of them."""
        self._stack.close()


class RealBroker(Protocol):
    """A broker that is running, or on its way."""

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`."""

    def logs(self) -> str:
        """What it wrote."""

    def stop(self) -> object:
        """End it, and leave nothing over."""


class KafkaTarget:
    """A real broker for each profile that is asked for; `begin` starts several together.

    Whoever asks for an address waits for all brokers that were begun: many JVMs that start beside a
    story slow it down. `version` is an exact release other than the reference; its brokers are Java
    processes. Raises NoBroker when none can be had.
    """

    def __init__(self, version: str | None = None) -> None:
        self._version = version
        self.kind = real_broker_kind() if version is None else _java(version)
        self._starting: dict[str, Future[RealBroker]] = {}
        self._brokers: dict[str, RealBroker] = {}
        self._lock = Lock()

    def begin(self, profiles: Iterable[str]) -> None:
        """Start the brokers of these profiles together, but for those that run. Does not wait."""
        with self._lock:
            new = sorted(set(profiles) - self._starting.keys())
            if new:
                pool = ThreadPoolExecutor(len(new), thread_name_prefix="start-kafka")
                for name in new:
                    self._starting[name] = pool.submit(self._start, name, PROFILES[name])
                pool.shutdown(wait=False)

    def address(self, profile: str) -> str:
        """`host:port` of the profile's broker, once all that were begun are ready."""
        self.begin([profile])
        wait(list(self._starting.values()))
        broker = self._starting[profile].result()
        if isinstance(broker, SecuredJavaBroker):
            return broker.addresses
        return broker.bootstrap_servers

    def logs(self) -> str:
        """The ends of all brokers' logs, each under its profile's name."""
        return "\n".join(
            f"--- {name}\n{broker.logs()[-4_000:]}"
            for name, broker in sorted(self._brokers.items())
        )

    def end(self, profiles: Iterable[str]) -> None:
        """Stop the brokers of these profiles, as far as they were begun: a broker that nobody asks
        takes processor time. One that is asked for once more is a new one."""
        with self._lock:
            ended = [self._starting.pop(name) for name in set(profiles) & self._starting.keys()]
        with ThreadPoolExecutor(max(len(ended), 1), thread_name_prefix="stop-kafka") as pool:
            for future in ended:
                if future.exception() is None:
                    pool.submit(future.result().stop)

    def close(self) -> None:
        """Stop all of them."""
        self.end(list(self._starting))

    def _start(self, profile: str, config: Mapping[str, str]) -> RealBroker:
        broker = self._brokers[profile] = (
            SecuredJavaBroker(self._version).start()
            if profile == secured.PROFILE
            else new_broker(self.kind, config, self._version)
        )
        return broker


def new_broker(kind: str, config: Mapping[str, object], version: str | None = None) -> RealBroker:
    """Start a real broker, in a container or as a Java process, and wait until it is ready."""
    config = {**FOR_TESTS, **config}
    if kind == "java":
        return JavaBroker(config, version=version).start()
    from coordinator.testing.containers import RealKafka

    return RealKafka(config=config, image=real_broker_image(), startup_timeout_s=START_S).start()


def real_broker_kind() -> str:
    """`container` or `java`. Raises NoBroker, with the reason, when there is neither."""
    wanted = os.environ.get("REAL_BROKER", "auto")
    if wanted not in KINDS:
        raise NoBroker(f"REAL_BROKER={wanted}: give one of {', '.join(KINDS)}")
    if wanted == "none":
        raise NoBroker("REAL_BROKER=none")
    no_docker = ""
    if wanted in ("auto", "container"):
        no_docker = why_no_docker()
        if not no_docker:
            return "container"
        if wanted == "container":
            raise NoBroker(no_docker)
    return _java(None, no_docker or "REAL_BROKER=java")


def _java(version: str | None, why: str = "") -> str:
    """`java`, if plain Java processes of a release can be had. Raises NoBroker."""
    try:
        kafka_jars.java()
        kafka_jars.jars(version)
    except kafka_jars.NoJavaError as error:
        raise NoBroker(
            f"{why}; as a plain Java process neither: {error}" if why else str(error)
        ) from None
    return "java"


def why_no_docker() -> str:
    """Empty when a Docker daemon answers; else the reason in a line."""
    try:
        import docker
        from docker.errors import DockerException
    except ImportError:
        return "the Python package `docker` is not installed (extra: testcontainers)"
    reason = ""
    try:
        client = docker.from_env(timeout=10)
        client.ping()
        client.close()
    except (DockerException, OSError) as error:
        reason = f"no Docker daemon answers ({str(error).splitlines()[0][:120]})"
    if reason:
        _collect_sockets()
    return reason


def _collect_sockets() -> None:
    """Docker's client leaves its socket open when nobody answers: be rid of it here, not in
    somebody's test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def real_broker_image() -> str | None:
    """KAFKA_IMAGE if it is set; else the locally built image if it is there and the published one
    is not; None: the default."""
    if os.environ.get("KAFKA_IMAGE"):
        return os.environ["KAFKA_IMAGE"]
    import docker
    from docker.errors import ImageNotFound

    client = docker.from_env()
    try:
        for image in ("apache/kafka:4.4.0", LOCAL_IMAGE):
            try:
                client.images.get(image)
            except ImageNotFound:
                continue
            return image
    finally:
        client.close()
    return None
