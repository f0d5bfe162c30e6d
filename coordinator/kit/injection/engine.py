"""The faults in force at one broker: finds out which of them a request meets, in the order in which
they were added.

Owns the active faults, their counters and the tests that wait for them. The engine is one
interceptor; without faults it is not installed and costs nothing. Random numbers come from a
generator that it is given. It must not know sockets or clocks. `matching.py` compares requests
with selectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from coordinator.server.connections.exchange import Twice
from coordinator.server.fetching.errors import refuse_fetch
from coordinator.server.interceptors import Close, Drop, Handle, Hold, Late, Verdict
from coordinator.server.requests.call import Call, Encoded
from coordinator.server.requests.refusals import Place, Refusal, copied, refuse
from coordinator.wire.messages import API_KEYS, request_type, response_type
from coordinator.wire.messages.fetch import FetchRequest
from coordinator.wire.messages.share_fetch import ShareFetchRequest

from .. import faults as f
from .matching import Surroundings, hands_out, selects

if TYPE_CHECKING:
    from coordinator.server.interceptors import Interceptor
    from coordinator.wire.schema import Message, Response


class Active:
    """A fault in force. `seen`: number of requests that it selected. `hits`: number of those
    that met its action. `held`: tokens of the requests that it holds."""

    __slots__ = ("fault", "held", "hits", "number", "on_hit", "seen")

    def __init__(self, number: int, fault: f.Fault) -> None:
        self.number = number
        self.fault = fault
        self.seen = 0
        self.hits = 0
        self.held: list[int] = []
        self.on_hit: list[Callable[[], None]] = []

    @property
    def spent(self) -> bool:
        """Return True if the fault has met all its requests (`times`)."""
        return self.fault.times is not None and self.hits >= self.fault.times

    def __str__(self) -> str:
        return f"{self.fault}: {self.hits} hit{'' if self.hits == 1 else 's'} of {self.seen} request{'' if self.seen == 1 else 's'}"


class FaultEngine:
    """The faults of one broker, as an interceptor. `log` is called for each request that meets a
    fault, with the fault, the request and a further remark for the log."""

    def __init__(
        self,
        broker: int,
        around: Surroundings,
        random: Random,
        log: Callable[[Active, Call, str], None] | None = None,
    ) -> None:
        self._active: dict[int, Active] = {}
        self.api_keys: frozenset[int] | None = frozenset()
        """Keys of the APIs that faults in force select; None if one selects all."""
        self.on_change: Callable[[], object] | None = None
        self._broker = broker
        self._around = around
        self._random = random
        self._log = log

    @property
    def active(self) -> Mapping[int, Active]:
        """The faults in force, by number. One fault may be in force at several brokers and
        counts for all of them."""
        return self._active

    @active.setter
    def active(self, active: Mapping[int, Active]) -> None:
        self._active = dict(active)
        selectors = [each.fault.selector for each in active.values()]
        keys = {None if each.api is None else f.API_NAMES[each.api] for each in selectors}
        self.api_keys = None if None in keys else frozenset(key for key in keys if key is not None)
        if self.on_change is not None:
            self.on_change()

    def add(self, active: Active) -> None:
        """Put a fault in force."""
        self.active = {**self._active, active.number: active}

    def remove(self, number: int) -> None:
        """Take a fault out of force. Requests that it holds stay held until they are released."""
        self.active = {known: active for known, active in self._active.items() if known != number}

    def asked_about(self, key: int) -> Interceptor:
        """Return the interceptor for requests of an API: this engine or, if the API names one group
        and so do all its faults, one that ignores requests of other groups."""
        api = API_KEYS[key]
        groups = {
            each.fault.selector.group
            for each in self._active.values()
            if each.fault.selector.api in (None, api)
        }
        if (
            None in groups or api == "OffsetFetch" or not hasattr(request_type(key), "group_id")
        ):  # OffsetFetch may name several
            return self

        def asked(call: Call) -> Verdict:
            return self(call) if call.message.group_id in groups else None  # type: ignore[attr-defined]

        return asked

    def __call__(self, call: Call) -> Verdict:
        """Return the verdict on a request."""
        api = API_KEYS[call.message.api_key]
        plan = _Plan(call, self._around)
        for active in list(self._active.values()):
            if active.spent:
                continue
            chosen = selects(active.fault.selector, api, call, self._broker, self._around)
            if chosen is None:
                continue
            if active.fault.selector.delivery is not None:
                if api == _DELIVERS:
                    plan.watch(active, lambda active=active: self._meets_now(active, call, api))  # type: ignore[misc]
                continue
            if not self._meets(active) or not plan.meet(active, chosen):
                continue
            self._hit(active, call, api)
            if plan.ended:
                break
        return plan.verdict()

    def _meets_now(self, active: Active, call: Call, api: str) -> bool:
        """Return True if a fault that selects the request, and whose condition is in the
        response, applies to it."""
        if active.spent or active.number not in self._active or not self._meets(active):
            return False
        self._hit(active, call, api)
        return True

    def _hit(self, active: Active, call: Call, api: str) -> None:
        active.hits += 1
        if self._log is not None:
            self._log(active, call, api)
        for told in list(active.on_hit):
            told()

    def _meets(self, active: Active) -> bool:
        active.seen += 1
        fault = active.fault
        if active.seen < fault.nth:
            return False
        return fault.probability == 1 or self._random.random() < fault.probability


_DELIVERS = "ShareFetch"


class _Plan:
    """The combined effect of the faults that one request meets, in order."""

    def __init__(self, call: Call, around: Surroundings) -> None:
        self._call = call
        self._around = around
        self._message = call.message
        self._merges: list[Callable[[Response | None], Response]] = []
        self._after: list[f.Action] = []
        self._watched: list[tuple[Active, Callable[[], bool]]] = []
        self._fails: dict[tuple[bytes, int], int] = {}
        """Partitions of a ShareFetch that fail, each with the error."""
        self._delay_ms = 0
        self._holder: Active | None = None
        self._answered = False
        self._end: Verdict = None
        self.ended = False

    def watch(self, active: Active, meets: Callable[[], bool]) -> None:
        """Add a fault whose action depends on the response: it applies if the response is
        selected and `meets` returns True."""
        self._watched.append((active, meets))

    def meet(self, active: Active, chosen: Callable[[Place], bool]) -> bool:
        """Add the effect of one more fault. Return False if it has nothing to act on in this
        request."""
        action = active.fault.action
        if isinstance(action, f.Fail):
            if self._answered:
                return False
            selector = active.fault.selector
            if isinstance(self._message, ShareFetchRequest) and (
                selector.topic is not None and selector.offset is None
            ):
                return self._fail_shares(self._message, action.error, chosen)
            refusal = self._refuse(action.error, chosen)
            if refusal is None:
                return False
            self._merges.append(refusal.complete)
            if refusal.rest is None:
                self._answered = True
            else:
                self._message = refusal.rest
        elif isinstance(action, f.Delay) and not action.answer:
            self._delay_ms += action.duration_ms
        elif isinstance(action, f.Hold):
            self._holder = active
        elif isinstance(action, f.LoseRequest):
            self._end, self.ended = Drop(), True
        elif isinstance(action, f.Disconnect) and not action.after:
            self._end, self.ended = Close(f"injected: {active.fault}"), True
        elif not isinstance(action, f.Observe):
            self._after.append(action)
        return True

    def _fail_shares(
        self, message: ShareFetchRequest, error: int, chosen: Callable[[Place], bool]
    ) -> bool:
        """Let chosen partitions of a share session fail: nothing is acquired from them. The
        response does not wait for records of other partitions."""
        failed = {
            (place.topic_id or b"", place.partition or 0): error
            for place in self._around.share_fetched(message)
            if chosen(place)
        }
        self._fails |= {at: error for at, error in failed.items() if at not in self._fails}
        self._message = copied(message, max_wait_ms=0)
        return bool(failed)

    def _refuse(self, error: int, chosen: Callable[[Place], bool]) -> Refusal | None:
        if isinstance(self._message, FetchRequest):
            return refuse_fetch(
                self._message,
                self._call.version,
                error,
                chosen,
                self._around.fetched(self._message),
            )
        return refuse(self._message, self._call.version, error, chosen)

    def verdict(self) -> Verdict:
        """Return the combined effect, in the form that a connection understands."""
        verdict = self._end
        if not self.ended and (self._merges or self._after or self._watched or self._fails):
            message = None if self._answered else self._message
            verdict = Handle(message, self._finish, self._fails or None)
        if self._holder is not None:
            self._holder.held.append(self._call.token)
            return Hold(None, verdict)
        return Hold(self._delay_ms, verdict) if self._delay_ms else verdict

    def _finish(self, answer: Message | Encoded | None) -> Message | Encoded | Late | Drop | Close:
        """Apply the faults to the handler's response. `answer` is None if the handler was not
        called."""
        response: Any = answer
        if self._watched and answer is not None:
            response = self._decoded(answer)
            self._after += [
                active.fault.action
                for active, meets in self._watched
                if hands_out(active.fault.selector, response, self._around) and meets()
            ]
        if self._merges or any(isinstance(action, f.Throttle) for action in self._after):
            response = self._decoded(answer)
        for merge in reversed(self._merges):
            response = merge(response)
        delay_ms, twice = 0, False
        for action in self._after:
            if isinstance(action, f.LoseAnswer):
                return Drop()
            if isinstance(action, f.Disconnect):
                return Close("injected: the connection is cut in place of an answer")
            if isinstance(action, f.Throttle) and hasattr(response, "throttle_time_ms"):
                response.throttle_time_ms = action.duration_ms
            elif isinstance(action, f.Garble):
                response = Encoded(_garbled(_encoded(response, self._call.version)))
            elif isinstance(action, f.DuplicateAnswer):
                twice = True
            elif isinstance(action, f.Delay):
                delay_ms += action.duration_ms
        response = Twice(response) if twice else response
        return Late(delay_ms, response) if delay_ms else response

    def _decoded(self, answer: Message | Encoded | None) -> Any:
        """Return the response as a value of its own: handlers may give the same value to many
        requests."""
        if isinstance(answer, Encoded):
            return response_type(self._call.message.api_key).decode(self._call.version, answer.body)
        return None if answer is None else copied(answer)


def _encoded(answer: Any, version: int) -> bytes:
    body: bytes = answer.body if isinstance(answer, Encoded) else answer.encode(version)
    return body


def _garbled(body: bytes) -> bytes:
    """Return the body with every bit inverted, so that no length, count or text in it is valid."""
    return bytes(byte ^ 0xFF for byte in body)
