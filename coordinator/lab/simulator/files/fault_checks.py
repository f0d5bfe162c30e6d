"""Checks of a scenario's faults: the brokers, members, topics and partitions that they name
exist. Raises ScenarioError with the place in the file. The fields of verbs are in
`coordinator/verbs/`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from coordinator.base.releases import RELEASES, Release, ReleaseError, release_named
from coordinator.kit import faults
from coordinator.kit.cluster import wrong_fields
from coordinator.kit.injection.selector_fields import check_carried
from coordinator.server.build import TopicOption
from coordinator.server.cluster_runtime.clocks import jump_refusal
from coordinator.server.topics import MOST_AT_ONCE
from coordinator.verbs import ROWS, Row
from coordinator.verbs.brokers import CreatePartitions, CreateTopic, JumpClock
from coordinator.verbs.members import ResetMember

from ..environment import EPOCH_MS
from ..whom import WORDS_OF_BROKERS, broker_of, is_word, listed
from .contradictions import check_identities, check_said_twice, check_verb_does_something
from .key_positions import Where
from .reading import Plain, ScenarioError
from .schema import TABLES
from .sizes import MOST_TIMES
from .there import There, blamed, brokers_of, some_of
from .trigger_checks import check_word

BROKERS: Final = ("broker", "to", "one", "other")
"""The fields of verbs that name a broker."""
_MEANT: Final = {
    "pausebroker": 'StopBroker with how = "pause"',
    "crashbroker": 'StopBroker with how = "crash"',
    "killbroker": 'StopBroker with how = "crash"',
    "restartbroker": "StopBroker with lasts",
    "stopmember": 'PauseMember, or [[churn]] with kind = "restart"',
    "crashmember": '[[churn]] with kind = "restart" and how = "crash"',
    "killmember": '[[churn]] with kind = "restart" and how = "crash"',
    "restartmember": '[[churn]] with kind = "restart"',
    "stallmember": '[[churn]] with kind = "stall"',
}
"""Things one may look for, and how they are said."""
_INTERNAL: Final = ("__consumer_offsets", "__transaction_state")


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
                raise ScenarioError(f"{at}: {verb}: {key} = {each!r}: {brokers_of(there)}")
        check_said_twice(f"{verb}: {key}", map(str, several), at)
        taken = [fields.get(other) for other in BROKERS]
        known[key] = next((node for node in free if node not in taken), 1)
    return known


def _check_broker_word(word: str, verb: str, key: str, there: There, at: str) -> None:
    asked = broker_of(word)
    if asked is None:
        right = f"a number, {brokers_of(there)}, or {WORDS_OF_BROKERS}"
        raise ScenarioError(f"{at}: {verb}: {key} = {word!r}: give {right}")
    what, name, number = asked
    if what == "group" and name not in there.groups:
        raise ScenarioError(
            f"{at}: {verb}: {word!r}: group {name!r} is nobody's; there are {some_of(there.groups)}"
        )
    if what == "partition" and not (
        name in there.later or number < there.topics.get(name, 0) or name in _INTERNAL
    ):
        raise ScenarioError(
            f"{at}: {verb}: {word!r}: there is no such partition; [topics] has {some_of(list(there.topics))}"
        )


def check_spelling(what: str, fields: Plain, takes: Iterable[str], where: Where) -> None:
    """Refuse a key that a fault does not take but whose spelling is close to one that it takes."""
    known = [*takes, *TABLES["faults"].keys]
    for key in sorted(fields, key=lambda key: key.lower() not in known):  # the surest first
        if key not in known and key.lower() in known:
            raise ScenarioError(
                f"{where.at(key)}: {key} is no key of {what}: did you mean {key.lower()}?"
            )
        close = get_close_matches(key, known, 1)
        if key not in known and close:
            raise ScenarioError(
                f"{where.at(key)}: {key} is no key of {what}: did you mean {close[0]}?"
            )


def check_meant(verb: object, where: Where) -> None:
    """Refuse the name of an action that has no verb, and say how it is done instead."""
    meant = _MEANT.get(verb.lower()) if isinstance(verb, str) else None
    if meant is not None:
        raise ScenarioError(f"{where.at('verb')}: {verb!r} is no verb: give {meant}")


def check_repeats(plain: Plain, where: Where) -> None:
    """Check the keys of a repeated fault: each repetition must have ended before the next
    begins, unless the fault has no end."""
    verb, lasts, repeats = plain["verb"], plain["lasts"], plain["repeats"]
    what = f"fault {verb or plain['action']}: repeats = {repeats}"
    if not repeats:
        raise ScenarioError(f"{where.at('repeats')}: {what}: at least 1")
    if repeats > MOST_TIMES:
        raise ScenarioError(f"{where.at('repeats')}: {what}: at most {MOST_TIMES}")
    if repeats > 1 and not plain["every"]:
        raise ScenarioError(f"{where.at('every')}: {what}: every = 0 ms: at least 1 ms")
    if lasts is not None and not lasts[1]:
        raise ScenarioError(
            f"{where.at('lasts')}: fault {verb or plain['action']}: lasts = 0 ms: at least 1 ms, or leave it out for ever"
        )
    if verb == ResetMember.__name__ and lasts is not None:
        raise ScenarioError(
            f"{where.at('lasts')}: fault ResetMember: connections are reset at once, nothing is undone: leave lasts out"
        )
    if verb == CreatePartitions.__name__ and (lasts is not None or repeats > 1):
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
    """Check a verb on a member's host; return its fields."""
    takes, everybody = ROWS[verb].takes, there.started()
    known = [taken.name for taken in takes]
    check_spelling(verb, fields, known, where)
    for key in fields:
        if key not in known:
            raise ScenarioError(
                f"{where.at(key)}: {verb} has the keys {', '.join(known)}, not {key}"
            )
    if "member" not in fields:
        raise ScenarioError(f"{where}: {verb}: member is missing; there are {some_of(everybody)}")
    several = listed(fields["member"])
    if not several or not all(isinstance(each, str) for each in several):
        raise ScenarioError(
            f"{where.at('member')}: {verb}: member = {fields['member']!r}: give a text, or several; there are {some_of(everybody)}"
        )
    check_said_twice(f"{verb}: member", several, where.at("member"))
    for each in several:
        if is_word(each):
            check_word(each, plain, there, where, "member")
        elif each not in everybody and each not in there.members and each not in there.producers:
            raise ScenarioError(
                f"{where.at('member')}: {verb}: member {each!r} is not there; there are {some_of(everybody)}"
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
            f"{where.at('broker')}: {verb}: broker {broker!r}: {brokers_of(there)}; without it, all"
        )
    return fields


def checked_release(version: object, what: str, where: Where) -> Release:
    """Return the release that a key `kafka_version` names. `what`: begins the error message."""
    try:
        return release_named(version)
    except ReleaseError as error:
        raise ScenarioError(f"{where.at('kafka_version')}: {what}kafka_version = {error}") from None


def check_fields(verb: str, fields: Plain, where: Where) -> None:
    """Check that a cluster's verb has all the fields that it needs, and no others."""
    kind = ROWS[verb].kind
    check_spelling(verb, fields, kind.__dataclass_fields__, where)
    said = wrong_fields(kind, fields)
    if said is not None:
        unknown = next((name for name in fields if name not in kind.__dataclass_fields__), "")
        raise ScenarioError(f"{where.at(unknown) if unknown else where}: {said}")


def check_verb(verb: str, fields: Plain, there: There, where: Where) -> None:
    """Check the names in a cluster's verb."""
    for key in BROKERS:
        if key in fields and not 1 <= fields[key] <= there.brokers:
            raise ScenarioError(
                f"{where.at(key)}: {verb}: {key} = {fields[key]}: {brokers_of(there)}"
            )
    _check_amounts(ROWS[verb], fields, there, where)
    if fields.get("kafka_version") is not None:
        checked_release(fields["kafka_version"], f"{verb}: ", where)
    features = {name for release in RELEASES.values() for name in release.features}
    if fields.get("feature", "metadata.version") not in features:
        raise ScenarioError(
            f"{where.at('feature')}: {verb}: feature = {fields['feature']!r}: one of {', '.join(sorted(features))}"
        )
    if verb == JumpClock.__name__:
        _check_jump(verb, fields, where)
    if "one" in fields and fields["one"] == fields.get("other"):
        raise ScenarioError(
            f"{where.at('other')}: {verb}: one and other are both {fields['one']}: give two brokers"
        )
    if verb == CreateTopic.__name__:
        _check_new_topic(fields, there, where)
    _check_names(fields, there, where, verb)
    check_verb_does_something(verb, fields, there.brokers, where)
    count = there.topics.get(fields["topic"]) if verb == CreatePartitions.__name__ else None
    if verb == CreatePartitions.__name__ and fields["partitions"] - (count or 0) > MOST_AT_ONCE:
        said = f"partitions = {fields['partitions']}: Kafka adds at most {MOST_AT_ONCE} at once"
        raise ScenarioError(f"{where.at('partitions')}: {verb}: {said}")
    if count is not None and fields["partitions"] <= count:
        raise ScenarioError(
            f"{where.at('partitions')}: {verb}: {fields['topic']} has {count} partitions: give more, how many in all"
        )


def _check_new_topic(fields: Plain, there: There, where: Where) -> None:
    """Check a topic that a fault creates: one that exists from the start may be created again
    only after a DeleteTopic."""
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
    """Check choices, durations, rates and lists of brokers, whose types are right already."""
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
            f"{where.at('replicas')}: {verb}: replicas = {replicas}: broker {unknown[0]} is not there: {brokers_of(there)}"
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
    """Check the requests that a fault selects."""
    check_carried(faults.from_plain({"action": action, **fields}).selector)
    broker = fields.get("broker")
    if broker is not None and not 1 <= broker <= there.brokers:
        raise ScenarioError(
            f"{where.at('broker')}: fault {action}: broker = {broker}: {brokers_of(there)}"
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
            f"{where.at('group')}: {what}: group {group!r} is nobody's; there are {some_of(there.groups)}"
        )
    if (
        topic is not None
        and topic not in there.topics
        and topic not in _INTERNAL
        and topic not in there.later
    ):
        raise ScenarioError(
            f"{where.at('topic')}: {what}: [topics] does not name {topic!r}; there are {some_of(list(there.topics))}"
        )
    count = None if topic is None else there.topics.get(topic)
    if count is not None and partition is not None and not 0 <= partition < count:
        raise ScenarioError(
            f"{where.at('partition')}: {what}: partition {partition} of {topic}: from 0 to {count - 1}"
        )
    if client is not None and not there.may_come(client):
        raise ScenarioError(
            f"{where.at('client_id')}: {what}: no client is called {client!r}; there are {some_of(there.started())}"
        )
