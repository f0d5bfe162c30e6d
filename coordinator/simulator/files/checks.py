"""What churn and faults of a scenario name has to be there: members, brokers, topics, groups.
Raises ScenarioError, which says where.

Owns these checks; what a value must look like, `schema` says. Does not depend on how anything is
carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from ...broker.build import TopicError, TopicOption
from ...broker.topics import MOST_AT_ONCE
from ...cluster_runtime import ClusterError
from ...cluster_runtime.clocks import jump_refusal
from ...configs.broker_configs import ConfigError
from ...control import faults
from ...control.cluster import wrong_fields
from ...control.injection.selector_fields import check_carried
from ...members import MemberConfigError
from ...members.requests import CLIENT_VERSIONS
from ...releases import RELEASES, Release, ReleaseError, release_named
from ...verbs import ROWS, Row
from ...wire.messages.join_group import JoinGroupRequest
from ..conditions import EXAMPLES, LOOK_MS, OF_LAG, OF_MEMBERS, Condition, condition
from ..environment import EPOCH_MS
from ..whom import (
    IT,
    WORDS_OF_BROKERS,
    WORDS_OF_MEMBERS,
    broker_of,
    group_led,
    is_word,
    listed,
)
from .contradictions import (
    check_churn_does_something,
    check_identities,
    check_member_settings,
    check_producer_settings,
    check_said_twice,
    check_trigger_words,
    check_verb_does_something,
)
from .places import Where
from .reading import Plain, ScenarioError
from .schema import TABLES, duration_ms
from .sizes import MOST_CLIENTS

_KINDS: Final = frozenset(TABLES["churn"].keys["kind"].choices)
BROKERS: Final = ("broker", "to", "one", "other")
"""The fields of verbs that name a broker."""
_INTERNAL: Final = ("__consumer_offsets", "__transaction_state")
_MOST_TIMES: Final = 100_000
_TIMED: Final = {
    "times": ("restart", "stall", "waves"),
    "every": ("rolling", "restart", "stall", "waves"),
}
"""Which kinds of churn happen more than once."""
_MOST_RECORDS: Final = 100_000_000
_SETTINGS_WITH_KEYS: Final = {
    "group.id": "group",
    "client.id": "name",
    "group.protocol": "protocol",
}
"""Settings of a consumer for which a scenario has keys of its own."""
_STATIC_SINCE: Final = 5
"""The version of JoinGroup that knows static members (KIP-345)."""
_NAME: Final = re.compile(r"[\w.-]+", re.ASCII)


class There(NamedTuple):
    """What a scenario has. `members` and `producers`: how many of each kind start."""

    members: Mapping[str, int]
    producers: Mapping[str, int]
    groups: tuple[str, ...]
    topics: Mapping[str, int]
    brokers: int
    later: frozenset[str] = frozenset()
    """Topics that CreateTopic makes."""
    deleted: frozenset[str] = frozenset()
    """Topics that DeleteTopic takes away."""
    instances: frozenset[str] = frozenset()
    """Instance ids that config gives, and the kinds of members that are static."""
    transactional: frozenset[str] = frozenset()
    """The kinds of producers that are transactional, and the pipelines, as GROUP-KIND."""
    consuming: frozenset[str] = frozenset()
    """Groups with members that really read."""
    zones: frozenset[str] = frozenset()
    """Those of brokers and clients."""

    def started(self) -> list[str]:
        """The client ids of those that start with the scenario."""
        return [
            f"{kind}-{number}"
            for kind, count in (*self.members.items(), *self.producers.items())
            for number in range(1, count + 1)
        ]

    def may_come(self, client_id: str) -> bool:
        """Is it a client that starts with the scenario, or that churn may bring?"""
        kind, _, number = client_id.rpartition("-")
        return number.isdecimal() and (kind in self.members or kind in self.producers)

    def is_producer(self, name: str) -> bool:
        """Is it a producer's client id, and no group's?"""
        return name not in self.groups and name.rpartition("-")[0] in self.producers

    def has_instance(self, name: str) -> bool:
        """May it be a member's instance id?"""
        return name in self.instances or (
            self.may_come(name) and name.rpartition("-")[0] in self.instances
        )

    def has_transactional(self, name: str) -> bool:
        """May it be a producer's transactional id?"""
        kind, _, number = name.rpartition("-")
        return name in self.transactional or (number.isdecimal() and kind in self.transactional)


@contextmanager
def blamed(where: Where) -> Iterator[None]:
    """An error that settings, verbs and faults raise becomes one of the scenario, at the key that
    it names."""
    try:
        yield
    except (MemberConfigError, ConfigError, TopicError, faults.FaultError, ClusterError) as error:
        text = str(error)
        place = where.of(
            text,
            partition_assignment_strategy="assignor",
            group_remote_assignor="assignor",
            group_id="group",
        )
        raise ScenarioError(f"{place}: {text}") from None


def check_called(names: Sequence[str], where: Sequence[Where]) -> None:
    """Each kind of members and producers has a name of its own, which is no client id of another
    kind either."""
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ScenarioError(
                f"{where[index].at('name')}: two kinds of members or producers have the same name: {name}"
            )
        kind, _, number = name.rpartition("-")
        if number.isdecimal() and kind in names:
            raise ScenarioError(
                f"{where[index].at('name')}: name = {name!r}: that may be the client id of one of {kind}: give a name that is not "
                f"another kind's with a number behind it, such as {kind}-x{number}"
            )


def check_member_names(plain: Plain, where: Where) -> None:
    """What a kind of member may be called, and what settings may not say."""
    name = f"members {plain['name']}"
    _check_name("members", plain["name"], where)
    if not plain["topics"]:
        raise ScenarioError(
            f"{where.at('topics')}: {name}: topics = []: name at least one of [topics]"
        )
    for setting, key in _SETTINGS_WITH_KEYS.items():
        if setting in plain["config"]:
            raise ScenarioError(
                f"{where.of(setting)}: {name}: {setting} is not set in config: {key} says it"
            )
    check_said_twice(name, plain["topics"], where.at("topics"))


def check_member(plain: Plain, where: Where) -> None:
    """What a kind of member may be called, and what it needs to say."""
    name = f"members {plain['name']}"
    check_member_names(plain, where)
    if not plain["assignor"] and where.at("assignor") != str(where):
        raise ScenarioError(
            f"{where.at('assignor')}: {name}: assignor = []: name at least one, or leave the key out"
        )
    check_member_settings(plain, where)
    highest = CLIENT_VERSIONS.get(plain["versions"], {}).get(
        JoinGroupRequest.api_key, _STATIC_SINCE
    )
    if highest < _STATIC_SINCE and (plain["static"] or "group.instance.id" in plain["config"]):
        told = f"clients of Kafka {plain['versions']} know no static members, which came with 2.3: leave static or versions out"
        raise ScenarioError(f"{where.at('versions')}: {name}: {told}")
    if plain["static"] and "group.instance.id" in plain["config"]:
        told = "group.instance.id is not set in config beside static = true, which makes it the client id: leave one of the two out"
        raise ScenarioError(f"{where.of('group.instance.id')}: {name}: {told}")


def check_producer(plain: Plain, stop_ms: int, duration_ms: int, where: Where) -> None:
    """What a kind of producer may be called, when it writes, and how much. `stop_ms`: when it
    stops."""
    name = f"producers {plain['name']}"
    _check_name("producers", plain["name"], where)
    if not plain["topics"]:
        raise ScenarioError(
            f"{where.at('topics')}: {name}: topics = []: name at least one of [topics]"
        )
    check_said_twice(name, plain["topics"], where.at("topics"))
    check_producer_settings(plain, where)
    if not plain["transactional"] and plain["transaction"] != _default("transaction", "producers"):
        raise ScenarioError(
            f"{where.at('transaction')}: {name}: transaction needs transactional = true"
        )
    if plain["stop"] is not None and plain["start"][0] >= stop_ms:
        raise ScenarioError(
            f"{where.at('stop')}: {name}: stop = {stop_ms} ms is not after start, {plain['start'][0]} ms"
        )
    records = plain["count"] * plain["rate"] * min(stop_ms, duration_ms) // 1000
    if records > _MOST_RECORDS:
        said = f"{plain['count']} of them at rate = {plain['rate']} write {records} records"
        raise ScenarioError(
            f"{where.at('rate')}: {name}: {said}: a run has at most {_MOST_RECORDS}"
        )


def _check_name(table: str, name: str, where: Where) -> None:
    """A kind's name becomes a part of client ids, and of the paths of `--set`."""
    if not _NAME.fullmatch(name):
        raise ScenarioError(
            f"{where.at('name')}: {table}: name = {name!r}: give one or more of the characters a-z A-Z 0-9 . _ -"
        )


def check_churn(churn: Plain, there: There, where: Where) -> None:
    """One piece of churn."""
    kind = churn["kind"]
    _check_befallen(churn, there, where)
    for key, spec in TABLES["churn"].keys.items():
        meant = spec.doc.partition(": ")[0].split(", ")
        if set(meant) <= _KINDS and kind not in meant and churn[key] != _default(key):
            raise ScenarioError(
                f"{where.at(key)}: churn {kind} has no {key}: that is of {' and '.join(meant)}"
            )
    becomes = churn["becomes"]
    if becomes is not None and becomes not in there.members:
        raise ScenarioError(
            f"{where.at('becomes')}: churn {kind}: becomes = {becomes!r}: one of {', '.join(there.members)}"
        )
    if churn["surge"] and becomes is not None:
        raise ScenarioError(f"{where.at('surge')}: churn rolling: either surge or becomes")
    if kind == "waves" and churn["low"] >= churn["to"]:
        raise ScenarioError(
            f"{where.at('low')}: churn waves: low = {churn['low']} is to be below to = {churn['to']}"
        )
    if churn["more"] and churn["fewer"]:
        raise ScenarioError(f"{where.at('fewer')}: churn scale: either more or fewer")
    if kind == "scale" and churn["low"] != _default("low") and not churn["fewer"]:
        raise ScenarioError(
            f"{where.at('low')}: churn scale: low is the least that fewer leaves: give fewer, or leave it out"
        )
    if kind == "rolling" and not churn["at_once"]:
        raise ScenarioError(f"{where.at('at_once')}: churn rolling: at_once = 0: at least 1")
    if kind == "poisson" and not churn["arrivals_per_hour"] and not churn["departures_per_hour"]:
        raise ScenarioError(
            f"{where}: churn poisson: nobody comes or goes: give arrivals_per_hour or departures_per_hour"
        )
    check_churn_does_something(churn, there.members, there.producers, where)
    _check_times(churn, where)
    for key, most in (
        ("times", _MOST_TIMES),
        ("to", MOST_CLIENTS),
        ("arrivals_per_hour", 3_600_000),
        ("departures_per_hour", 3_600_000),
    ):
        if churn[key] > most:
            raise ScenarioError(
                f"{where.at(key)}: churn {kind}: {key} = {churn[key]}: at most {most}"
            )
    check_trigger(churn, there, where)


def _check_befallen(churn: Plain, there: There, where: Where) -> None:
    """Whom churn befalls: a kind; what befalls single members, also those, several, and words. One
    that is said alone is a text from here on."""
    kind, whom, kinds = churn["kind"], churn["members"], [*there.members, *there.producers]
    if len(whom) == 1:
        churn["members"] = whom[0]
    single = kind in ("restart", "stall")
    right = f"one of {', '.join(kinds)}" + (
        f", or single ones such as {kinds[0]}-1, or {WORDS_OF_MEMBERS}" if single else ""
    )
    if not whom or (len(whom) > 1 and not single):
        said = f"members = {', '.join(whom) or '[]'}"
        raise ScenarioError(f"{where.at('members')}: churn {kind}: {said}: give {right}")
    check_said_twice(f"churn {kind}: members", whom, where.at("members"))
    for each in whom:
        if single and is_word(each):
            check_word(each, churn, there, where, "members")
        elif each not in kinds and not (single and each in there.started()):
            raise ScenarioError(
                f"{where.at('members')}: churn {kind} of members {each}: give {right}"
            )


def check_word(word: str, plain: Plain, there: There, where: Where, key: str) -> None:
    """A word for a member that is known only when it happens."""
    group = group_led(word)
    if group is not None and group not in there.groups:
        raise ScenarioError(
            f"{where.at(key)}: {word!r}: group {group!r} is nobody's; there are {_some(there.groups)}"
        )
    if group is None and word != IT:
        raise ScenarioError(f"{where.at(key)}: {word!r} is no member: give {WORDS_OF_MEMBERS}")
    if word == IT and plain["when"] is None:
        raise ScenarioError(
            f"{where.at(key)}: 'it' is the member that when was seen of: give when, or name a member"
        )


def check_brokers(verb: str, fields: Plain, there: There, where: Where) -> Plain:
    """Brokers that are named in words, or several at once. Answers the fields with one broker for
    each of those, as they are without such."""
    known = dict(fields)
    free = iter(range(1, there.brokers + 1))
    for key in BROKERS:
        value = fields.get(key)
        if not isinstance(value, str | list):
            continue
        at, several = where.at(key), listed(value)
        if not several or (len(several) > 1 and key != "broker"):
            raise ScenarioError(f"{at}: {verb}: {key} = {value!r}: give one broker")
        for each in several:
            if isinstance(each, str):
                _check_broker_word(each, verb, key, there, at)
            elif type(each) is not int or not 1 <= each <= there.brokers:
                raise ScenarioError(f"{at}: {verb}: {key} = {each!r}: {_brokers(there)}")
        check_said_twice(f"{verb}: {key}", map(str, several), at)
        taken = [fields.get(other) for other in BROKERS]
        known[key] = next((node for node in free if node not in taken), 1)
    return known


def _check_broker_word(word: str, verb: str, key: str, there: There, at: str) -> None:
    asked = broker_of(word)
    if asked is None:
        right = f"a number, {_brokers(there)}, or {WORDS_OF_BROKERS}"
        raise ScenarioError(f"{at}: {verb}: {key} = {word!r}: give {right}")
    what, name, number = asked
    if what == "group" and name not in there.groups:
        raise ScenarioError(
            f"{at}: {verb}: {word!r}: group {name!r} is nobody's; there are {_some(there.groups)}"
        )
    if what == "partition" and not (
        name in there.later or number < there.topics.get(name, 0) or name in _INTERNAL
    ):
        raise ScenarioError(
            f"{at}: {verb}: {word!r}: there is no such partition; [topics] has {_some(list(there.topics))}"
        )


def _check_times(churn: Plain, where: Where) -> None:
    """How often, how far apart and how long."""
    kind = churn["kind"]
    for key, kinds in _TIMED.items():
        if kind not in kinds and churn[key] != _default(key):
            raise ScenarioError(
                f"{where.at(key)}: churn {kind} has no {key}: that is of {', '.join(kinds)}"
            )
    if not churn["times"]:
        raise ScenarioError(f"{where.at('times')}: churn {kind}: times = 0: at least 1")
    if not churn["every"] and (churn["times"] > 1 or kind == "waves"):
        raise ScenarioError(f"{where.at('every')}: churn {kind}: every = 0 ms: at least 1 ms")
    if kind == "stall" and not churn["lasts"]:
        raise ScenarioError(f"{where.at('lasts')}: churn stall: lasts = 0 ms: at least 1 ms")


def _default(key: str, table: str = "churn") -> Any:
    """As it is read where a file says nothing."""
    spec = TABLES[table].keys[key]
    return (
        duration_ms(spec.default)
        if spec.kind == "duration" and spec.default is not None
        else spec.default
    )


def check_trigger(plain: Plain, there: There, where: Where) -> None:
    """Whose doings are waited for has to be there; what is not in the file may come."""
    of, when = plain["of"], plain["when"]
    check_trigger_words(plain, there.is_producer, where)
    state = None if when is None else condition(when)
    if state is not None:
        _check_state(state, plain, there, where)
        return
    for key, default in (("again", 0), ("pause", 30_000)):
        if plain[key] != default:
            raise ScenarioError(
                f"{where.at(key)}: {key} is of states only: give when such as {EXAMPLES}"
            )
    if when is not None and plain["seen"] == 0:
        raise ScenarioError(f"{where.at('seen')}: seen = 0: at least 1, the first time")
    if when is not None and of and of not in there.groups and not there.may_come(of):
        known = [*there.groups, *there.started()]
        raise ScenarioError(
            f"{where.at('of')}: of = {of!r}: no group and no member is called that; there are {_some(known)}"
        )


def _check_state(state: Condition, plain: Plain, there: There, where: Where) -> None:
    """A state is a group's, or a member's or those of a kind."""
    when, of = plain["when"], plain["of"]
    if plain["seen"] != 1:
        raise ScenarioError(
            f"{where.at('seen')}: seen = {plain['seen']}: a state is or is not: leave it out; again says how often it counts once more"
        )
    if plain["again"] > _MOST_TIMES:
        raise ScenarioError(f"{where.at('again')}: again = {plain['again']}: at most {_MOST_TIMES}")
    if plain["pause"] < LOOK_MS:
        raise ScenarioError(
            f"{where.at('pause')}: pause = {plain['pause']} ms: states are looked at every {LOOK_MS} ms: give at least that"
        )
    if state.kind in OF_MEMBERS:
        if of not in there.members and not (
            there.may_come(of) and of.rpartition("-")[0] in there.members
        ):
            right = f"give a kind of members or one of them; there are {_some(list(there.members))}"
            raise ScenarioError(f"{where.at('of')}: when = {when!r}, of = {of!r}: {right}")
    elif of not in there.groups:
        raise ScenarioError(
            f"{where.at('of')}: when = {when!r}, of = {of!r}: give a group; there are {_some(there.groups)}"
        )
    elif state.kind in OF_LAG and of not in there.consuming:
        raise ScenarioError(
            f"{where.at('of')}: when = {when!r}: members of {of} only pretend to read: give consumes = true"
        )


def check_repeats(plain: Plain, where: Where) -> None:
    """What is to begin again has to have ended, unless it has no end."""
    verb, lasts, repeats = plain["verb"], plain["lasts"], plain["repeats"]
    what = f"fault {verb or plain['action']}: repeats = {repeats}"
    if not repeats:
        raise ScenarioError(f"{where.at('repeats')}: {what}: at least 1")
    if repeats > _MOST_TIMES:
        raise ScenarioError(f"{where.at('repeats')}: {what}: at most {_MOST_TIMES}")
    if repeats > 1 and not plain["every"]:
        raise ScenarioError(f"{where.at('every')}: {what}: every = 0 ms: at least 1 ms")
    if lasts is not None and not lasts[1]:
        raise ScenarioError(
            f"{where.at('lasts')}: fault {verb or plain['action']}: lasts = 0 ms: at least 1 ms, or leave it out for ever"
        )
    if verb == "ResetMember" and lasts is not None:
        raise ScenarioError(
            f"{where.at('lasts')}: fault ResetMember: connections are reset at once, nothing is undone: leave lasts out"
        )
    if verb == "CreatePartitions" and (lasts is not None or repeats > 1):
        key = "repeats" if lasts is None else "lasts"
        raise ScenarioError(
            f"{where.at(key)}: fault CreatePartitions: no partition is taken away again: leave {key} out"
        )
    if (
        repeats > 1
        and lasts is None
        and (plain["action"] is not None or (verb in ROWS and ROWS[verb].again))
    ):
        return
    if repeats > 1 and (lasts is None or lasts[1] >= plain["every"]):
        key = "repeats" if lasts is None else "lasts"
        raise ScenarioError(
            f"{where.at(key)}: {what} needs a lasts shorter than every, {plain['every']} ms"
        )


def check_member_verb(verb: str, fields: Plain, plain: Plain, there: There, where: Where) -> Plain:
    """What is done to a member's host; returns the fields."""
    takes, everybody = ROWS[verb].takes, there.started()
    known = [taken.name for taken in takes]
    for key in fields:
        if key not in known:
            raise ScenarioError(
                f"{where.at(key)}: {verb} has the keys {', '.join(known)}, not {key}"
            )
    if "member" not in fields:
        raise ScenarioError(f"{where}: {verb}: member is missing; there are {_some(everybody)}")
    several = listed(fields["member"])
    if not several or not all(isinstance(each, str) for each in several):
        raise ScenarioError(
            f"{where.at('member')}: {verb}: member = {fields['member']!r}: give a text, or several; there are {_some(everybody)}"
        )
    check_said_twice(f"{verb}: member", several, where.at("member"))
    for each in several:
        if is_word(each):
            check_word(each, plain, there, where, "member")
        elif each not in everybody and each not in there.members and each not in there.producers:
            raise ScenarioError(
                f"{where.at('member')}: {verb}: member {each!r} is not there; there are {_some(everybody)}"
            )
    for taken in takes:
        value, at = fields.get(taken.name), where.at(taken.name)
        if taken.choices and fields.get(taken.name, taken.choices[0]) not in taken.choices:
            raise ScenarioError(
                f"{at}: {verb}: {taken.name} {value!r}: one of {', '.join(taken.choices)}"
            )
        if taken.least is not None and (type(value) is not int or value < taken.least):
            said = f"{taken.name} is missing" if value is None else f"{taken.name} = {value!r}"
            right = f"give a whole number from {taken.least} on, such as {taken.example}"
            raise ScenarioError(f"{at}: {verb}: {said}: {right}")
    if "by_ms" in known:
        _check_jump(verb, fields, where)
    broker = fields.get("broker")
    if broker is not None and (type(broker) is not int or not 1 <= broker <= there.brokers):
        raise ScenarioError(
            f"{where.at('broker')}: {verb}: broker {broker!r}: {_brokers(there)}; without it, all"
        )
    return fields


def checked_release(version: object, what: str, where: Where) -> Release:
    """The release that a key `kafka_version` names; `what` stands before it in the refusal."""
    try:
        return release_named(version)
    except ReleaseError as error:
        raise ScenarioError(f"{where.at('kafka_version')}: {what}kafka_version = {error}") from None


def check_fields(verb: str, fields: Plain, where: Where) -> None:
    """A cluster's verb has no other fields than its own, and all that it needs."""
    kind = ROWS[verb].kind
    said = wrong_fields(kind, fields)
    if said is not None:
        unknown = next((name for name in fields if name not in kind.__dataclass_fields__), "")
        raise ScenarioError(f"{where.at(unknown) if unknown else where}: {said}")


def check_verb(verb: str, fields: Plain, there: There, where: Where) -> None:
    """What a cluster's verb names."""
    for key in BROKERS:
        if key in fields and not 1 <= fields[key] <= there.brokers:
            raise ScenarioError(
                f"{where.at(key)}: {verb}: {key} = {fields[key]}: {_brokers(there)}"
            )
    _check_amounts(ROWS[verb], fields, there, where)
    if fields.get("kafka_version") is not None:
        checked_release(fields["kafka_version"], f"{verb}: ", where)
    features = {name for release in RELEASES.values() for name in release.features}
    if fields.get("feature", "metadata.version") not in features:
        raise ScenarioError(
            f"{where.at('feature')}: {verb}: feature = {fields['feature']!r}: one of {', '.join(sorted(features))}"
        )
    if verb == "JumpClock":
        _check_jump(verb, fields, where)
    if "one" in fields and fields["one"] == fields.get("other"):
        raise ScenarioError(
            f"{where.at('other')}: {verb}: one and other are both {fields['one']}: give two brokers"
        )
    if verb == "CreateTopic":
        _check_new_topic(fields, there, where)
    _check_names(fields, there, where, verb)
    check_verb_does_something(verb, fields, there.brokers, where)
    count = there.topics.get(fields["topic"]) if verb == "CreatePartitions" else None
    if verb == "CreatePartitions" and fields["partitions"] - (count or 0) > MOST_AT_ONCE:
        said = f"partitions = {fields['partitions']}: Kafka adds at most {MOST_AT_ONCE} at once"
        raise ScenarioError(f"{where.at('partitions')}: {verb}: {said}")
    if count is not None and fields["partitions"] <= count:
        raise ScenarioError(
            f"{where.at('partitions')}: {verb}: {fields['topic']} has {count} partitions: give more, how many in all"
        )


def _check_new_topic(fields: Plain, there: There, where: Where) -> None:
    """A topic that is there already may be made again only where a DeleteTopic names it."""
    topic = fields["topic"]
    if topic in _INTERNAL:
        raise ScenarioError(
            f"{where.at('topic')}: CreateTopic: the brokers make {topic} by themselves: give another topic"
        )
    if topic in there.topics and topic not in there.deleted:
        said = "[topics] names it, so it is there from the start, and no DeleteTopic takes it away: give another topic"
        raise ScenarioError(f"{where.at('topic')}: CreateTopic: topic {topic}: {said}")
    for key, most in (("partitions", MOST_AT_ONCE), ("replication", there.brokers)):
        if key in fields and not (fields[key] == -1 or 1 <= fields[key] <= most):
            raise ScenarioError(
                f"{where.at(key)}: CreateTopic: {key} = {fields[key]}: from 1 to {most}, or -1 for the brokers' default"
            )
    with blamed(where):
        TopicOption(fields["topic"]).checked()


def _check_amounts(row: Row, fields: Plain, there: There, where: Where) -> None:
    """Words, lengths of time, rates and lists of brokers, which have their types by now."""
    verb = row.name
    for taken in row.takes:
        key, value = taken.name, fields.get(taken.name)
        if taken.choices and value is not None and value not in taken.choices:
            raise ScenarioError(
                f"{where.at(key)}: {verb}: {key} = {value!r}: one of {', '.join(taken.choices)}"
            )
        if taken.least is not None and value is not None and value < taken.least:
            raise ScenarioError(
                f"{where.at(key)}: {verb}: {key} = {value}: give a whole number from {taken.least} on"
            )
    replicas = list(fields.get("replicas") or [])
    unknown = [node for node in replicas if not 1 <= node <= there.brokers]
    if unknown:
        raise ScenarioError(
            f"{where.at('replicas')}: {verb}: replicas = {replicas}: broker {unknown[0]} is not there: {_brokers(there)}"
        )
    if len(set(replicas)) < len(replicas):
        raise ScenarioError(
            f"{where.at('replicas')}: {verb}: replicas = {replicas}: give each broker once"
        )


def _check_jump(verb: str, fields: Plain, where: Where) -> None:
    by_ms = fields.get("by_ms")
    said = "by_ms is missing" if by_ms is None else f"by_ms = {by_ms!r}"
    if type(by_ms) is not int:
        raise ScenarioError(
            f"{where.at('by_ms')}: {verb}: {said}: give whole milliseconds such as 3600000, negative ones to go back"
        )
    refusal = jump_refusal(by_ms, EPOCH_MS + by_ms)
    if refusal:
        raise ScenarioError(f"{where.at('by_ms')}: {verb}: {refusal}")


def check_request_fault(action: str, fields: Plain, there: There, where: Where) -> None:
    """Whose requests a fault selects."""
    check_carried(faults.from_plain({"action": action, **fields}).selector)
    broker = fields.get("broker")
    if broker is not None and not 1 <= broker <= there.brokers:
        raise ScenarioError(
            f"{where.at('broker')}: fault {action}: broker = {broker}: {_brokers(there)}"
        )
    check_identities(
        action,
        fields,
        {"instance_id": there.has_instance, "transactional_id": there.has_transactional},
        where,
    )
    _check_names(fields, there, where, f"fault {action}")


def _check_names(fields: Plain, there: There, where: Where, what: str) -> None:
    group, topic, partition, client = (
        fields.get(key) for key in ("group", "topic", "partition", "client_id")
    )
    if group is not None and group not in there.groups:
        raise ScenarioError(
            f"{where.at('group')}: {what}: group {group!r} is nobody's; there are {_some(there.groups)}"
        )
    if (
        topic is not None
        and topic not in there.topics
        and topic not in _INTERNAL
        and topic not in there.later
    ):
        raise ScenarioError(
            f"{where.at('topic')}: {what}: [topics] does not name {topic!r}; there are {_some(list(there.topics))}"
        )
    count = None if topic is None else there.topics.get(topic)
    if count is not None and partition is not None and not 0 <= partition < count:
        raise ScenarioError(
            f"{where.at('partition')}: {what}: partition {partition} of {topic}: from 0 to {count - 1}"
        )
    if client is not None and not there.may_come(client):
        raise ScenarioError(
            f"{where.at('client_id')}: {what}: no client is called {client!r}; there are {_some(there.started())}"
        )


def _brokers(there: There) -> str:
    return (
        f"from 1 to {there.brokers} (brokers.count)"
        if there.brokers > 1
        else "there is one, 1 (brokers.count)"
    )


def _some(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
