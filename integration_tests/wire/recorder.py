"""Plays a scenario against an address and keeps a normalised transcript.

A scenario is a function that is given a `Session`. Every message sent and got, every silence and
every closing becomes one step. What differs from one run or broker to the next without meaning
anything (minted ids, wall-clock times, addresses) is replaced by a name that stands for the same
thing all through the transcript. Every wait ends at the scenario's time limit: a broker that hangs
leaves a transcript that says after which step. Nothing is judged here.
"""

from __future__ import annotations

import base64
import math
import random
import re
import string
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from integration_tests.wire import batches
from integration_tests.wire.raw import (
    PATIENCE_MS,
    Closed,
    Codec,
    OutOfTime,
    Plain,
    RawConnection,
    Silent,
)

Step = dict[str, Any]

NONCE_LENGTH = 6
TIME_LIMIT_S = 60
"""How long a scenario may take beyond what it waits on purpose: four answers that never come, on a
busy machine."""
_LOOK_S = 0.01
"""How long between two looks at what is awaited."""
_NOTICED_MS = 1_000
"""How long a broker may take to notice that a connection has ended, where nothing shows it."""
LEAST_SILENCE_MS = 250
"""How long a busy broker may take to read a request that it then parks."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ADDRESS = re.compile(r"^/[0-9a-f.:]+$")
_WINDOW = re.compile(r"within \[-?\d+, -?\d+\]")  # of time stamps, around the present
_DUMP = re.compile(  # REF-14; before 4.1 it says less
    r"^Request Request\(.* (needs \w+ permission|is not authorized)\.$"
)
_ZERO_ID = "0" * 32


def new_nonce() -> str:
    """A run's mark: put behind every name of a run, so that runs do not meet on a broker that lives
    on."""
    return _mark(random.Random())


def _mark(rng: random.Random) -> str:
    return "".join(rng.choice(string.ascii_lowercase) for _ in range(NONCE_LENGTH))


@dataclass(frozen=True, slots=True)
class Scenario:
    """A named story and its heading.

    `profile` says which broker configuration it wants; `repeats` that names do not matter to it;
    `alone` that it would disturb others on the same broker, or be disturbed; `lasts_s` how many
    seconds it waits on purpose; `since` the first release that it can be played on (None: all).
    """

    name: str
    play: Callable[[Session], None]
    profile: str = "plain"
    repeats: bool = True
    alone: bool = False
    lasts_s: int = 0
    since: str | None = None

    @property
    def limit_s(self) -> int:
        """Seconds after which it is cut short."""
        return TIME_LIMIT_S + self.lasts_s


@dataclass(slots=True)
class Names:
    """Stands names in for what brokers mint; the first of a kind seen is 1."""

    nonce: str
    several: bool = False
    known: dict[tuple[str, str], str] = field(default_factory=dict)
    topic_ids: dict[str, str] = field(default_factory=dict)

    def of(self, kind: str, value: object) -> str:
        """The name of `value`, the same for the same value."""
        key = (kind, str(value))
        if key not in self.known:
            self.known[key] = f"{kind}{1 + sum(k == kind for k, _ in self.known)}"
        return self.known[key]

    def text(self, value: str) -> str:
        """A string without the run's mark, with minted ids named."""
        value = value.replace(("-" + self.nonce).encode().hex(), "")  # names inside opaque bytes
        value = re.sub(rf"(~\d+)?-{self.nonce}", "", value)
        value = _UUID.sub(lambda found: "<" + self.of("id", found.group()) + ">", value)
        value = _WINDOW.sub("within [...]", value)
        value = _DUMP.sub("Cluster authorization failed.", value)
        for base64_id, name in self.topic_ids.items():
            value = value.replace(base64_id, name)
        return value

    def topic_id(self, value: str) -> str:
        """A topic id by name; the zero id stays itself."""
        if value == _ZERO_ID:
            return "zero"
        if value in _ODD_IDS:
            return value
        name = self.of("T", value)
        self.topic_ids[base64.urlsafe_b64encode(bytes.fromhex(value)).decode().rstrip("=")] = name
        return name

    def value(self, name: str, value: Any) -> Any:
        """A field's value, as it goes into the transcript."""
        if isinstance(value, dict):
            return {k: self._placed(value, k, v) for k, v in value.items()}
        if isinstance(value, list):
            if name == "members" and all(
                isinstance(v, dict) and "member_id" in v and "error_code" not in v for v in value
            ):
                value = sorted(
                    value, key=lambda v: self._known(str(v["member_id"]))
                )  # else in the hash order of random ids
            shown = [self.value(name, v) for v in value]
            if name in _UNORDERED and all(
                not isinstance(v, dict) or "topic_id" in v for v in shown
            ):
                shown.sort(key=lambda v: str(v["topic_id"]) if isinstance(v, dict) else str(v))
            return shown
        if name in _BY_NAME and value is not None:
            return _BY_NAME[name](self, value)
        return self.text(value) if isinstance(value, str) else value

    def _known(self, member_id: str) -> str:
        """A member id without chance in it: client id first, then when it was first seen."""
        if _MINTED.fullmatch(member_id):
            return self.known.get(("M", member_id), "~" + member_id)
        return _UUID.sub(
            lambda found: self.known.get(("id", found.group()), "~" + found.group()), member_id
        )

    def _placed(self, struct: Plain, name: str, value: Any) -> Any:
        if name in ("host", "port") and "port" in struct and value not in ("", -1):
            return name.upper()
        return self.value(name, value)


_ODD_IDS = {"1".rjust(32, "0"), "f" * 32, "ab" * 16}
"""Topic ids that scenarios make up; they stay as they are."""

_UNORDERED = {"topic_partitions", "subscribed_topic_names"}
"""Lists that stand in the hash order of random topic ids, or of names that carry the run's mark."""

_MINTED = re.compile(r"[A-Za-z0-9_-]{22}")

_BY_NAME: dict[str, Callable[[Names, Any], Any]] = {
    "member_id": lambda names, value: (
        names.of("M", value) if _MINTED.fullmatch(value) else names.text(value)
    ),
    "topic_id": lambda names, value: names.topic_id(value),
    "cluster_id": lambda _, __: "CLUSTER",
    "controller_id": lambda names, value: (
        "BROKER" if names.several and value >= 0 else value
    ),  # of several, any one
    "client_host": lambda _, value: _ADDRESS.sub(
        "/CLIENT", value
    ),  # seen from inside a container, we are somebody else
    "finalized_features_epoch": lambda _, __: "EPOCH",
    "log_append_time_ms": lambda _, value: "now" if value > 0 else value,
    "transaction_start_time_ms": lambda _, value: "now" if value > 0 else value,
    "last_timestamp": lambda _, value: "now" if value > batches.TIMESTAMP_MS + 1_000_000 else value,
    "session_id": lambda names, value: names.of("S", value) if value not in (0, 12345) else value,
    "producer_id": lambda names, value: (
        names.of("P", value) if value >= 0 and value != 987654321 else value
    ),
    "producer_id_filters": lambda names, value: names.value("producer_id", value),
    "v3_and_below_producer_id": lambda names, value: names.value("producer_id", value),
    "records": lambda names, value: (
        [
            {
                **b,
                **(
                    {"producer_id": names.value("producer_id", b["producer_id"])}
                    if "producer_id" in b
                    else {}
                ),
            }
            for b in batches.read(value) or []
        ]
        if isinstance(value, str)
        else value
    ),
}


class Stop(Exception):
    """The scenario cannot go on: the answer it needs did not come. What happened is the
    transcript's last step."""


class Link:
    """One named connection of a session; every call leaves a step."""

    def __init__(self, session: Session, name: str, client_id: str | None, address: str) -> None:
        self.name = name
        self.session = session
        self.connection = RawConnection(address, session.codec, client_id, session.deadline)

    def ask(
        self,
        api: str,
        version: int,
        /,
        *,
        only: str = "",
        shuffled: str = "",
        brief: bool = False,
        **fields: Any,
    ) -> Plain:
        """Send and await the answer; the options are those of `expect`."""
        self.send(api, version, **fields)
        return self.expect(only=only, shuffled=shuffled, brief=brief)

    def ask_quietly(self, api: str, version: int, /, **fields: Any) -> Plain:
        """Send and await an answer that leaves no step (to set the stage, or to wait for
        something)."""
        self.connection.send(api, self.session.codec.spoken(api, version), fields)
        return self._received()[1]

    def ask_until(
        self, good: Callable[[Plain], bool], api: str, version: int, /, **fields: Any
    ) -> Plain:
        """Send again until the answer is good to have; only the last exchange leaves steps. For
        refusals that pass by themselves."""
        answer: Plain = {}

        def asked() -> bool:
            nonlocal answer
            answer = self.ask_quietly(api, version, **fields)
            return good(answer)

        self.session.until(asked, f"no good answer to {api} v{version}")
        version = self.session.codec.spoken(api, version)
        self.session.note(
            self.name, sent=f"{api} v{version}", fields=self.session.names.value("", fields)
        )
        self.session.note(
            self.name, got=f"{api} v{version}", fields=self.session.names.value("", answer)
        )
        return answer

    def send(self, api: str, version: int, /, **fields: Any) -> None:
        """Send and leave the request parked."""
        version = self.session.codec.spoken(api, version)
        self.session.note(
            self.name, sent=f"{api} v{version}", fields=self.session.names.value("", fields)
        )
        self.connection.send(api, version, fields)

    def send_unanswered(self, api: str, version: int, /, **fields: Any) -> None:
        """Send a request that the protocol leaves unanswered (acks 0)."""
        version = self.session.codec.spoken(api, version)
        self.session.note(
            self.name, sent=f"{api} v{version}", fields=self.session.names.value("", fields)
        )
        self.connection.send(api, version, fields)
        self.connection.forget()

    def send_body(self, api: str, version: int, body: bytes) -> None:
        """Send a request whose body is bytes, right or wrong."""
        self.session.note(self.name, sent=f"{api} v{version}", body=body.hex())
        self.connection.send_body(api, version, body)

    def send_bytes(self, data: bytes, label: str) -> None:
        """Send bytes that are perhaps no frame at all."""
        self.session.note(self.name, sent_bytes=label)
        self.connection.send_bytes(data)

    def expect(
        self,
        *,
        only: str = "",
        shuffled: str = "",
        brief: bool = False,
        timeout_ms: int = PATIENCE_MS,
    ) -> Plain:
        """The answer to the oldest parked request.

        `only` names a list of which the transcript keeps nothing but what this run named;
        `shuffled` a list whose order is the broker's whim; `brief` shows of the configs inside list
        items no more than how many there are.
        """
        label, answer = self._received(timeout_ms)
        shown = dict(answer)
        if only:
            shown[only] = sorted((x for x in answer[only] if self.session.nonce in str(x)), key=str)
        if shuffled:
            shown[shuffled] = in_order(answer[shuffled])
        if brief:
            shown = shortened(shown)
        self.session.note(self.name, got=label, fields=self.session.names.value("", shown))
        return answer

    def _received(self, timeout_ms: int = PATIENCE_MS) -> tuple[str, Plain]:
        try:
            awaited, answer = self.connection.receive(timeout_ms)
        except (Closed, Silent) as failure:
            self.session.note(self.name, failed=type(failure).__name__.lower())
            raise Stop from None
        return f"{awaited.api} v{awaited.version}", answer

    def poll(self, timeout_ms: int) -> bool:
        """Has the oldest parked request been answered, or is it within the time? Leaves no step."""
        return self.connection.poll(timeout_ms)

    def silent(self, during_ms: int = LEAST_SILENCE_MS) -> None:
        """Nothing may come for so long, or for `LEAST_SILENCE_MS`: by then what was sent is with
        the broker, and parked."""
        try:
            self.connection.receive_frame(max(during_ms, LEAST_SILENCE_MS))
        except Silent:
            self.session.note(self.name, silent=True)
        except Closed:
            self.session.note(self.name, closed=True)
            raise Stop from None
        else:
            self.session.note(self.name, silent=False)
            raise Stop

    def ends(self, within_ms: int = 5_000) -> None:
        """The peer hangs up within this time; or else, it is silent or answers."""
        try:
            frame = self.connection.receive_frame(within_ms)
        except Closed:
            self.session.note(self.name, closed=True)
        except Silent:
            self.session.note(self.name, closed=False)
        else:
            self.session.note(self.name, closed=False, answered=len(frame) > 0)

    def frame(self) -> None:
        """The next frame, as bytes."""
        try:
            self.session.note(self.name, frame=self.connection.receive_frame(5_000).hex())
        except (Closed, Silent) as failure:
            self.session.note(self.name, failed=type(failure).__name__.lower())
            raise Stop from None


def in_order(value: Any) -> Any:
    """Lists in the order of their items' texts, all the way down."""
    if isinstance(value, dict):
        return {k: in_order(v) for k, v in value.items()}
    return sorted((in_order(v) for v in value), key=str) if isinstance(value, list) else value


def shortened(answer: Plain) -> Plain:
    """The same with the number of configs in place of the configs of its lists' items."""
    return {k: [_brief(x) for x in v] if isinstance(v, list) else v for k, v in answer.items()}


def _brief(item: Plain) -> Plain:
    configs = item.get("configs")
    return item | ({"configs": f"{len(configs)} of them"} if configs else {})


class Session:
    """What a scenario acts on: named connections to a broker, names of its own, and the transcript.

    `address` is `host:port`, or those of several brokers in the order of their ids,
    comma-separated.
    """

    def __init__(self, address: str, codec: Codec, nonce: str, deadline: float = math.inf) -> None:
        self.address = address
        self.codec = codec
        self.nonce = nonce
        self.deadline = deadline
        self.addresses = address.split(",")
        self.names = Names(nonce, len(self.addresses) > 1)
        self.steps: list[Step] = []
        self._links: list[Link] = []
        self._stage: Link | None = None

    def name(self, label: str) -> str:
        """A group, topic or other name that is this run's own; the transcript shows `label`."""
        return f"{label}-{self.nonce}"

    def connect(self, name: str = "a", client_id: str | None = "raw", broker: int = 1) -> Link:
        """A new connection, to one of several brokers."""
        link = Link(self, name, client_id, self.addresses[broker - 1])
        self._links.append(link)
        return link

    def stage(self) -> Link:
        """The connection on which props are set up; one for the whole scenario."""
        if self._stage is None:
            self._stage = self.connect("stage", "stage")
        return self._stage

    def note(self, who: str, **what: Any) -> None:
        """Add a step."""
        self.steps.append({"link": who, **what})

    def say(self, label: str, value: Any) -> None:
        """Put something that the scenario worked out into the transcript."""
        self.steps.append({label: self.names.value("", value)})

    def wait(self, duration_ms: int) -> None:
        """Let real time pass: for what has no message to wait for."""
        if time.monotonic() + duration_ms / 1000 > self.deadline:
            raise OutOfTime
        time.sleep(duration_ms / 1000)

    def hang_up(self, link: Link) -> None:
        """Close a connection, and go on once the broker has noticed.

        Nothing shows it. A broker is given a second; one that stood still for so long, as the
        emulator may on a busy machine, sees the end before it answers what was sent after it.
        """
        link.connection.close()
        self.wait(_NOTICED_MS)
        for _ in range(2):
            self.stage().ask_quietly("ListGroups", 4)

    def until(self, holds: Callable[[], bool], never: str) -> None:
        """Wait, without a step, until something holds. At the time limit the scenario ends with a
        step that says what never came."""
        limit = min(self.deadline - 1, time.monotonic() + TIME_LIMIT_S)
        while not holds():
            if time.monotonic() > limit:
                self.note("stage", failed=never)
                raise Stop
            time.sleep(_LOOK_S)

    def close(self) -> None:
        """Hang up everything."""
        for link in self._links:
            link.connection.close()


def await_coordinator(address: str, codec: Codec) -> None:
    """Wait until the broker coordinates groups and gives out producer ids: a fresh Kafka prepares
    both when first asked.

    Raises AssertionError after a minute. Without it a fresh broker would be played to before its
    offsets topic is there.
    """
    address = address.partition(",")[0]
    for _ in range(600):
        connection = RawConnection(address, codec)
        connection.send("FindCoordinator", 4, {"coordinator_keys": ["any"], "key_type": 0})
        connection.send("ListGroups", 4, {})
        connection.send("DescribeGroups", 5, {"groups": [str(i) for i in range(200)]})
        connection.send(
            "InitProducerId", 4, {"transactional_id": None, "transaction_timeout_ms": 1_000}
        )
        found, listed, described, producer = (connection.receive()[1] for _ in range(4))
        connection.close()
        codes = [
            found["coordinators"][0]["error_code"],
            listed["error_code"],
            *(g["error_code"] for g in described["groups"]),
        ]
        codes.append(producer["error_code"])
        if not any(codes):
            return
        time.sleep(0.1)
    raise AssertionError(f"{address} does not coordinate groups")


def play(
    scenario: Scenario, address: str, codec: Codec, nonce: str, limit_s: float | None = None
) -> list[Step]:
    """The transcript of one scenario. A scenario cut short ends with the step that says why.

    `limit_s` is the scenario's own unless given. Whatever else goes wrong becomes a step, never an
    exception.
    """
    limit_s = scenario.limit_s if limit_s is None else limit_s
    session = Session(
        address, codec, _mark(random.Random(nonce + scenario.name)), time.monotonic() + limit_s
    )
    try:
        scenario.play(session)
    except Stop:
        pass
    except OutOfTime:
        session.note("all", hung=f"after step {len(session.steps)}")
    except Exception as failure:
        session.note("all", failed=f"{type(failure).__name__}: {failure}")
    finally:
        session.close()
    return session.steps


def complete(steps: list[Step]) -> bool:
    """Did the scenario come to its own end, or to one that a broker meant? Not if it hung, broke
    off, or waited for what never came."""
    return not any(
        "hung" in step or step["link"] == "all" or (step["link"] == "stage" and "failed" in step)
        for step in steps[-1:]
        if "link" in step
    )
