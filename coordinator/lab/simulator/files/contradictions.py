"""Finds what a scenario says twice, or says without any effect. Raises ScenarioError, which says
where. `churn_checks` and `fault_checks` find out whether what is named exists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from coordinator.members.consuming.fetch_config import FetchConfig
from coordinator.members.settings import names
from coordinator.verbs.brokers import (
    CreateTopic,
    DeleteTopic,
    MoveCoordinator,
    MoveLeader,
    SlowFollower,
)

from ..triggers import WHEN, WHEN_OF_PRODUCERS
from ..whom import is_word, listed
from .key_positions import Where
from .reading import Plain, ScenarioError

_OF_PRODUCERS: Final = {
    "client.id": "it is the name and a number",
    "transactional.id": "with transactional = true it is the client id",
}
_WHOLE_KINDS: Final = ("rolling", "restart", "stall")
_IDENTITIES: Final = {
    "instance_id": "members have a group.instance.id with static = true (their client id) or from config",
    "transactional_id": "a producer with transactional = true has its client id as transactional.id, a pipeline has "
    "GROUP-CLIENT",
}
_AT_ONCE: Final = {
    "auto.commit.interval.ms": False,
    "metadata.max.age.ms": True,
    "fetch.max.wait.ms": True,
    "retry.backoff.ms": True,
}
"""Settings that may be 0, and whether links that take their time are enough then."""
_ALONE: Final = (MoveLeader.__name__, MoveCoordinator.__name__)


def check_said_twice(what: str, named: Iterable[str], where: str) -> None:
    """Check that each name is given once."""
    listed = list(named)
    twice = next((name for name in listed if listed.count(name) > 1), None)
    if twice is not None:
        raise ScenarioError(f"{where}: {what}: {twice} is named twice: name it once")


def check_member_settings(plain: Plain, where: Where) -> None:
    """Refuse settings of a consumer that contradict the scenario's own keys, or that need
    `consumes`."""
    name, config = f"members {plain['name']}", plain["config"]
    if plain["assignor"] and "partition.assignment.strategy" in config:
        said = "is not set in config beside assignor, which says it: leave one of the two out"
        raise ScenarioError(
            f"{where.at('config.partition.assignment.strategy')}: {name}: partition.assignment.strategy {said}"
        )
    consumes = plain["consumes"] or plain["commit"] == "transaction"
    automatic = str(plain["commit"] == "auto").lower()
    if consumes and config.get("enable.auto.commit", automatic).lower() != automatic:
        said = f'commit = "{plain["commit"]}" says otherwise: leave it out, or give commit = "{"auto" if automatic == "false" else "none"}"'
        raise ScenarioError(
            f"{where.of('enable.auto.commit')}: {name}: enable.auto.commit = {config['enable.auto.commit']}: {said}"
        )
    fetching = next((key for key in config if key in names(FetchConfig)), None)
    if not consumes and fetching is not None:
        raise ScenarioError(
            f"{where.of(fetching)}: {name}: {fetching} needs consumes = true: without it they fetch nothing"
        )


def check_something_takes_time(plain: Plain, delay_ms: int, where: Where) -> None:
    """Work that a client repeats at once takes some time, or a run would not come to its next
    millisecond.

    `delay_ms`: the shortest delay of links.
    """
    for setting, of_links in _AT_ONCE.items():
        if plain["config"].get(setting, "").strip() in ("0", "+0", "-0") and not (
            of_links and delay_ms
        ):
            said = f"{setting} = 0: it would be done again in the same millisecond"
            right = "give it or links.delay at least 1 ms" if of_links else "give at least 1"
            raise ScenarioError(f"{where.of(setting)}: {plain['name']}: {said}: {right}")


def check_producer_settings(plain: Plain, where: Where) -> None:
    """Refuse settings of a producer for which a scenario has keys of its own."""
    for setting, says in _OF_PRODUCERS.items():
        if setting in plain["config"]:
            raise ScenarioError(
                f"{where.of(setting)}: producers {plain['name']}: {setting} is not set in config: {says}"
            )


def check_churn_does_something(
    churn: Plain, members: Mapping[str, int], producers: Mapping[str, int], where: Where
) -> None:
    """Check that churn has a member to act on, at an instant that exists. `members`,
    `producers`: the number of each kind that starts."""
    kind = churn["kind"]
    for whom in listed(churn["members"]):
        _check_befalls(churn, whom, members, producers, where)
    if churn["until"] is not None and churn["until"] <= churn["at"]:
        said = f"churn {kind}: until = {churn['until']} ms is not after at, {churn['at']} ms: nobody would come or go"
        raise ScenarioError(f"{where.at('until')}: {said}")


def _check_befalls(
    churn: Plain, whom: str, members: Mapping[str, int], producers: Mapping[str, int], where: Where
) -> None:
    """Check that a member that churn names exists, and can become what it is to become."""
    kind = churn["kind"]
    if kind in _WHOLE_KINDS and {**members, **producers}.get(whom) == 0:
        said = f"churn {kind} of members {whom}: none of them starts (count = 0), and those that come later are not meant"
        right = "give a kind whose count is at least 1; those that became another kind keep their names, and are named by their first kind"
        raise ScenarioError(f"{where.at('members')}: {said}: {right}")
    if (
        churn["becomes"] is not None
        and not is_word(whom)
        and whom not in members
        and whom.rpartition("-")[0] not in members
    ):
        said = f"churn {kind}: becomes = {churn['becomes']!r}: {whom} are producers, which do not become members: leave it out"
        raise ScenarioError(f"{where.at('becomes')}: {said}")


def check_trigger_words(plain: Plain, is_producer: Callable[[str], bool], where: Where) -> None:
    """Check the keys of a trigger: either `at` or `when`, other keys only beside `when`, and for
    producers only the states that they have."""
    when, of = plain["when"], plain["of"]
    if when is None:
        for key, default in (("of", ""), ("later", 0), ("seen", 1)):
            if plain[key] != default:
                raise ScenarioError(
                    f"{where.at(key)}: {key} = {plain[key]!r}: of, seen and later need when: one of {', '.join(WHEN)}"
                )
    elif plain["at"]:
        raise ScenarioError(
            f"{where.at('at')}: either at or when; later says how long after {when!r}"
        )
    elif of and when not in WHEN_OF_PRODUCERS and is_producer(of):
        right = f"of a producer one can wait for {', '.join(WHEN_OF_PRODUCERS)}"
        raise ScenarioError(
            f"{where.at('of')}: when = {when!r}, of = {of!r}: that is a producer, which never does: {right}"
        )


def check_verb_does_something(verb: str, fields: Plain, brokers: int, where: Where) -> None:
    """Check that a verb of a cluster changes something."""
    if verb in _ALONE and brokers == 1:
        raise ScenarioError(
            f"{where.at('to')}: {verb}: to = {fields['to']}: there is no other broker to move it from: give brokers.count"
        )
    if (
        verb == SlowFollower.__name__
        and not fields.get("delay_ms")
        and fields.get("bytes_per_second") is None
    ):
        raise ScenarioError(
            f"{where}: SlowFollower: nothing is slowed down: give delay_ms, bytes_per_second or both"
        )


def check_made_once(faults: list[Plain], where: Callable[[int], Where]) -> None:
    """Check that a topic is made twice only if it is deleted in between, by DeleteTopic or the
    end of `lasts`."""
    made: set[str] = set()
    for index, fault in enumerate(faults):
        topic, verb = fault.get("topic"), fault["verb"]
        if verb == DeleteTopic.__name__:
            made.discard(str(topic))
        elif verb == CreateTopic.__name__ and fault["lasts"] is None:
            if topic in made:
                said = "another fault makes it, and nothing takes it away: give DeleteTopic, lasts or another topic"
                raise ScenarioError(
                    f"{where(index).at('topic')}: CreateTopic: topic {topic}: {said}"
                )
            made.add(str(topic))


def check_classic(members: list[Plain], where: Callable[[int], Where]) -> None:
    """Check that no member uses the consumer protocol, which these brokers do not serve."""
    for index, plain in enumerate(members):
        if plain["protocol"] == "consumer":
            said = 'protocol = "consumer": brokers do not serve it: group.coordinator.rebalance.protocols has to contain consumer'
            raise ScenarioError(f"{where(index).at('protocol')}: members {plain['name']}: {said}")


def check_identities(
    action: str, fields: Plain, known: Mapping[str, Callable[[str], bool]], where: Where
) -> None:
    """Check that a fault selects identities that clients of this scenario have. `known`: for
    each key a function that says whether there is such an identity."""
    for key, right in _IDENTITIES.items():
        if key in fields and not known[key](fields[key]):
            raise ScenarioError(
                f"{where.at(key)}: fault {action}: {key} = {fields[key]!r} is nobody's: {right}"
            )
