"""The journal at the other end of a control port, as typed records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from coordinator.wire.json_values import from_plain
from coordinator.wire.messages import request_type, response_type

from ...arguments import ArgumentError
from ...faults import API_NAMES
from ...journal import Journal, words_of
from .calls import Caller, far

if TYPE_CHECKING:
    from coordinator.wire.schema import Message

_ALL = 10**9


class RemoteExchange:
    """One request of a client and its response, with the fields of
    `coordinator.kit.journal.Exchange`."""

    __slots__ = (
        "_text",
        "answer",
        "answered_ms",
        "api",
        "at_ms",
        "broker",
        "client_id",
        "error",
        "number",
        "request",
        "version",
    )

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.number: int = row["number"]
        self.broker: int = row["broker"]
        self.api: str = row["api"]
        self.version: int = row["version"]
        self.client_id: str = row["client_id"]
        self.at_ms: int = row["at_ms"]
        self.answered_ms: int | None = row["answered_ms"]
        self.error: str | None = row["error"]
        key = API_NAMES[self.api]
        self.request: Message = from_plain(request_type(key), self.version, row["request"])
        self.answer: Message | None = (
            None
            if row["answer"] is None
            else from_plain(response_type(key), self.version, row["answer"])
        )
        self._text: str = row["text"]

    def __str__(self) -> str:
        return self._text


class RemoteJournal:
    """A journal like `coordinator.kit.journal.Journal`; each method calls the port."""

    def __init__(self, caller: Caller, most: int | None) -> None:
        self._caller = caller
        self._at: Mapping[str, Any] = {}
        self._most = int(caller("journal_begin", most=most)["most"])

    @property
    def most(self) -> int:
        """The number of requests that the journal keeps, the latest ones."""
        return self._most

    @property
    def dropped(self) -> int:
        """The number of requests that the journal dropped, because it keeps only `most`."""
        return int(self._caller("journal_begin")["dropped"])

    def requests(self, api: str | None = None, /, **which: Any) -> list[RemoteExchange]:
        """See `Journal.requests`."""
        told = self._caller("journal_requests", limit=_ALL, **words_of(api, which))
        return [RemoteExchange(row) for row in told["requests"]]

    clear = far(Journal.clear, "journal_clear")

    def verify(
        self,
        api: str | None = None,
        /,
        *,
        exactly: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        **which: Any,
    ) -> list[RemoteExchange]:
        """See `Journal.verify`."""
        if exactly is None and at_least is None and at_most is None:
            raise ArgumentError("verify what? Give exactly, at_least or at_most")
        counts = {"exactly": exactly, "at_least": at_least, "at_most": at_most}
        told = self._caller("journal_verify", **counts, **words_of(api, which))
        if not told["holds"]:
            raise AssertionError(told["failure"])
        return [RemoteExchange(row) for row in told["requests"]]
