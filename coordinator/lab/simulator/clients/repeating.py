"""A share consumer some of whose requests arrive twice, as through a proxy that retries what it
believes lost.

The second one is behind its share session, so it must be refused (SH-SES-1). This module must
not know worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from coordinator.members.effects import AskBroker, Effect
from coordinator.members.share.consumer import ShareConsumer
from coordinator.wire.messages import API_KEYS
from coordinator.wire.messages.share_acknowledge import (
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from coordinator.wire.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from coordinator.wire.schema import Response

_FIRST: Final = -1_000_000_000
"""Numbers of repeated requests go down from here: no other request has them."""
Told = Callable[[str, int, int], None]
"""Function that is called for the response to a repeated request with the API, the instant of
sending, and the error."""


class RepeatingConsumer(ShareConsumer):
    """A share consumer that sends every `every`-th request within a share session twice; `told`
    is called with the answer to the second."""

    def __init__(self, *args: Any, every: int, told: Told, **options: Any) -> None:
        super().__init__(*args, **options)
        self._every = every
        self._told = told
        self._seen = 0
        self._sent: dict[int, tuple[str, int]] = {}
        self._now = 0

    def tick(self, now: int) -> None:
        """See ShareConsumer."""
        self._now = now
        super().tick(now)

    def take(self) -> list[Effect]:
        """See ShareConsumer; repeated requests follow."""
        effects: list[Effect] = []
        for effect in super().take():
            effects.append(effect)
            if isinstance(effect, AskBroker) and self._is_next(effect.message):
                number = _FIRST - self._seen
                self._sent[number] = API_KEYS[effect.message.api_key], self._now
                effects.append(effect._replace(number=number))
        return effects

    def _is_next(self, message: Any) -> bool:
        if not isinstance(message, ShareFetchRequest | ShareAcknowledgeRequest):
            return False
        if message.share_session_epoch <= 0:
            return False
        self._seen += 1
        return self._seen % self._every == 0

    def receive(self, number: int, response: Response, now: int) -> bool:
        """See ShareConsumer."""
        if number > _FIRST:
            return super().receive(number, response, now)
        sent = self._sent.pop(number, None)
        if sent is not None and isinstance(response, ShareFetchResponse | ShareAcknowledgeResponse):
            self._told(*sent, response.error_code)
        return False

    def failed(self, number: int, now: int) -> None:
        """See ShareConsumer."""
        if number > _FIRST:
            super().failed(number, now)
        self._sent.pop(number, None)
