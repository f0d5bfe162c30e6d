"""The input itself with stable names in place of its own, so that a log can be posted.

Lines that no dialect understands are left out: they may contain anything. A diagnosis of the
output has the same findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..facts import Prepared, Seen
from ..lines.packed import Lines, Progress, sources
from ..lines.unwrapping import unwrapped
from ..lines.wrappings import peel
from ..reading import FileReader
from ..stories.people import People, client_of
from ..stories.reasons import told
from ..stories.story import GroupStory

_UUID = "00000000-0000-4000-8000-{:012d}"
_HOST = re.compile(
    r"(?<![\w.@/-])(?!org\.)[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){0,8}(?=:\d{4,5}\b)"
)
_QUALIFIED = re.compile(r"(?<=host=')[^']{1,255}|(?<=clientHost=/)[^,\s)]{1,255}")
_CLUSTER = re.compile(r"(?<=Cluster ID: )\S{1,60}")
_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{0,4}(?![\w:])")
_TOPICS = (
    re.compile(r"topic='([^']{1,249})'"),
    re.compile(r"Subscribed to topic\(s\): (.{1,4000})"),
    re.compile(r"subscribed topics to: \[?([^\].]{1,4000})"),
    re.compile(r"partitions=\[([^\]]{1,8000})\]"),
    re.compile(
        r"assigned partitions:? \[?([\w.-]{1,249}-\d{1,6}(?:, [\w.-]{1,249}-\d{1,6}){0,999})"
    ),
    re.compile(r"(?:for partition|partition) ([\w.-]{1,249}-\d{1,6})"),
    re.compile(r"\]: ? ([\w.-]{1,249}) \[\d{1,6}\]"),
    re.compile(r"for ([\w.-]{1,249}) \[\d{1,6}\]"),
)
_PARTITION = re.compile(r"-\d{1,6}$")
_SETTINGS = re.compile(
    r"\s{1,8}(?:session\.timeout\.ms|max\.poll\.(?:interval\.ms|records)|heartbeat\.interval\.ms|group\.id|client\.id|"
    r"group\.instance\.id|group\.protocol|partition\.assignment\.strategy) = "
)
_VALUE = re.compile(r"\s{1,8}[a-z][a-z0-9._]{2,80} = ")


class Names:
    """Stable names in place of a log's own, by order of appearance."""

    def __init__(self, stories: Mapping[str, GroupStory], people: People) -> None:
        self.names: dict[str, str] = {}
        self.hosts: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self._any: re.Pattern[str] | None = None
        for group in stories:
            if group != "?":
                self._name(group, "group")
        for member in (*people.clients, *people.instances.values(), *people.timeouts):
            self._member(member)
        for story in stories.values():
            for each in story.seen:
                self._of(each)
            for state in story.states:
                for owner in state.described.owners:
                    self._member(owner)
        self._compile()

    def _name(self, text: str, kind: str) -> str:
        if text not in self.names:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.names[text] = f"{kind}-{self.counts[kind]}"
        return self.names[text]

    def _of(self, each: Seen) -> None:
        if each.source and each.source != each.evidence.file:
            self._name(each.source, "pod")
        for field in ("client", "instance", "member", "former", "by", "transactional"):
            value = getattr(each.fact, field, None)
            if isinstance(value, str) and value:
                self._member(value)
        if isinstance(each.fact, Prepared):
            self._member(told(each.fact.reason).member or "")
        for field in ("members", "idle", "owners"):
            values = getattr(each.fact, field, None)
            for value in values if isinstance(values, tuple) else ():
                if isinstance(value, str):
                    self._member(value)

    def _member(self, text: str) -> None:
        if not text or text in self.names:
            return
        client = client_of(text)
        if client is not None:
            self.counts["uuid"] = self.counts.get("uuid", 0) + 1
            self.names[text] = f"{self._name(client, 'member')}-{_UUID.format(self.counts['uuid'])}"
        elif re.fullmatch(r"[A-Za-z0-9_+/-]{22}", text):
            self.counts["id"] = self.counts.get("id", 0) + 1
            self.names[text] = f"M{self.counts['id']:021d}"
        else:
            self._name(text, "member")

    def learn_topics(self, text: str) -> None:
        """Note the topics that a line names."""
        for pattern in _TOPICS:
            found = pattern.search(text, 0, 20_000)
            if found is None:
                continue
            for part in found[1].split(", "):
                topic = _PARTITION.sub("", part.strip(" []{}"))
                if topic and " " not in topic and topic not in self.names:
                    self._name(topic, "topic")
                    self._any = None

    def _compile(self) -> None:
        longest = sorted(self.names, key=len, reverse=True)
        self._any = (
            re.compile(rf"(?<![\w])(?:{'|'.join(map(re.escape, longest))})(?![\w])")
            if longest
            else None
        )

    def text(self, text: str) -> str:
        """Return a line with its names replaced."""
        if self._any is None:
            self._compile()
        if self._any is not None:
            text = self._any.sub(lambda found: self.names[found[0]], text)
        text = _CLUSTER.sub("cluster-1", text)
        for pattern in (_QUALIFIED, _IPV6, _IPV4, _HOST):
            text = pattern.sub(self._host, text)
        return text

    def _host(self, found: re.Match[str]) -> str:
        host = found[0]
        if host.startswith("host-") or host in self.names.values():
            return host
        return self.hosts.setdefault(host, f"host-{len(self.hosts) + 1}")


def redacted(
    paths: Iterable[str], names: Names, zone: int | None, progress: Progress | None = None
) -> Iterator[str]:
    """Yield the lines that are understood, with names replaced; if there are several files, each
    below a heading."""
    paths = list(paths)
    number = 0
    for path in paths:
        for name, lines in sources(path, progress):
            number += 1
            if len(paths) > 1:
                yield f"==> file-{number} <=="
            yield from _file(FileReader(name, zone), lines, names)


def _file(reader: FileReader, lines: Lines, names: Names) -> Iterator[str]:
    left_out = 0
    for number, line in unwrapped(lines):
        text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
        before = reader.report.understood
        reader.take(number, text)
        peeled = None if text is None else peel(text)
        if text is None or peeled is None:
            left_out += 1
            continue
        bare = not peeled.text.strip() and peeled.stamp is not None
        if reader.report.understood == before and not bare:
            left_out += 1
            continue
        if _VALUE.match(peeled.text) and not _SETTINGS.match(peeled.text):
            left_out += 1
            continue
        if peeled.fields is not None:
            text = peeled.text
        names.learn_topics(text)
        yield names.text(text.rstrip("\r\n"))
    if left_out:
        yield f"# {left_out} lines left out"
