"""Lines of librdkafka, with `debug=cgrp` or without: its own format, and as the bindings of Python,
Go and .NET hand them to the application's logger."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..facts import (
    Assigned,
    AssignmentChanged,
    ClientAsked,
    ClientFenced,
    ClientJoined,
    ClientLeaving,
    ClientMember,
    ClientPollExpired,
    ClientRemoved,
    CommitRefused,
    Fact,
    SessionTimedOut,
)

NAME = "librdkafka"
_THREAD = r" ?(?:\[thrd:[^\]]{0,300}\]: ?)?"
_LINES = (
    re.compile(
        r"%\d\|\d{9,11}\.\d{3}\|(?P<facility>[A-Z_]{2,20})\|(?P<client>[^|]{1,300})\|" + _THREAD
    ),
    re.compile(
        r"\d?\|?(?P<client>[^|\s]{1,300}#consumer-\d{1,6})\|(?P<facility>[A-Z_]{2,20})\|" + _THREAD
    ),
)
_WITHIN = (
    re.compile(
        r"%\d\|\d{9,11}\.\d{3}\|(?P<facility>[A-Z_]{2,20})\|(?P<client>[^|]{1,300})\|" + _THREAD
    ),
    re.compile(
        r"(?P<facility>MAXPOLL|SESSTMOUT|REBALANCE|JOINGROUP|MEMBERID|HEARTBEAT|ASSIGN|LEAVE|REJOIN|COOPASSIGN|COMMITFAIL) "
        r"\[(?P<client>[^\]#]{1,300}#consumer-\d{1,6})\]" + _THREAD
    ),
    re.compile(
        r"RDKAFKA-\d-(?P<facility>[A-Z_]{2,20}): (?P<client>[^\s:#]{1,300}#consumer-\d{1,6}):"
        + _THREAD
    ),
    re.compile(
        r"\d\|[^|]{1,40}\|(?P<client>[^|]{1,300}#consumer-\d{1,6})\|(?P<facility>[A-Z_]{2,20})\|"
        + _THREAD
    ),
)
"""As bindings and loggers of applications put them: something may stand in front."""
_NAMELESS = re.compile(
    r"(?:\[thrd:[^\]]{0,300}\]: ?|event\.str\(\)= ?)(?=Group \"|JoinGroup resp|Application max|Consumer group sess| Member \")"
)
_FACILITIES = (
    ("JOINGROUP", re.compile(r"JoinGroup response: ")),
    ("MEMBERID", re.compile(r'Group "[^"]{1,300}": updating member id ')),
    ("MAXPOLL", re.compile(r"Application maximum poll interval ")),
    ("SESSTMOUT", re.compile(r"Consumer group session timed out ")),
    ("REBALANCE", re.compile(r'Group "[^"]{1,300}" (?:is|initiating) rebalanc')),
    ("LEAVE", re.compile(r'Group "[^"]{1,300}": leave \(in state')),
    ("COOPASSIGN", re.compile(r'Group "[^"]{1,300}": incremental assignment: ')),
    ("ASSIGN", re.compile(r'Group "[^"]{1,300}": (?:running |"[^"]{1,200}" assign)| Member "')),
)
"""The facility of a message, for loggers that leave it away."""
_GROUP = re.compile(r'(?:[^\s"]{1,300}: )?(?:Joining )?[Gg]roup "(?P<group>[^"]{1,300})"')
_JOINED = re.compile(
    r"JoinGroup response: GenerationId (?P<n>-?\d{1,10}), Protocol [^,]*, "
    r"LeaderId (?P<leader>\S*)(?: \(me\))?, my MemberId (?P<member>[^,]*), "
    r"(?:member metadata count (?P<members>\d{1,9})|(?P<older>\d{1,9}) members in group): (?P<error>.*)"
)
_MEMBER = re.compile(r'Group "[^"]{1,300}": updating member id "[^"]*" -> "(?P<member>[^"]*)"')
_REBALANCE = re.compile(
    r'Group "[^"]{1,300}" (?P<who>initiating rebalance|is rebalancing) (?:\([A-Z]+\) )?in state [^)]*\) '
    r"(?:with \d{1,9} assigned partition\(s\)(?: \(lost\))?|with assignment|without assignment): (?P<why>.*)"
)
_POLL = re.compile(r"Application maximum poll interval \((?P<ms>\d{1,12}) ?ms\) exceeded")
MISSED_POLL = re.compile(
    r"(?:_MAX_POLL_EXCEEDED\b[^(]{0,200}\(|Application maximum poll interval \()(?P<ms>\d{1,12}) ?ms\) exceeded"
    r"|Local: Maximum application poll interval \(max\.poll\.interval\.ms\) exceeded"
)
"""As bindings raise it, or print it without what librdkafka puts in front."""
_SESSION = re.compile(
    r"Consumer group session timed out \(in join-state [^)]*\) after (?P<ms>\d{1,12}) ?ms without"
)
_INCREMENTAL = re.compile(
    r'Group "[^"]{1,300}": incremental assignment: (\d{1,9}) newly added, (\d{1,9}) revoked'
)
_PLANNED = re.compile(r' Member "(?P<member>[^"]{1,300})"(?: \(me\))? with \d{1,9} owned partition')


class Reader:
    """Reads the lines of one file: a leader's list of members is several lines."""

    def __init__(self) -> None:
        self.plans: dict[str, list[str]] = {}
        self.members: dict[str, str] = {}
        self.groups: dict[str, str] = {}
        self.last: str | None = None

    def read(self, text: str, source: str) -> tuple[bool, list[Fact]]:
        """Return whether a line is understood, and its facts. `source`: the writer of lines
        without a client id."""
        line = _line(text)
        if line is None:
            return self._nameless(text, source)
        name = line["client"]
        client = self.last = name.partition("#")[0]
        message = text[line.end() :]
        if line.start() and '""' in message:
            message = message.replace('""', '"')  # a column of a table
        named = _GROUP.match(message)
        group = named["group"] if named else None
        if group is not None:
            self.groups[name] = group
        group = self.groups.get(name)
        return True, self._facts(line["facility"], name, client, group, message)

    def _nameless(self, text: str, source: str) -> tuple[bool, list[Fact]]:
        begin = _NAMELESS.search(text, 0, 400)
        if begin is None:
            return False, []
        message = text[begin.end() :]
        named = _GROUP.match(message)
        group = named["group"] if named else None
        for facility, regex in _FACILITIES:
            if regex.match(message):
                self.last = source
                return True, self._facts(facility, source, source, group, message)
        return True, []

    def _facts(
        self, facility: str, name: str, client: str, group: str | None, text: str
    ) -> list[Fact]:
        if facility == "MEMBERID":
            found = _MEMBER.match(text)
            if found and found["member"] not in ("", "(not-set)"):
                self.members[name] = found["member"]
                return [ClientMember(client, group, found["member"])]
        elif facility == "LEAVE" and ": leave (in state" in text:
            return [ClientLeaving(client, group, self.members.get(name), "")]
        elif facility == "ASSIGN":
            return self._assigned(name, client, group, text)
        make = _MAKE.get(facility)
        return make(client, group, text) if make is not None else []

    def _assigned(self, name: str, client: str, group: str | None, text: str) -> list[Fact]:
        if text.startswith('Group "') and " running " in text and " assignor for " in text:
            self.plans[name] = []
        planned = _PLANNED.match(text)
        if planned and name in self.plans:
            self.plans[name].append(planned["member"])
        if text.startswith('Group "') and " assignment for " in text and " finished in " in text:
            members = self.plans.pop(name, [])
            return [Assigned(client, group, None, tuple(members))] if members else []
        return []


def _line(text: str) -> re.Match[str] | None:
    for regex in _LINES:
        line = regex.match(text)
        if line:
            return line
    if "#consumer-" not in text[:800]:
        return None
    for regex in _WITHIN:
        line = regex.search(text, 0, 800)
        if line:
            return line
    return None


def _joined(client: str, group: str | None, text: str) -> list[Fact]:
    found = _JOINED.match(text)
    if found is None:
        return []
    facts: list[Fact] = []
    n = int(found["n"])
    if found["member"] and n < 0:
        facts.append(ClientMember(client, group, found["member"]))
    if n >= 0 and found["error"].startswith(("(no error)", "Success")):
        leads = found["leader"] == found["member"]
        members = int(found["members"] or found["older"]) if leads else None
        facts.append(ClientJoined(client, group, found["member"] or None, n, members))
    elif "member ID" not in found["error"] and "nknown member" in found["error"]:
        facts.append(ClientRemoved(client, group, found["error"]))
    elif "ence" in found["error"]:
        facts.append(ClientFenced(client, group, None))
    return facts


def _rebalance(client: str, group: str | None, text: str) -> list[Fact]:
    found = _REBALANCE.match(text)
    if found is None:
        return []
    why = found["why"]
    if "max.poll.interval.ms exceeded" in why:
        return [ClientPollExpired(client, group)]
    if "nknown member" in why or "resetting member-id" in why or "member id" in why.lower():
        return [ClientRemoved(client, group, why)]
    if why.startswith("unsubscribe") or (
        "(join-state wait-metadata)" in text and why.startswith("Metadata for subscribed")
    ):
        return []  # the second: it learns what topics there are, before it joins
    return [ClientAsked(client, group, why)]


def _missed(client: str, group: str | None, text: str) -> list[Fact]:
    found = _POLL.match(text)
    return [ClientPollExpired(client, group, int(found["ms"]))] if found else []


def _heartbeat(client: str, group: str | None, text: str) -> list[Fact]:
    if " heartbeat error response " not in text:
        return []
    if "nknown member" not in text and "pecified generation" not in text:
        return []
    return [ClientRemoved(client, group, text.rpartition("): ")[2])]


def _synced(client: str, group: str | None, text: str) -> list[Fact]:
    if "rebalance in progress" not in text:
        return []
    return [ClientAsked(client, group, "group is already rebalancing")]


def _silent(client: str, group: str | None, text: str) -> list[Fact]:
    return [SessionTimedOut(client, group, None)]


def _cooperative(client: str, group: str | None, text: str) -> list[Fact]:
    found = _INCREMENTAL.match(text)
    return [AssignmentChanged(client, group, int(found[1]), int(found[2]))] if found else []


def _again(client: str, group: str | None, text: str) -> list[Fact]:
    if "ncremental unassign" not in text:
        return []
    return [ClientAsked(client, group, text.rpartition("partition(s): ")[2])]


def _fatal(client: str, group: str | None, text: str) -> list[Fact]:
    return [ClientFenced(client, group, None)] if "fenced" in text.lower() else []


def _refused(client: str, group: str | None, text: str) -> list[Fact]:
    lost = "nknown member" in text or "generation" in text
    return [CommitRefused(client, group)] if lost else []


_MAKE: dict[str, Callable[[str, str | None, str], list[Fact]]] = {
    "JOINGROUP": _joined,
    "MAXPOLL": _missed,
    "HEARTBEAT": _heartbeat,
    "SYNCGROUP": _synced,
    "SESSTMOUT": _silent,
    "REBALANCE": _rebalance,
    "COOPASSIGN": _cooperative,
    "REJOIN": _again,
    "FATAL": _fatal,
    "ERROR": _fatal,
    "COMMITFAIL": _refused,
}
