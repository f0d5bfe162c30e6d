"""Calls of the Docker daemon: connect, pull an image, start a reaper, remove what this package
created. Every wait has a limit.

Everything created here carries a label of its own, and removal goes by label, so a half-made
container is found, too. Creation cannot be interrupted, so no interrupt falls between a creation
and its note. Docker's refusals are translated. It must not know brokers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any, Final, TypeVar

from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.utils import parse_repository_tag
from requests.exceptions import RequestException
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import Reaper
from testcontainers.core.docker_client import DockerClient

from .errors import ImageUnavailableError, refused, unavailable, unreachable

logger = logging.getLogger(__name__)

T = TypeVar("T")

HELLO_LIMIT_S: Final = 10.0
CALL_LIMIT_S: Final = 60
REAPER_PULL_LIMIT_S: Final = 60.0
RUN_LABEL: Final = "kafka-group-coordinator.run"

DOCKER_ERRORS: Final = (DockerException, RequestException)
"""The errors of Docker's client: the daemon's refusals, and a daemon that stopped answering."""

_reaper_lock = Lock()


def connect(limit_s: float = HELLO_LIMIT_S) -> DockerClient:
    """Return a client of Docker after its daemon has answered. Raises DockerUnavailableError, at
    the latest after the limit."""
    try:
        client = DockerClient(timeout=limit_s)  # asks for the daemon's version at once
    except DOCKER_ERRORS as error:
        raise unreachable(error) from error
    client.client.api.timeout = CALL_LIMIT_S
    return client


def full_name(image: str) -> str:
    """Return the image's name with the prefix that Testcontainers will add for a registry of the
    user's own. Older releases of Testcontainers have no prefix."""
    return str(getattr(testcontainers_config, "hub_image_name_prefix", "")) + image


def ensure_image(client: DockerClient, image: str, limit_s: float, advice: str) -> None:
    """Pull the image unless it is on this machine. Raises ImageUnavailableError, with the
    advice, at the latest after the limit."""
    try:
        client.client.images.get(image)
        return
    except ImageNotFound:
        pass
    except DOCKER_ERRORS as error:
        raise refused(f"look for image {image}", error) from error
    logger.info("pulling image %s", image)
    try:
        failure = _pull(image, limit_s)
    except DOCKER_ERRORS as error:
        raise unavailable(image, error, advice) from error
    if failure:
        raise unavailable(image, failure, advice)


def ensure_reaper(client: DockerClient) -> None:
    """Start Testcontainers' reaper (Ryuk), which removes what a killed process leaves; go on
    without it if its image is not available."""
    with _reaper_lock:
        if testcontainers_config.ryuk_disabled:
            return
        image = full_name(testcontainers_config.ryuk_image)
        try:
            ensure_image(client, image, REAPER_PULL_LIMIT_S, "")
        except ImageUnavailableError:
            testcontainers_config.ryuk_disabled = True
            logger.warning(
                "Testcontainers' reaper is off, as its image %s is neither here nor to be pulled: containers are removed at the end of "
                "`with`, but would outlive a killed process",
                image,
            )
            return
        try:
            Reaper.get_instance()
        except Exception as error:
            raise refused(
                "start Testcontainers' reaper (TESTCONTAINERS_RYUK_DISABLED=true does without it)",
                error,
            ) from error


def undisturbed(action: Callable[[], T]) -> T:
    """Run in a separate thread, and raise an interrupt of the caller (Ctrl-C) only after the
    action has ended."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(action).result()


def create_network(client: DockerClient, name: str, labels: Mapping[str, str]) -> None:
    """Create a network with these labels. Raises ContainerError."""
    try:
        client.client_networks_create(name, {"labels": dict(labels)})
    except DOCKER_ERRORS as error:
        raise refused("create a network", error) from error


def remove_labelled(client: DockerClient, labels: Mapping[str, str]) -> None:
    """Remove every container, with its volumes, and every network that carries all of the labels.
    Raises ContainerError."""
    chosen = {"label": [f"{name}={value}" for name, value in labels.items()]}
    try:
        for container in client.client.containers.list(
            all=True, ignore_removed=True, filters=chosen
        ):
            _remove_container(container)
        for network in client.client.networks.list(filters=chosen):
            with suppress(NotFound):
                network.remove()
    except DOCKER_ERRORS as error:
        by_hand = f"docker ps -aq --filter label={RUN_LABEL} | xargs -r docker rm -fv; docker network prune --filter label={RUN_LABEL}"
        raise refused(f"remove what was started; by hand: {by_hand}", error) from error


def _remove_container(container: Any) -> None:
    """Remove a container in any state; no error if it is gone, or about to be."""
    try:
        container.remove(force=True, v=True)
    except NotFound:
        pass
    except APIError as error:
        if error.status_code != 409 or "already in progress" not in str(error):
            raise


def _pull(image: str, limit_s: float) -> str:
    """Pull an image; return the reason of a failure, or ""."""
    deadline = time.monotonic() + limit_s
    repository, tag = parse_repository_tag(image)
    client = DockerClient(timeout=limit_s)
    try:
        steps = client.client.api.pull(repository, tag=tag or "latest", stream=True, decode=True)
        for step in steps:
            if "error" in step:
                return str(step["error"])
            if time.monotonic() > deadline:
                return f"not done within {limit_s:g} s; a larger pull_timeout_s allows more"
    finally:
        client.client.close()
    return ""
