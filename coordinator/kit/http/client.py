"""A client of the control port: requests and problem documents, with the standard library alone.

A refused request raises `Refused`, which has the whole problem document. If the port cannot be
reached, the call raises `NoControlPort`. `remote` and the command line build on this module; it
knows no operation.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

URL_VARIABLE = "COORDINATOR_CONTROL"
TOKEN_VARIABLE = "COORDINATOR_CONTROL_TOKEN"
DEFAULT_LIMIT_S = 60.0
_GRACE_S = 30.0


class NoControlPort(Exception):
    """No control port answers at this address: the address, what happened, and what would be
    right."""


class Refused(Exception):
    """The port refused a request; has its problem document."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail", problem)))
        self.status = int(problem.get("status", 0))
        self.error = str(problem.get("error", ""))
        self.kafka_error = problem.get("kafka_error")
        self.problem = dict(problem)


class Client:
    """Calls one control port. `url`: such as http://127.0.0.1:8080; `token`: if it needs one. Safe
    from any thread."""

    def __init__(self, url: str, token: str = "") -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        try:
            port = parts.port
        except ValueError:
            port = None
        if parts.scheme != "http" or not parts.hostname or not port or parts.path not in ("", "/"):
            raise NoControlPort(
                f"{url!r} is no address of a control port: give http://host:port, such as http://127.0.0.1:8080"
            )
        self._host, self._port, self._token = parts.hostname, port, token
        self.url = f"http://{parts.netloc}"

    @classmethod
    def from_environment(cls, url: str | None = None) -> Client:
        """Return a client of the given address, else of that in COORDINATOR_CONTROL, with the
        token in COORDINATOR_CONTROL_TOKEN. Raises NoControlPort."""
        found = url or os.environ.get(URL_VARIABLE)
        if not found:
            raise NoControlPort(
                f"which control port? Give --control http://host:port, or set {URL_VARIABLE}; `serve --control` opens one"
            )
        return cls(found, os.environ.get(TOKEN_VARIABLE, ""))

    def get(self, path: str, **query: Any) -> Any:
        """Return the response to GET. `query`: values that are None are left out; with a
        `timeout` the call waits that long."""
        given = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in query.items()
            if value is not None
        }
        where = path + (f"?{urlencode(given)}" if given else "")
        return self.call("GET", where, limit_s=_limit_s(given, DEFAULT_LIMIT_S))

    def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, limit_s: float = DEFAULT_LIMIT_S
    ) -> Any:
        """Return the response to POST with a JSON body. With a `timeout` in the body the call
        waits that long."""
        given = dict(body or {})
        return self.call("POST", path, json.dumps(given).encode(), _limit_s(given, limit_s))

    def delete(self, path: str) -> Any:
        return self.call("DELETE", path)

    def ask(
        self, method: str, path: str, given: Mapping[str, Any], limit_s: float = DEFAULT_LIMIT_S
    ) -> Any:
        """Return the response to a request. `given`: the body of a POST, else the query; values
        that are None are left out."""
        if method == "POST":
            body = {name: value for name, value in given.items() if value is not None}
            return self.post(path, body, limit_s=limit_s)
        return self.get(path, **given) if method == "GET" else self.delete(path)

    def call(
        self, method: str, path: str, body: bytes | None = None, limit_s: float = DEFAULT_LIMIT_S
    ) -> Any:
        """Send one request. Return its JSON, or its text if it is not JSON. Raises Refused,
        NoControlPort."""
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        connection = http.client.HTTPConnection(self._host, self._port, timeout=limit_s)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
            kind = answer.headers.get_content_type()
        except TimeoutError:
            raise NoControlPort(f"{self.url}: no answer within {limit_s:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise NoControlPort(
                f"{self.url} cannot be asked: {str(error) or type(error).__name__}"
            ) from None
        finally:
            connection.close()
        if answer.status >= 400:
            try:
                told = json.loads(data)
                if isinstance(told, dict) and told.get("holds") is False:
                    return told  # the answer of an assertion that does not hold
                raise Refused(told)
            except ValueError:
                raise NoControlPort(
                    f"{self.url} answers {answer.status}, and not as a control port does"
                ) from None
        return json.loads(data) if kind == "application/json" else data.decode(errors="replace")


def _limit_s(given: Mapping[str, Any], limit_s: float) -> float:
    """Return the seconds to wait for a response: longer than the `timeout` in the request, if it
    has one."""
    timeout = given.get("timeout")
    return max(limit_s, timeout + _GRACE_S) if isinstance(timeout, int | float) else limit_s


def path_of(*parts: object) -> str:
    """Return a path of these parts, each with reserved characters quoted."""
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)
