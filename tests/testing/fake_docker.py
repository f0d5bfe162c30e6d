"""A Docker daemon that is not one: it answers what Testcontainers asks, in the form of Docker's
API, and fails as it is told.

A container that is started listens, as an embedded emulator, on the port of this machine that was
bound to it; or does not, if `alive` is off. `refuse_start` holds refusals for the next starts, in
order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from coordinator import Emulator

Answer = tuple[int, Any]


@dataclass
class FakeContainer:
    """What was asked for, and how it goes."""

    asked: dict[str, Any]
    status: str = "created"
    exit_code: int = 0
    broker: Emulator | None = None

    @property
    def port(self) -> int:
        """The port of this machine."""
        return int(self.asked["HostConfig"]["PortBindings"]["9092/tcp"][0]["HostPort"])

    @property
    def environment(self) -> dict[str, str]:
        """As the process in the container has it."""
        return dict(pair.split("=", 1) for pair in self.asked["Env"])

    def inspect(self, name: str) -> dict[str, Any]:
        """Its state. With a terminal, so that its log is plain text."""
        state = {
            "Status": self.status,
            "ExitCode": self.exit_code,
            "OOMKilled": self.exit_code == 137,
        }
        return {"Id": name, "State": state, "Config": {"Tty": True}, "Image": "i"}


@dataclass
class FakeDocker:
    """The daemon's state, and what it is told to do wrong."""

    images: set[str] = field(default_factory=lambda: {"a/kafka:1"})
    log: str = "a line of the log\n"
    alive: bool = True
    pull: Answer = (404, {"message": "pull access denied"})
    pull_stalls: bool = False
    ends_at_once: int | None = None
    refuse_start: list[Answer] = field(default_factory=list)
    refuse_removal: bool = False
    containers: dict[str, FakeContainer] = field(default_factory=dict)
    networks: dict[str, dict[str, str]] = field(default_factory=dict)
    created: list[FakeContainer] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    def answer(
        self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]
    ) -> Answer:
        """The status and the body of an answer."""
        match method, path.strip("/").split("/"):
            case "GET", ["version"]:
                return 200, {"ApiVersion": "1.41", "MinAPIVersion": "1.12"}
            case "GET", ["images", *name, "json"]:
                return (
                    (200, {"Id": "i", "RepoTags": []})
                    if "/".join(name) in self.images | {"i"}
                    else (404, {"message": "No such image"})
                )
            case "POST", ["images", "create"]:
                return self.pull
            case "GET", ["containers", "json"]:
                return 200, [
                    {"Id": name}
                    for name, one in self.containers.items()
                    if _chosen(one.asked["Labels"], query)
                ]
            case "POST", ["containers", "create"]:
                name = f"c{len(self.created)}"
                self.containers[name] = FakeContainer(body)
                self.created.append(self.containers[name])
                return 201, {"Id": name, "Warnings": []}
            case "GET", ["containers", name, "logs"]:
                (tail,) = query["tail"]
                return 200, self.log if tail == "all" else "".join(
                    self.log.splitlines(keepends=True)[-int(tail) :]
                )
            case _, ["containers", name, *rest]:
                return self.on_container(method, name, rest)
            case "GET", ["networks"]:
                return 200, [
                    {"Id": name, "Name": name}
                    for name, labels in self.networks.items()
                    if _chosen(labels, query)
                ]
            case "GET", ["networks", name]:
                return 200, {"Id": name, "Name": name}
            case "POST", ["networks", "create"]:
                self.networks[body["Name"]] = body["Labels"]
                return 201, {"Id": body["Name"]}
            case "DELETE", ["networks", name]:
                del self.networks[name]
                return 204, None
        return 501, {"message": f"{method} {path}: not faked"}

    def on_container(self, method: str, name: str, rest: list[str]) -> Answer:
        if name not in self.containers:
            return 404, {"message": f"No such container: {name}"}
        container = self.containers[name]
        match method, rest:
            case "GET", ["json"]:
                return 200, container.inspect(name)
            case "POST", ["start"]:
                if self.refuse_start:
                    return self.refuse_start.pop(0)
                self.run(container)
                return 204, None
            case "POST", ["kill" | "stop"]:
                self.end(container)
                return 204, None
            case "POST", ["wait"]:
                return 200, {"StatusCode": 137}
            case "POST", ["pause" | "unpause"]:
                container.status = {"pause": "paused", "unpause": "running"}[rest[0]]
                return 204, None
            case "DELETE", []:
                if self.refuse_removal:
                    return 500, {"message": "the disk is tired"}
                self.end(container)
                del self.containers[name]
                return 204, None
        return 501, {"message": f"{method} {rest}: not faked"}

    def run(self, container: FakeContainer) -> None:
        container.status = "running"
        if self.ends_at_once is not None:
            container.status, container.exit_code = "exited", self.ends_at_once
        elif self.alive:
            container.broker = Emulator(listen=f"127.0.0.1:{container.port}")
            container.broker.__enter__()

    def end(self, container: FakeContainer) -> None:
        container.status = "exited"
        if container.broker:
            container.broker.__exit__(None, None, None)
            container.broker = None


def _chosen(labels: dict[str, str], query: dict[str, list[str]]) -> bool:
    wanted = json.loads(query.get("filters", ["{}"])[0]).get("label", [])
    return all(labels.get(name) == value for name, value in (pair.split("=", 1) for pair in wanted))


@contextmanager
def fake_docker() -> Iterator[tuple[FakeDocker, str]]:
    """The daemon, and what DOCKER_HOST must be."""
    fake = FakeDocker()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            url = urlsplit(self.path)
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = re.sub(r"^/v[\d.]+", "", url.path)
            status, answer = fake.answer(
                self.command, path, parse_qs(url.query), json.loads(data) if data else {}
            )
            self.send_response(status)
            self.send_header("Connection", "close")
            self.send_header(
                "Content-Type", "text/plain" if isinstance(answer, str) else "application/json"
            )
            if path == "/images/create" and status == 200:
                self.send_steps(answer)
                return
            body = (
                b""
                if answer is None
                else (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            )
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def send_steps(self, steps: list[dict[str, str]]) -> None:
            """How a pull goes on, a chunk for each step; the last for ever, if it stalls."""
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with suppress(OSError):  # the client gave up
                for step in steps:
                    self.send_chunk(json.dumps(step))
                while fake.pull_stalls and not fake.over.wait(0.02):
                    self.send_chunk(json.dumps(steps[-1]))
                self.send_chunk("")

        def send_chunk(self, text: str) -> None:
            self.wfile.write(f"{len(text):x}\r\n{text}\r\n".encode())

        do_GET = do_POST = do_DELETE = do  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Not on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield fake, f"tcp://127.0.0.1:{server.server_port}"
        finally:
            fake.over.set()
            for container in fake.containers.values():
                fake.end(container)
            server.shutdown()
            thread.join()
