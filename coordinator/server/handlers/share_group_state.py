"""The share coordinator's APIs (KIP-932): Initialize-, Read-, Write-, Delete- and ReadSummary-
ShareGroupState (keys 83-87), for the states of share partitions.

Brokers send them to each other; clients may too. Each partition is answered once, in the order
of the request: if it is named again, every entry is carried out and the last result returned. A
request without a group gets an empty answer, and so does one with a topic without partitions,
unless it initializes states (SH-ST-6). v1 of 85 and 87: the number of completed deliveries
(KIP-1226).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coordinator.base.errors import ErrorCode
from coordinator.core.share_states.decide import Decision, Written
from coordinator.core.share_states.model import NO_COUNT, NO_OFFSET, ShareState, ShareStateKey
from coordinator.events.share_states import StateBatch
from coordinator.wire.messages import response_type

from ..requests.call import by_element
from ..shares.service import is_enabled

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..broker import Broker
    from ..requests.call import Call, Sliced

    Answer = tuple[Decision, ShareState | None]
    Ask = Callable[[Broker, Call, ShareStateKey, Any], Answer]


def _initialize(broker: Broker, call: Call, key: ShareStateKey, of: Any) -> Answer:
    states = broker.services.shares.states
    done = states.initialize(key, of.state_epoch, of.start_offset, call.now, call.cause)
    return done, None


def _read(broker: Broker, call: Call, key: ShareStateKey, of: Any) -> Answer:
    return broker.services.shares.states.read(key, of.leader_epoch, call.now, call.cause)


def _write(broker: Broker, call: Call, key: ShareStateKey, of: Any) -> Answer:
    written = Written(
        of.state_epoch,
        of.leader_epoch,
        of.start_offset,
        of.delivery_complete_count,
        tuple(
            StateBatch(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
            for one in of.state_batches
        ),
    )
    return broker.services.shares.states.write(key, written, call.now, call.cause), None


def _delete(broker: Broker, call: Call, key: ShareStateKey, _: Any) -> Answer:
    return broker.services.shares.states.delete(key, call.now, call.cause), None


def _summary(broker: Broker, _: Call, key: ShareStateKey, __: Any) -> Answer:
    return broker.services.shares.states.summary(key)


_NOT_SERVED = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
_APIS: dict[int, tuple[str, str, Ask]] = {
    83: ("InitializeState", "initialize share group state", _initialize),
    84: ("ReadState", "read share group state", _read),
    85: ("WriteState", "write share group state", _write),
    86: ("DeleteState", "delete share group state", _delete),
    87: ("ReadStateSummary", "read share group state summary", _summary),
}


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle any of the five requests of the share coordinator."""
    request: Any = call.message
    messages: Any = import_module(type(call.message).__module__)
    kind, what, ask = _APIS[request.api_key]
    served = is_enabled(broker)
    topics = _topics(request, kind)
    rows: dict[bytes, dict[int, Any]] = {topic.topic_id: {} for topic in topics}

    def one(named: tuple[bytes, Any], _: Call) -> None:
        topic_id, of = named
        key = ShareStateKey(request.group_id, topic_id, of.partition)
        error = broker.services.shares.states.error(key) if served else ErrorCode.NOT_COORDINATOR
        decision, state = (Decision(None, error), None) if error else ask(broker, call, key, of)
        rows[topic_id][of.partition] = _row(messages, kind, what, of.partition, decision, state)

    def after(_: object) -> Sliced:
        result = getattr(messages, f"{kind}Result")
        response: Any = response_type(request.api_key)
        return by_element(
            call,
            (of for of in rows.items() if of[1]),
            lambda of, _: result(topic_id=of[0], partitions=list(of[1].values())),
            lambda results: response(results=results),
        )

    return by_element(
        call, ((topic.topic_id, of) for topic in topics for of in topic.partitions), one, after
    )


def _topics(request: Any, kind: str) -> list[Any]:
    """Return the request's topics, or none if the answer is to be empty."""
    if not request.group_id or (
        kind != "InitializeState" and not all(topic.partitions for topic in request.topics)
    ):
        return []
    topics: list[Any] = request.topics
    return topics


def _row(
    messages: Any, kind: str, what: str, index: int, decision: Decision, state: ShareState | None
) -> Any:
    """Return the answer for one partition. The summary of a missing state is zeros and no offset."""
    row = getattr(messages, f"{kind}PartitionResult")(partition=index)
    if decision.error:
        row.error_code, row.error_message = decision.error, decision.message
        if decision.error in _NOT_SERVED:
            row.error_message = f"Unable to {what}: {decision.error.message}"
        return row
    row.error_message = None
    if kind == "ReadStateSummary":
        row.start_offset, row.delivery_complete_count = NO_OFFSET, NO_COUNT
        if state is not None:
            row.state_epoch, row.leader_epoch = state.state_epoch, state.leader_epoch
            row.start_offset = state.start_offset
            row.delivery_complete_count = state.complete_count
    elif kind == "ReadState" and state is not None:
        row.state_epoch, row.start_offset = state.state_epoch, state.start_offset
        row.state_batches = [
            messages.StateBatch(
                first_offset=one.first_offset,
                last_offset=one.last_offset,
                delivery_state=one.delivery_state,
                delivery_count=one.delivery_count,
            )
            for one in state.batches
        ]
    return row
