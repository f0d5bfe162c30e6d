"""The diagnosis as one HTML page, made from the JSON: no script, nothing that is loaded, every
text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any

from coordinator.base.printable import printable, shortened

Quotes = Mapping[tuple[str, int], str]
"""The text of a file's line."""
_COLOURS = {
    "first-join": "#4a7dbd",
    "joined": "#4a7dbd",
    "static-restart": "#4a7dbd",
    "left": "#8a8f98",
    "expired": "#c0392b",
    "poll-timeout": "#d35400",
    "member-fenced": "#c0392b",
    "twin-fenced": "#c0392b",
    "topic-grew": "#2e8b57",
    "unknown": "#c9cdd3",
}
_OTHER = "#7d5ba6"
_WIDTH, _HEIGHT = 960, 70
_MOST_ROWS = 2_000
_MOST_QUOTES = 6
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#1d2330;margin:2rem auto;max-width:1000px;padding:0 1rem}
h1{font-size:1.5rem}h3{font-size:1rem}
h2{font-size:1.25rem;margin-top:2.5rem;border-top:1px solid #dde1e7;padding-top:1rem}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #eceff3}
code,summary,.at,pre{font:12px/1.4 ui-monospace,monospace}
details{margin:.2rem 0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0 .2rem 1rem;color:#444b57}
.sure{color:#5b6472;font-size:13px}.unknown{color:#5b6472}
.finding{border-left:4px solid #d35400;padding:.2rem 0 .2rem .8rem;margin:.8rem 0}
svg{width:100%;height:auto;background:#f7f8fa}
"""


def html_page(frame: Mapping[str, Any], quotes: Quotes) -> str:
    """Return the page as HTML."""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>Why the group rebalanced</title><style>{_STYLE}</style></head><body>",
            "<h1>Why the group rebalanced</h1>",
            *(
                line
                for name, group in frame["groups"].items()
                for line in _group(name, group, quotes)
            ),
            *_files(frame["files"]),
            "</body></html>",
        ]
    )


def _said(text: object) -> str:
    return escape(printable(text))


def _group(name: str, group: Mapping[str, Any], quotes: Quotes) -> Iterator[str]:
    title = f"Group {_said(name)}" if name != "?" else "A group that no line names"
    protocol = f" ({_said(group['protocol'])})" if group["protocol"] else ""
    yield f"<h2>{title}{protocol}</h2>"
    for finding in group["findings"]:
        yield (
            f'<div class="finding"><b>{_said(finding["id"])}</b> <span class="sure">{_said(finding["certainty"])}</span><br>'
            f"{_said(finding['sentence'])}{_evidence(finding['evidence'], quotes)}</div>"
        )
    rebalances = group["rebalances"]
    if rebalances:
        yield f"<h3>Rebalances: {len(rebalances)}</h3>"
        yield from _picture(rebalances)
        yield from _table(rebalances, quotes)
    rows = [*group["events"], *group["states"]]
    if rows:
        yield "<h3>Besides</h3><table>"
        for row in rows:
            said = row["sentence"] if "sentence" in row else _described(row)
            yield (
                f'<tr><td class="at">{_said(row["at"] or "")}</td><td>{_said(row.get("kind", "described"))}</td>'
                f"<td>{_said(said)}{_evidence(row['evidence'], quotes)}</td></tr>"
            )
        yield "</table>"
    if group["not_known"]:
        yield '<h3>Not known from these files</h3><ul class="unknown">'
        yield from (f"<li>{_said(sentence)}</li>" for sentence in group["not_known"])
        yield "</ul>"


def _described(state: Mapping[str, Any]) -> str:
    owners = ", ".join(state["owners"]) or "no owners shown"
    lag = "not told for all partitions" if state["lag"] is None else state["lag"]
    return f"{state['state'] or 'state not shown'}; owners: {owners}; lag: {lag}"


def _table(rebalances: list[dict[str, Any]], quotes: Quotes) -> Iterator[str]:
    yield "<table><tr><th>at</th><th>generation</th><th>cause</th><th>member</th><th>join phase</th><th>members</th></tr>"
    for each in rebalances[:_MOST_ROWS]:
        member = _said(each["member"] or "")
        if each["returns"]:
            member += " (was in the group before)"
        brakes = ""
        if each["held_up_by"]:
            brakes = f"<br>held up by {_said(each['held_up_by'])}"
        phase = "" if each["join_phase_s"] is None else f"{each['join_phase_s']:.1f} s"
        members = (
            "empty" if each["empty"] else each["members"] if each["members"] is not None else ""
        )
        sure = f' <span class="sure">{_said(each["certainty"])}</span>' if each["certainty"] else ""
        yield (
            f'<tr><td class="at">{_said(each["at"] or "")}</td><td>{each["generation"]}</td>'
            f"<td>{_said(each['cause'])}{sure}{_evidence(each['evidence'], quotes)}</td>"
            f"<td>{member}</td><td>{phase}{brakes}</td><td>{members}</td></tr>"
        )
    yield "</table>"
    if len(rebalances) > _MOST_ROWS:
        yield f"<p>and {len(rebalances) - _MOST_ROWS} more: --since and --until choose</p>"


def _picture(rebalances: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a picture with a bar for each rebalance: its instant, and the length of its join
    phase."""
    marks = [
        (moment, each)
        for each in rebalances[:_MOST_ROWS]
        if (moment := _moment(each["at"])) is not None
    ]
    if len(marks) < 2:
        return
    first = min(moment - (each["join_phase_s"] or 0) for moment, each in marks)
    span = max(moment for moment, _ in marks) - first or 1
    scale = (_WIDTH - 20) / span
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="rebalances in time">'
    for moment, each in marks:
        length = max((each["join_phase_s"] or 0) * scale, 2)
        end = 10 + (moment - first) * scale
        colour = _COLOURS.get(each["cause"], _OTHER)
        tip = (
            f"{each['at']}: generation {each['generation']}, {each['cause']} {each['member'] or ''}"
        )
        yield (
            f'<rect x="{end - length:.1f}" y="10" width="{length:.1f}" height="{_HEIGHT - 20}" fill="{colour}">'
            f"<title>{_said(tip)}</title></rect>"
        )
    yield "</svg>"


def _moment(at: str | None) -> float | None:
    if at is None:
        return None
    try:
        moment = datetime.fromisoformat(f"1970-01-01{at}" if at.startswith("T") else at)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _evidence(lines: list[dict[str, Any]], quotes: Quotes) -> str:
    if not lines:
        return ""
    shown = []
    for line in lines[:_MOST_QUOTES]:
        text = quotes.get((line["file"], line["line"]), "")
        quoted = f": {escape(shortened(text, 600))}" if text else ""
        shown.append(f"<pre>{_said(line['file'])}:{line['line']}{quoted}</pre>")
    more = f"<pre>and {len(lines) - _MOST_QUOTES} more</pre>" if len(lines) > _MOST_QUOTES else ""
    word = "line" if len(lines) == 1 else "lines"
    return f"<details><summary>{len(lines)} {word}</summary>{''.join(shown)}{more}</details>"


def _files(files: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>Files</h2><table><tr><th>file</th><th>dialect</th><th>lines</th><th>understood</th><th>clock</th></tr>"
    for name, file in files.items():
        offset = file["clock_offset_ms"]
        clock = "" if offset is None else f"{offset / 1000:+.1f} s"
        yield (
            f"<tr><td><code>{_said(name)}</code></td><td>{_said(file['dialect'] or 'none')}</td><td>{file['lines']}</td>"
            f"<td>{file['understood']}</td><td>{clock}</td></tr>"
        )
    yield "</table>"
