"""The faults as methods of the kit: each builds a fault, as data, and passes it to `add_fault`,
here or at the other end of a control port."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from coordinator.base.keyword_errors import nearest_keywords

if TYPE_CHECKING:
    from coordinator.base.errors import ErrorCode

    from ..faults import Fault

H = TypeVar("H")
MOST_SECONDS = 366 * 86_400
"""The longest time for which a clock can be advanced or a request delayed."""


@nearest_keywords
class FaultWords(Generic[H]):
    """A test's faults of requests, one method each. Subclasses define `add_fault`."""

    if TYPE_CHECKING:

        def add_fault(self, fault: Fault) -> H: ...

    def _fault(self, api: str | None, kind: str, how: dict[str, Any], **action: Any) -> H:
        return self.add_fault(self._made(api, kind, how, **action))

    def _made(self, api: str | None, kind: str, how: dict[str, Any], **action: Any) -> Fault:
        from ..faults import from_plain

        given = {"action": kind, **action, **how}
        return from_plain(given if api is None else given | {"api": api})

    def fail(self, api: str | None, error: str | int | ErrorCode, /, **which: Any) -> H:
        """Answer requests with an error: `kafka.fail("OffsetCommit", "REBALANCE_IN_PROGRESS",
        group="billing", times=1)`.

        `which` selects requests by the fields of `faults.Selector` (group, topic, partition,
        member, client_id, instance_id, transactional_id, generation, broker, phase; offset and
        delivery of a record of a share group). It also says how often: `nth` (from which one
        on), `times` (how many; by default all), `probability`. Further: `name`, `may_miss`,
        `missing_ok` (the topic is created later), `any_error` (no ImprobableErrorWarning for an
        error that no broker returns for this API). The methods below take the same.
        """
        from ..real_errors import ImprobableErrorWarning

        fault = self._made(api, "fail", which, error=error)
        if fault.improbable:
            warnings.warn(
                f"{fault.improbable}. Give any_error=True to use it all the same",
                ImprobableErrorWarning,
                2,
            )
        return self.add_fault(fault)

    def delay(
        self,
        api: str | None,
        /,
        *unnamed: object,
        seconds: float | None = None,
        answer: bool = False,
        **which: Any,
    ) -> H:
        """Handle requests or, with `answer`, send their responses `seconds` later."""
        _by_name("delay", api, unnamed, seconds)
        return self._fault(api, "delay", which, duration_ms=milliseconds(seconds), answer=answer)

    def hold(self, api: str | None, /, **which: Any) -> H:
        """Hold requests until the handle's `release`."""
        return self._fault(api, "hold", which)

    def lose_request(self, api: str | None, /, **which: Any) -> H:
        """Lose requests: they are neither handled nor answered."""
        return self._fault(api, "lose_request", which)

    def lose_answer(self, api: str | None, /, **which: Any) -> H:
        """Handle requests and lose their responses."""
        return self._fault(api, "lose_answer", which)

    def duplicate_answer(self, api: str | None, /, **which: Any) -> H:
        """Send responses twice, one right after the other."""
        return self._fault(api, "duplicate_answer", which)

    def disconnect(self, api: str | None, /, *, after: bool = False, **which: Any) -> H:
        """Cut the connection of a request before the request is handled, or after that."""
        return self._fault(api, "disconnect", which, after=after)

    def garble(self, api: str | None, /, **which: Any) -> H:
        """Damage the bytes of responses."""
        return self._fault(api, "garble", which)

    def throttle(
        self, api: str | None, /, *unnamed: object, seconds: float | None = None, **which: Any
    ) -> H:
        """Answer that the client is throttled for `seconds`."""
        _by_name("throttle", api, unnamed, seconds)
        return self._fault(api, "throttle", which, duration_ms=milliseconds(seconds))

    def observe(self, api: str | None = None, /, **which: Any) -> H:
        """Count requests without any effect. A test does not fail if there is none."""
        return self._fault(api, "observe", which)


def _by_name(verb: str, api: str | None, unnamed: tuple[object, ...], seconds: object) -> None:
    """Raise TypeError if the duration is missing, or given without its keyword."""
    if unnamed or seconds is None:
        given = unnamed[0] if unnamed else 0.5
        raise TypeError(f"{verb} takes its time by name: {verb}({api!r}, seconds={given!r})")


def milliseconds(seconds: object) -> int:
    """Return seconds as whole milliseconds. Raises FaultError."""
    from ..faults import FaultError

    if (
        not isinstance(seconds, int | float)
        or isinstance(seconds, bool)
        or not 0 <= seconds <= MOST_SECONDS
    ):
        raise FaultError(
            f"seconds: {seconds!r}; a number from 0 on, at most {MOST_SECONDS} (366 days)"
        )
    return round(seconds * 1000)
