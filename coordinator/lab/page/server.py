"""The server of the page: files of one directory, and the log that it follows. Loopback only,
standard library only. It acts on groups only if it is given an `Acting`.

Paths: the page's files; `picture` (the folded log as JSON), `here` (the clients' address),
`steps?begin=N&end=M`, `scenario?group=NAME` (a group copied for the simulator), `events`
(server-sent events: `grown` whenever the log has grown), `acts` (the possible actions on a live
group, and their execution). With `log=beside` in the query they are about a second log.

A request must name the address of the server (so that no foreign site reads through a browser),
and every answer forbids scripts from elsewhere. An action needs the token, this very origin and
a body of JSON, so that no other page and no rebound name can act. A page with a log is never
framed. Requests are handled by threads.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.resources.abc import Traversable
from socket import SHUT_RDWR, socket
from threading import Event, Thread
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from .following import Follower

_KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "wasm": "application/wasm",
    "svg": "image/svg+xml",
    "png": "image/png",
    "zip": "application/zip",
    "gz": "application/gzip",
    "txt": "text/plain; charset=utf-8",
}
_BESIDE: Final = "log=beside"
"""In a query: it is about the second log."""
_POLL_S: Final = 0.4
_TURN_S: Final = 0.005
"""Pause in s between two slices of a long log, so that other threads can use the follower."""
_PULSE_S: Final = 15.0
_MOST_STEPS: Final = 2000
_MOST_BODY: Final = 1 << 16
TOKEN: Final = "X-Page-Token"
"""The header with the token. A page elsewhere cannot send it unasked (CORS)."""
POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'; "
    "form-action 'none'"
)
UNFRAMED: Final = f"{POLICY}; frame-ancestors 'none'"


class Acting(Protocol):
    """Carries out a reader's actions. `token`: a request must have it."""

    token: str

    def knows(self, token: str) -> bool: ...

    def plain(self) -> dict[str, Any]:
        """Return the possible actions as JSON values."""

    def carry_out(self, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Carry out an action; return an HTTP status and JSON values."""


class PageServer(ThreadingHTTPServer):
    """Serves `root`, and a log if there is a `follower`. `start` returns at once; `stop` waits
    for the threads."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(
        self,
        host: str,
        port: int,
        root: Traversable,
        index: str,
        follower: Follower | None = None,
        *,
        beside: Follower | None = None,
        address: str = "",
        acting: Acting | None = None,
    ) -> None:
        """`index`: the file for `/`. `beside`: a second log, shown beside the first one.
        `address`: the clients' address, to be shown. Raises OSError if it cannot listen."""
        super().__init__((host, port), _Handler)
        self.root = root
        self.index = index
        self.follower = follower
        self.beside = beside
        self.address = address
        self.acting = acting
        self._ended = Event()
        self._running: list[Thread] = []
        self.connections: set[socket] = set()
        """Open connections: browsers keep some for their next request."""
        self.names = {f"{name}:{self.port}" for name in (host, "localhost", "127.0.0.1", "[::1]")}

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address for a browser."""
        return f"http://{self.server_address[0]!s}:{self.port}/"

    @property
    def url_to_act(self) -> str:
        """The URL with the token, if a reader may act: in the fragment, which browsers do not
        send."""
        return self.url + (f"#act={self.acting.token}" if self.acting is not None else "")

    def start(self) -> None:
        """Serve, and follow the log, in threads."""
        self._running = [Thread(target=self.serve_forever, args=(0.1,), daemon=True)]
        for follower in filter(None, (self.follower, self.beside)):
            self._running.append(Thread(target=self._follow, args=(follower,), daemon=True))
        for thread in self._running:
            thread.start()

    def _follow(self, follower: Follower) -> None:
        while not self._ended.wait(_TURN_S if follower.behind else _POLL_S):
            follower.poll()

    def stop(self) -> None:
        """End."""
        self._ended.set()
        for follower in filter(None, (self.follower, self.beside)):
            follower.close()
        self.shutdown()
        self.server_close()
        for connection in list(self.connections):
            with suppress(OSError):  # it may have ended meanwhile
                connection.shutdown(SHUT_RDWR)
        for thread in self._running:
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that disconnects during an answer."""


def assets() -> Traversable:
    """Return the page's own files."""
    return files(__package__).joinpath("assets")


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = "coordinator"
    sys_version = ""
    timeout = 60

    def setup(self) -> None:
        """Note a new connection."""
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        """Forget the connection."""
        self.server.connections.discard(self.connection)
        super().finish()

    def do_GET(self) -> None:
        """Answer a request; for HEAD without a body."""
        if not self._is_named():
            return
        parts = urlsplit(self.path)
        follower = self.server.follower
        if _BESIDE in parts.query.split("&"):
            follower = self.server.beside
        answers = {
            "/picture": self._picture,
            "/here": self._here,
            "/steps": self._steps,
            "/scenario": self._scenario,
            "/events": self._events,
        }
        if parts.path == "/acts" and self.server.acting is not None:
            if self._has_token(self.server.acting):
                self._json(HTTPStatus.OK, self.server.acting.plain())
            return
        if follower is not None and parts.path in answers:
            answers[parts.path](follower, parts.query)
            return
        self._file(unquote(parts.path).lstrip("/") or self.server.index)

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """Carry out an action if the request may. The body is not read before that is certain."""
        self.close_connection = True  # a body that was not read is no next request
        if not self._is_named():
            return
        acting = self.server.acting
        if acting is None or urlsplit(self.path).path != "/acts":
            self._text(HTTPStatus.NOT_FOUND, "nothing can be done here\n")
            return
        origin = f"http://{self.headers.get('Host', '').lower()}"
        if self.headers.get("Origin", "").lower() != origin:
            self._text(HTTPStatus.FORBIDDEN, "only the page of this very address may act\n")
            return
        if not self._has_token(acting):
            return
        if self.headers.get("Content-Type", "").strip().lower() != _KINDS["json"]:
            self._text(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a body of application/json, please\n")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 9 or int(length) > _MOST_BODY:
            said = f"a body of at most {_MOST_BODY} bytes, please, and its Content-Length\n"
            self._text(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said)
            return
        try:
            asked = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            self._json(HTTPStatus.BAD_REQUEST, {"error": "the body is no JSON object"})
            return
        status, answer = acting.carry_out(asked)
        self._json(HTTPStatus(status), answer)

    def _is_named(self) -> bool:
        """Return True if the request names this server; otherwise refuse it."""
        if self.headers.get("Host", "").lower() in self.server.names:
            return True
        said = f"this page is served as {self.server.url} only\n"
        self._text(HTTPStatus.MISDIRECTED_REQUEST, said)
        return False

    def _has_token(self, acting: Acting) -> bool:
        """Return True if the request has the token; otherwise refuse it."""
        if acting.knows(self.headers.get(TOKEN, "")):
            return True
        said = f"{TOKEN} is missing or wrong: open the page by the address that was printed\n"
        self._text(HTTPStatus.UNAUTHORIZED, said)
        return False

    def _picture(self, follower: Follower, query: str) -> None:
        self._answer(HTTPStatus.OK, _KINDS["json"], follower.plain())

    def _here(self, follower: Follower, query: str) -> None:
        """Answer with facts beside the log: the clients' address, whether a reader may act, and
        whether there is a second log."""
        server = self.server
        acts, beside = server.acting is not None, server.beside is not None
        answer = {"address": server.address, "acts": acts, "beside": beside}
        self._json(HTTPStatus.OK, answer)

    def _steps(self, follower: Follower, query: str) -> None:
        asked = parse_qs(query)
        numbers = [asked.get(name, [""])[0] for name in ("begin", "end")]
        if not all(text.isdecimal() and len(text) < 12 for text in numbers):
            self._text(HTTPStatus.BAD_REQUEST, "steps?begin=0&end=500: whole numbers, please\n")
            return
        begin, end = map(int, numbers)
        self._answer(
            HTTPStatus.OK, _KINDS["json"], follower.steps(begin, min(end, begin + _MOST_STEPS))
        )

    def _scenario(self, follower: Follower, query: str) -> None:
        self._answer(
            HTTPStatus.OK,
            _KINDS["json"],
            follower.copy(parse_qs(query, keep_blank_values=True).get("group", [""])[0]),
        )

    def _events(self, follower: Follower, query: str) -> None:
        self._head(HTTPStatus.OK, "text/event-stream", None)
        self.close_connection = True
        version = -1
        try:
            while not follower.closed:
                now = follower.wait(version, _PULSE_S)
                self.wfile.write(
                    f"event: grown\ndata: {json.dumps(now)}\n\n".encode()
                    if now != version
                    else b": still here\n\n"
                )
                self.wfile.flush()
                version = now
        except OSError:
            pass

    def _file(self, path: str) -> None:
        place = self.server.root
        parts = [part for part in path.split("/") if part]
        if any(part.startswith(".") or "\\" in part or "\0" in part for part in parts):
            parts = ["none"]
        for part in parts:
            place = place.joinpath(part)
        if place.is_dir():
            place = place.joinpath("index.html")
        if not place.is_file():
            self._text(HTTPStatus.NOT_FOUND, "there is no such page here\n")
            return
        body = place.read_bytes()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        kind = _KINDS.get(place.name.rpartition(".")[2], "application/octet-stream")
        if tag in [each.strip() for each in self.headers.get("If-None-Match", "").split(",")]:
            self._head(HTTPStatus.NOT_MODIFIED, kind, None, tag)
            return
        self._answer(HTTPStatus.OK, kind, body, tag)

    def _json(self, status: HTTPStatus, plain: dict[str, Any]) -> None:
        self._answer(status, _KINDS["json"], json.dumps(plain).encode("ascii"))

    def _text(self, status: HTTPStatus, text: str) -> None:
        self._answer(status, _KINDS["txt"], text.encode())

    def _answer(self, status: HTTPStatus, kind: str, body: bytes, tag: str = "") -> None:
        self._head(status, kind, len(body), tag)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, kind: str, length: int | None, tag: str = "") -> None:
        self.send_response(status)
        if tag:
            self.send_header("ETag", tag)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        framed = self.server.follower is None and "embed" in urlsplit(self.path).query.split("&")
        self.send_header("Content-Security-Policy", POLICY if framed else UNFRAMED)
        if not framed:
            self.send_header("X-Frame-Options", "DENY")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
