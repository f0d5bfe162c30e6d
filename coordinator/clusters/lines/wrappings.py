"""Removes what stands around a logged message: ANSI colours, e-mail quotes, prefixes of kubectl and
compose, JSON, time stamps.

It must not know messages. Every step is a search for a literal or an anchored pattern without
nested repetition, so that a hostile line costs time in proportion to its length.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .stamps import Stamp, stamp_at

_ANSI = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")
_QUOTED = re.compile(r"(?:> ?){1,8}")
_POD = re.compile(r"\[(?P<source>pod/[^\]\s]{1,300})\] ")
_COMPOSE = re.compile(r"(?P<source>[\w.-]{1,200}) {1,40}\| ")
_NAME = re.compile(
    r"(?!(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b)"
    r"(?P<source>[A-Za-z][\w./-]{0,200}(?: [A-Za-z][\w.-]{0,100})?) {1,20}(?=\[?\d{4}-\d\d-\d\d[ T]\d\d:|%\d\|\d)"
)
_JOURNAL = re.compile(
    r"[A-Z][a-z]{2} [ \d]\d (?P<clock>\d\d:\d\d:\d\d) (?P<host>[\w.-]{1,100}) (?P<source>[\w.@-]{1,100})(?:\[\d{1,8}\])?: "
)
_FOREMAN = re.compile(r"(?P<source>[\w-]{1,80}\.\d{1,4}) {1,40}\| {1,4}")
"""Name and number of a process behind the time, as foreman and honcho put them."""
_CRI = re.compile(r" ?(?:stdout|stderr) [FP] ")
_LIBRDKAFKA = re.compile(r"%\d\|(?P<s>\d{9,11})\.(?P<ms>\d{3})\|")
_SECONDS = re.compile(r"(?P<s>\d{10})\.(?P<ms>\d{3})\d{0,6} (?=[A-Z])")
_LEVELLED = re.compile(r"\[(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)\] (?=\d)")
"""A level in front of the time stamp, as Python's formats often have it."""
_TRAILED = re.compile(r"(?:[A-Z]{4,7}:? )?\[[A-Z][A-Za-z]{1,40}\] [^{]{1,400}(?=\{\")")
"""A message with its fields as JSON behind it: KafkaJS through winston and its like."""
_MOST_LAYERS = 4
_LATER = (
    re.compile(r"(?<![\d:.])\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d"),
    re.compile(r"(?<![\d:.])\d\d:\d\d:\d\d[.,]\d{3}"),
)
_FIELD = re.compile(r"\s{0,40}\"(?:message|textPayload|log)\": \"")
"""A line of JSON that is printed with one field a line, as cloud tools do."""
_INDENTS = (" ", "\t", "*")
_FIRST = tuple("[{%0123456789")
"""First characters of a record: a line that begins with one after spaces was indented as a whole."""
_DECODER = json.JSONDecoder()
_MESSAGES = ("message", "msg", "log", "textPayload", "MESSAGE", "body", "event")
_TIMES = ("@timestamp", "timestamp", "time", "ts", "instant", "timeMillis", "__REALTIME_TIMESTAMP")


class Peeled(NamedTuple):
    """A message without its wrapping. `source`: the pod or container in front, or empty. `fields`:
    what a record in JSON has beside its message."""

    text: str
    stamp: Stamp | None
    source: str
    fields: dict[str, Any] | None = None


def peel(line: str) -> Peeled:
    """Remove what collectors and loggers put around a message. The text that is left begins
    after the time stamp, with the level, thread and logger that the layout puts there."""
    text = line.rstrip("\r\n")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    quoted = _QUOTED.match(text)
    if quoted:
        text = text[quoted.end() :]
    if text[:1] in _INDENTS:
        stripped = text.lstrip(" \t*")
        if stripped[:1] in _FIRST or stamp_at(stripped) is not None:
            text = stripped
    source = ""
    for prefix in (_POD, _COMPOSE, _NAME):
        found = prefix.match(text)
        if found:
            source, text = found["source"], text[found.end() :]
            break
    if _FIELD.match(text):
        text = f"{{{text.strip().rstrip(',')}}}"
    own: Stamp | None = None
    stamp: Stamp | None = None
    fields: dict[str, Any] | None = None
    for _ in range(_MOST_LAYERS):
        inner = _from_json(text) if text[:1] == "{" else None
        if inner is not None:
            text, around, named, fields = inner
            stamp, source = _better(around, stamp), source or named
        journal = _JOURNAL.match(text)
        if journal:
            source = source or f"{journal['source']}@{journal['host']}"
            text = text[journal.end() :]
            clock = stamp_at(journal["clock"])
            stamp = clock[0] if clock else stamp
        text, before = _stamped(text)
        own = _better(before, own)
        foreman = _FOREMAN.match(text) if before is not None else None
        if foreman:
            source, text = source or foreman["source"], text[foreman.end() :]
        if text[:1] != "{":
            break
    trailed = _TRAILED.match(text)
    behind = _from_json(text[trailed.end() :], bare=True) if trailed else None
    if trailed and behind is not None:
        text, own, fields = trailed[0].strip(), _better(own, behind[1]), behind[3]
    if own is None and stamp is None:
        later = _LATER[0].search(text, 0, 160) or _LATER[1].search(text, 0, 160)
        within = stamp_at(text, later.start()) if later else None
        own = within[0] if within else None
    return Peeled(text, _better(own, stamp), source, fields)


def _stamped(text: str) -> tuple[str, Stamp | None]:
    """Return the text after its time stamps, and the best stamp. A container runtime adds its
    own stamp before the message's."""
    own: Stamp | None = None
    text = text.lstrip("\ufeff")
    for _ in range(3):
        librdkafka = _LIBRDKAFKA.match(text)
        if librdkafka:
            return text, _better(Stamp(int(librdkafka["s"]) * 1000 + int(librdkafka["ms"]), 0), own)
        seconds = _SECONDS.match(text)
        if seconds:
            text = text[seconds.end() :]
            return text, _better(Stamp(int(seconds["s"]) * 1000 + int(seconds["ms"]), 0), own)
        levelled = _LEVELLED.match(text)
        if levelled:
            text = text[levelled.end() :]
        found = stamp_at(text)
        if found is None:
            break
        own, end = _better(found[0], own), found[1]
        cri = _CRI.match(text, end)
        text = text[cri.end() if cri else end :].lstrip(" \t")
    return text, own


def _better(inner: Stamp | None, outer: Stamp | None) -> Stamp | None:
    """Return the message's own stamp, with the time zone that follows from the stamp around it."""
    if inner is None or outer is None:
        return inner or outer
    if inner.offset is not None or outer.offset is None:
        return inner
    quarters = round((inner.ms - outer.ms) / 900_000)
    if abs(quarters) > 14 * 4:
        return outer
    return Stamp(inner.ms - quarters * 900_000, outer.offset)


def _from_json(
    text: str, *, bare: bool = False
) -> tuple[str, Stamp | None, str, dict[str, Any]] | None:
    """Return message, stamp, pod and fields of a JSON record, or None if the text is none. Text
    behind the record is ignored. `bare`: the record need not have a message."""
    try:
        record, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    if bare:
        times = (found for key in _TIMES if (found := _json_time(record.get(key))))
        return "", next(times, None), "", record
    message = next((record[key] for key in _MESSAGES if isinstance(record.get(key), str)), None)
    payload = record.get("jsonPayload")
    if message is None and isinstance(payload, dict):
        message = next(
            (payload[key] for key in _MESSAGES if isinstance(payload.get(key), str)), None
        )
    if message is None:
        return None
    stamp = next((found for key in _TIMES if (found := _json_time(record.get(key)))), None)
    kubernetes = record.get("kubernetes")
    pod = kubernetes.get("pod_name") if isinstance(kubernetes, dict) else None
    fields = payload if isinstance(payload, dict) else record
    return message.rstrip("\r\n"), stamp, pod if isinstance(pod, str) else "", fields


def _json_time(value: object) -> Stamp | None:
    if isinstance(value, dict) and isinstance(value.get("epochSecond"), int):
        nanos = value.get("nanoOfSecond")
        return Stamp(
            value["epochSecond"] * 1000 + (nanos // 1_000_000 if isinstance(nanos, int) else 0), 0
        )
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) in (10, 13, 16):
            value = int(value)
        else:
            found = stamp_at(value)
            return found[0] if found else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e17:
        return None
    return Stamp(int(value * 1000 if value < 1e11 else value if value < 1e14 else value / 1000), 0)
