"""Puts the facts of all files together: one story for each group. Parts of it are in
`coordinator/clusters/stories/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .clocks import one_clock
from .facts import (
    Assigned,
    AssignmentChanged,
    BecameEmpty,
    ClientAsked,
    ClientFenced,
    ClientJoined,
    ClientJoining,
    ClientLeaving,
    ClientMember,
    ClientPollExpired,
    ClientRemoved,
    ClientStarted,
    ClientSubscribed,
    CommitRefused,
    CoordinatorLost,
    Described,
    EpochBumped,
    Expired,
    Fact,
    Fenced,
    Joined,
    Left,
    Loaded,
    MemberFenced,
    MemberTimeouts,
    MetadataChanged,
    Migrated,
    NotRejoined,
    Prepared,
    ProducerFenced,
    ProtocolRefused,
    Replaced,
    Seen,
    SessionTimedOut,
    Settings,
    Stabilized,
    SubscriptionChanged,
    TargetComputed,
    TopicChanged,
    Unloaded,
    Unnumbered,
)
from .findings import of_members as findings
from .findings import unknowns
from .reading import FileReport
from .stories.broker_story import BrokerStory
from .stories.client_story import client_rebalances, deepen
from .stories.people import People, client_of
from .stories.story import FOLLOWS, SHOWN, Event, GroupStory, Rebalance, State

UNKNOWN_GROUP = "?"
Window = Callable[[int | None, int | None], bool]
"""Function of an instant (ms, and minutes east of UTC if the zone is known) that says whether it
is of interest."""
_SAME_EVENT_MS = 2_000
_OF_KIP_848 = re.compile(r"[A-Za-z0-9_+/-]{22}")
"""Member ids that clients make themselves: those of the classic protocol are longer."""
_CLIENT = (
    ClientMember,
    ClientJoined,
    ClientJoining,
    ClientStarted,
    ClientAsked,
    ClientPollExpired,
    ClientLeaving,
    ClientRemoved,
    ClientFenced,
    CommitRefused,
    SessionTimedOut,
    CoordinatorLost,
    Assigned,
    AssignmentChanged,
    Unnumbered,
    TopicChanged,
    ClientSubscribed,
    ProtocolRefused,
    ProducerFenced,
    Settings,
)
_BY_COORDINATORS = (
    *(Prepared, Stabilized, BecameEmpty, EpochBumped, TargetComputed, Expired, Left, NotRejoined),
    *(Replaced, Joined, MemberFenced, SubscriptionChanged, MetadataChanged),
)
_OF_BROKER = (Prepared, Stabilized, BecameEmpty, EpochBumped, Joined, Left, MemberFenced)


class Told(NamedTuple):
    """All that the files say, joined."""

    groups: dict[str, GroupStory]
    people: People


def told(seen: list[Seen], reports: Mapping[str, FileReport], window: Window | None = None) -> Told:
    """Join the facts of all files. Facts outside the window are used as causes, but only those
    within it are reported."""
    seen = _with_groups(_named(seen))
    seen = _once(one_clock(seen, reports))
    people = People(seen)
    groups: dict[str, GroupStory] = {}
    for each in seen:
        if isinstance(each.fact, MemberTimeouts):
            continue
        group = getattr(each.fact, "group", None) or UNKNOWN_GROUP
        groups.setdefault(group, GroupStory(group)).seen.append(each)
    silent = groups.get(UNKNOWN_GROUP)
    if silent is not None and all(isinstance(each.fact, Settings) for each in silent.seen):
        del groups[UNKNOWN_GROUP]
    for story in groups.values():
        _tell(story, people, reports, window)
    return Told(groups, people)


def _named(seen: list[Seen]) -> list[Seen]:
    """Name clients whose lines have no client id: by the only other client of the file, by the
    client id at the beginning of a member id, if a line has one, else by the file. If several
    files would get the same name from member ids, they keep the files' names."""
    ids: dict[str, set[str | None]] = {}
    members: dict[str, set[str]] = {}
    used: dict[str, set[str]] = {}
    of_source: dict[str, set[str]] = {}
    for each in seen:
        if not isinstance(each.fact, _CLIENT):
            continue
        client = each.fact.client
        if client != each.source:
            used.setdefault(client, set()).add(each.source)
            of_source.setdefault(each.source, set()).add(client)
            continue
        member = getattr(each.fact, "member", None)
        if member:
            ids.setdefault(client, set()).add(client_of(member))
            members.setdefault(client, set()).add(member)
    names = {
        source: next(iter(clients))
        for source, clients in of_source.items()
        if len(clients) == 1 and source not in ids
    }
    for source, found in ids.items():
        name = next(iter(found))
        others = any(
            name in those and not members[other] & members[source]
            for other, those in ids.items()
            if other != source
        )
        if (
            len(found) == 1
            and name is not None
            and not others
            and used.get(name, set()) <= {source}
        ):
            names[source] = name
    if not names:
        return seen
    return [
        each._replace(fact=each.fact._replace(client=names[each.source]))
        if isinstance(each.fact, _CLIENT)
        and each.fact.client == each.source
        and each.source in names
        else each
        for each in seen
    ]


def _once(seen: list[Seen]) -> list[Seen]:
    """Drop facts that occur twice: a file that is given twice, or a log and an excerpt of it."""
    facts: set[tuple[object, ...]] = set()
    lines: dict[tuple[object, ...], tuple[str, int]] = {}
    found: list[Seen] = []
    for each in seen:
        if each.at is not None and not isinstance(each.fact, Settings):
            fact = (each.at, type(each.fact), each.fact)
            place = each.evidence.file, each.evidence.line
            text = (each.at, each.evidence.text)
            if fact in facts or lines.setdefault(text, place) != place:
                continue
            facts.add(fact)
        found.append(each)
    return found


def _with_groups(seen: list[Seen]) -> list[Seen]:
    """Give a fact without a group the group of its client's other lines."""
    people = People(seen)
    of_client: dict[str, set[str]] = {}
    named: set[str] = set()
    for each in seen:
        group = getattr(each.fact, "group", None)
        if group:
            named.add(group)
            if isinstance(each.fact, _CLIENT):
                of_client.setdefault(each.fact.client, set()).add(group)
    found: list[Seen] = []
    for each in seen:
        fact: Fact = each.fact
        if isinstance(fact, _CLIENT) and fact.group is None and not isinstance(fact, Settings):
            groups = of_client.get(fact.client, set())
            member = getattr(fact, "member", None)
            group = people.groups.get(member) if member else None
            if group is None and len(groups) == 1:
                group = next(iter(groups))
            if group is None and not groups and len(named) == 1:
                group = next(iter(named))
            fact = fact._replace(group=group)
        elif isinstance(fact, Fenced) and fact.group is None:
            group = next(
                (people.groups[one] for one in (fact.member, fact.by) if one in people.groups), None
            )
            if group is None and len(named) == 1:
                group = next(iter(named))
            fact = fact._replace(group=group)
        found.append(each._replace(fact=fact))
    return found


def _tell(
    story: GroupStory, people: People, reports: Mapping[str, FileReport], window: Window | None
) -> None:
    seen = story.seen
    story.protocol = _protocol(seen)
    story.broker = any(isinstance(each.fact, _OF_BROKER) for each in seen)
    offsets = {reports[each.evidence.file].offset for each in seen if each.at is not None}
    story.offset = offsets.pop() if len(offsets) == 1 else (0 if None not in offsets else None)
    files = {each.evidence.file for each in seen if each.at is not None}
    story.one_clock = len(files) < 2 or all(
        reports[file].clock_offset_ms is not None for file in files
    )
    folds: dict[str, BrokerStory] = {}
    before: BrokerStory | None = None
    for each in seen:
        broker = broker_of(each)
        if broker is not None:
            fold = folds.get(broker)
            if fold is None:
                fold = folds[broker] = BrokerStory(people, kind=story.protocol, before=before)
            before = fold
            fold.see(each)
        _event(story, each, people)
    story.rebalances = sorted(
        (one for fold in folds.values() for one in fold.rebalances), key=lambda one: one.at or 0
    )
    deepen(story, people)
    known = {rebalance.generation for rebalance in story.rebalances}
    if story.protocol in ("consumer", "share", "streams") and story.rebalances:
        extra: list[Rebalance] = []
    else:
        extra = client_rebalances(seen, people, known)
    story.rebalances = sorted([*story.rebalances, *extra], key=lambda each: each.at or 0)
    _twins(story)
    if window is not None:
        inside, offset = window, story.offset
        story.rebalances = [each for each in story.rebalances if inside(each.at, offset)]
        story.events = [each for each in story.events if inside(each.at, offset)]
        story.states = [each for each in story.states if inside(each.at, offset)]
        story.seen = [each for each in story.seen if inside(each.at, offset)]
    story.findings = findings.find(story, people)
    story.not_known = unknowns.sentences(story, people)


_BROKER = re.compile(r"\[GroupCoordinator (?:id=)?(\d{1,10})")


def broker_of(each: Seen) -> str | None:
    """Return the broker that wrote a coordinator's line, "" if the line does not name it; None
    for a line of another kind."""
    if not isinstance(each.fact, _BY_COORDINATORS):
        return None
    named = _BROKER.search(each.evidence.text)
    return named[1] if named else ""


def _protocol(seen: list[Seen]) -> str | None:
    for each in reversed(seen):
        fact = each.fact
        if isinstance(fact, Joined) and fact.protocol in ("consumer", "share", "streams"):
            return fact.protocol
        if isinstance(fact, Migrated):
            return fact.to
        if isinstance(fact, Prepared | Stabilized | BecameEmpty) or (
            isinstance(fact, Joined) and not fact.protocol
        ):
            return "classic"
    for each in seen:
        fact = each.fact
        if isinstance(fact, Left | MemberFenced) and "share group" in each.evidence.text:
            return "share"
        if isinstance(fact, EpochBumped | MemberFenced):
            return "consumer"
    for each in seen:
        if isinstance(each.fact, Settings) and "group.protocol" in each.fact.values:
            return each.fact.values["group.protocol"].lower()
    for each in seen:
        text = each.evidence.text
        if isinstance(each.fact, ClientMember) and _OF_KIP_848.fullmatch(each.fact.member):
            return "consumer"
        if isinstance(each.fact, ClientJoined):
            return "consumer" if " with epoch " in text else "classic"
        if isinstance(each.fact, Described) and each.fact.state in (
            "PreparingRebalance",
            "CompletingRebalance",
        ):
            return "classic"
        if isinstance(each.fact, Described) and each.fact.state in ("Assigning", "Reconciling"):
            return "consumer"
    return None


def _event(story: GroupStory, each: Seen, people: People) -> None:
    kind = member = by = None
    sentence, certainty = "", SHOWN
    match each.fact:
        case Fenced(_, instance, member_id, by_id, operation):
            kind, member = "fenced", instance or people.name(member_id)
            by = by_id
            sentence = (
                f"{member_id} was refused ({operation}): instance {instance} belongs to {by_id} now"
            )
        case ClientFenced(client, _, instance):
            kind, member = "fenced", instance or client
            sentence = f"{client} was answered that another member has its instance id"
        case Replaced(_, instance, new, former):
            kind, member, by = "replaced", instance, new
            sentence = f"static member {instance} came back under a new member id, in the place of {former}"
        case Loaded():
            kind, sentence = (
                "loaded",
                "a broker loaded the group: it is the coordinator from then on",
            )
        case Unloaded():
            kind, sentence = (
                "unloaded",
                "a broker unloaded the group: another broker is its coordinator",
            )
        case Migrated(_, to):
            kind, sentence = "migrated", f"the group was converted to a {to} group"
        case CommitRefused(client, _, joining):
            kind, member, certainty = "commit-refused", client, SHOWN
            sentence = f"a commit of {client} was refused: " + (
                "it was in no generation of the group at that moment, because it was joining again or was removed"
                if joining
                else "it was no longer in the group"
            )
        case Described():
            story.states.append(State(each.at, each.fact, each.evidence))
        case _:
            pass
    if kind is None:
        return
    for event in reversed(story.events):
        if (each.at or 0) - (event.at or 0) > _SAME_EVENT_MS and kind != "fenced":
            break
        same = event.kind == kind and event.member == member
        if same and (kind != "fenced" or (each.at or 0) - (event.at or 0) <= 30_000):
            event.evidence.append(each.evidence)
            event.by = event.by or by
            return
    story.events.append(Event(each.at, kind, member, by, sentence, certainty, [each.evidence]))


def _twins(story: GroupStory) -> None:
    """Find twins: a static member was replaced, and its former process still sends requests."""
    fenced = {event.member: event for event in story.events if event.kind == "fenced"}
    for rebalance in story.rebalances:
        event = fenced.get(rebalance.member)
        if rebalance.cause != "static-restart" or event is None:
            continue
        if abs((event.at or 0) - (rebalance.at or 0)) <= 60_000:
            rebalance.cause, rebalance.certainty = "twin-fenced", FOLLOWS
            rebalance.returns = None
            rebalance.evidence.extend(event.evidence)
