"""Calls of the control port whose refusals are raised as the kit's own errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ...control.in_process_requests import ControlError
from ...errors import ErrorCode
from ...members import MemberFault
from ..client import DEFAULT_LIMIT_S, Client, Refused
from ..problems import STATUSES

T = TypeVar("T")
_KINDS = {kind.__name__: kind for kind in STATUSES}


class Caller:
    """A `Client` that raises what the kit would have raised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def get(self, path: str, **query: Any) -> Any:
        """See `Client.get`."""
        return _as_here(lambda: self._client.get(path, **query))

    def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, limit_s: float = DEFAULT_LIMIT_S
    ) -> Any:
        """See `Client.post`."""
        return _as_here(lambda: self._client.post(path, body, limit_s=limit_s))

    def delete(self, path: str) -> Any:
        """See `Client.delete`."""
        return _as_here(lambda: self._client.delete(path))


def _as_here(call: Callable[[], T]) -> T:
    try:
        return call()
    except Refused as refused:
        raise error_of(refused) from None


def error_of(refused: Refused) -> BaseException:
    """The kit's error that a problem document stands for; ControlError for those that are not the
    kit's."""
    text, kind = str(refused), _KINDS.get(refused.error)
    code = None if refused.kafka_error is None else ErrorCode[refused.kafka_error]
    if kind is MemberFault:
        return MemberFault(text, code)
    if kind is None or kind is ControlError:
        return ControlError(text, code)
    return kind(text)
