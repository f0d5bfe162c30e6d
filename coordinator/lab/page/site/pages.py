"""The site's pages as HTML: every text, and the first picture of a lesson if there is one, stand there
without scripts. Knows no files and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Final

from coordinator.base.version import __version__

from ..lessons import Lesson

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; img-src 'self' data:; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'">
<title>{title}</title>
<meta name="description" content="{description}">
<meta property="og:type" content="website"><meta property="og:title" content="{title}"><meta property="og:description" content="{description}"><meta property="og:image" content="preview.png">
<link rel="icon" href="data:,"><script src="again.js"></script><link rel="stylesheet" href="style.css">
</head>
<body>
<header class="site"><a href="index.html"><span class="what">Consumer groups: </span>all lessons</a>{more}</header>
<main>
"""
_UNSERVED = """<p class="unserved">The scripts of this page have not started. A browser does not load them for a page opened from a file: serve the folder,
for example with <code>coordinator lessons DIR</code>.</p>
"""
"""Seen only when a page has not become ready for some seconds."""
_FOOT = """</main>
<footer><p>Made by coordinator {version}. Everything here runs in your browser; nothing is sent anywhere.</p></footer>
{scripts}</body>
</html>
"""


INCIDENT: Final = ("incident.html", "Now read an incident")
"""Address and words of what comes after our last lesson."""


def glossary(markdown: str) -> dict[str, str]:
    """Return words and their meanings, from the table of docs/glossary.md."""
    found: dict[str, str] = {}
    for row in re.findall(r"^\| (.+?) \| (.+?) \| .*?\|$", markdown, re.MULTILINE):
        if row[0] in ("use", "---"):
            continue
        for word in re.split(r"[;:,]\s*", row[0]):
            plain = word.strip("`_ ")
            if len(plain) > 4:
                found.setdefault(plain, re.sub(r"[`*]", "", row[1]))
    return found


class Hover:
    """Explains each word of the glossary where it first stands on a page."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = dict(words)
        ordered = sorted(map(re.escape, words), key=len, reverse=True)
        self._pattern = re.compile(rf"\b({'|'.join(ordered)})\b") if ordered else None

    def __call__(self, text: str) -> str:
        """Return a text as HTML."""
        safe = escape(text)
        if self._pattern is None:
            return safe

        def mark(match: re.Match[str]) -> str:
            meaning = self._words.pop(match[1], None)
            return (
                match[1]
                if meaning is None
                else f'<abbr title="{escape(meaning)}">{match[1]}</abbr>'
            )

        return self._pattern.sub(mark, safe)


def _paragraphs(texts: Iterable[str], hover: Hover) -> str:
    return "\n".join(f"<p>{hover(text)}</p>" for text in texts)


def _page(
    title: str, description: str, body: str, scripts: Iterable[str] = (), more: str = ""
) -> str:
    """`description`: what a search engine or a chat shows of the page."""
    tags = "".join(f'<script type="module" src="{name}"></script>\n' for name in scripts)
    late = _UNSERVED if tags else ""
    return (
        _HEAD.format(
            title=escape(title),
            description=escape(" ".join(description.split())),
            more=more,
        )
        + late
        + body
        + _FOOT.format(version=escape(__version__), scripts=tags)
    )


def lesson_page(
    lesson: Lesson,
    svg: str,
    before: str | None,
    following: str | None,
    words: Mapping[str, str],
    after: tuple[str, str],
) -> str:
    """Return the page of a lesson. `svg`: its picture until the question, or an empty string if there
    is none for readers without scripts; `before` and `following`: the slugs of its neighbours;
    `after`: address and words of the link behind the last lesson; `words`: the glossary."""
    hover = Hover(words)
    options = "\n".join(
        f'<label><input type="radio" name="guess" value="{escape(option.id)}"> {escape(option.text)}</label>'
        for option in lesson.options
    )
    right = next(option.text for option in lesson.options if option.id == lesson.answer)
    tries = "".join(
        f'<li><button type="button" class="try" data-try="{escape(each.id)}">{escape(each.text)}</button>'
        f"<noscript><p>{escape(each.says)}</p></noscript></li>"
        for each in lesson.tries
    )
    onward = (
        f'<p><a href="{following}.html">The next lesson</a></p>'
        if following
        else f'<p><a href="{after[0]}">{after[1]}</a></p>'
    )
    seen = (
        "Without scripts this is the picture at the moment of the question."
        if svg
        else "The picture needs scripts."
    )
    body = f"""<h1>{lesson.number}. {escape(lesson.title)}</h1>
<div class="screen"><div class="left">
<div id="stage" data-lesson="{lesson.slug}" data-version="{escape(__version__)}"><figure class="first">{svg}</figure>
<noscript><p>{seen} The answer can be opened all the same.</p></noscript></div></div>
<div class="idea" id="idea">
<section class="question" id="question" data-card="question"><details class="setting" open><summary>What is going on</summary>
{_paragraphs(lesson.setting.split(chr(10)), hover)}</details>
<form><fieldset><legend>{hover(lesson.question)}</legend>
<div class="options">{options}</div></fieldset></form>
<p class="go"><button type="button" class="reveal primary" id="reveal">Show what happens</button> <small>Guesses are not scored.</small></p></section>
<details class="answer" id="answer"><summary>What happens</summary>
<section data-card="answer"><p class="verdict" id="verdict"></p>
<p class="right">{escape(right)}</p>
<p class="aha">{escape(lesson.aha)}</p>
<p>What many believe: {escape(lesson.misconception)}</p></section>
<section data-card="why"><h2>Why</h2>
{_paragraphs(lesson.explanation, hover)}
<p>Where it shows: {escape(lesson.shown)}</p></section>
<section data-card="try"><h2>Try</h2>
<p>Each runs the same members from the same seed, with one thing changed. Both runs stand one above the other.</p>
<ul class="tries">{tries}</ul>
{onward}</section></details>
<section data-card="change" id="change"></section>
<div id="pager"></div>
</div></div>
<div id="runs"></div>
"""
    ways = "".join(
        f'<a href="{slug}.html" rel="{kind}">{text}</a> '
        for slug, kind, text in ((before, "prev", "◀ before"), (following, "next", "next ▶"))
        if slug
    )
    more = f'<span class="push">{ways}</span><button type="button" class="link" id="share">copy a link to this</button>'
    return _page(
        f"{lesson.number}. {lesson.title}", lesson.question, body, ["site.js", "lesson.js"], more
    )


def card(lesson: Lesson) -> str:
    """Return a lesson's row in the list of all."""
    return (
        f'<li><a href="{lesson.slug}.html" data-lesson="{lesson.slug}"><small>{lesson.number} · {lesson.minutes} minutes</small>'
        f"<strong>{escape(lesson.asks)}</strong></a></li>"
    )


def own_index_page(lessons: Iterable[Lesson]) -> str:
    """Return the front page of lessons that are somebody's own."""
    cards = "\n".join(map(card, lessons))
    body = f"""<h1>What do you think happens when …</h1>
<p>Each lesson stops a run just before something happens. Say what will, and see it.</p>
<ol class="lessons">{cards}</ol>
"""
    said = "Lessons about consumer groups: say what will happen, and see it."
    return _page("Lessons about consumer groups", said, body, ["site.js"])


def index_page(lessons: Iterable[Lesson], group: str) -> str:
    """Return the front page: a group that moves (`group` is its first picture), and all lessons."""
    cards = "\n".join(map(card, lessons))
    body = f"""<h1>Consumer groups, alive</h1>
<p>Three consumers share nine partitions. What moves is a run, not a drawing: the coordinator, the members and the assignors are the ones that are compared with a real
Kafka. Act on them, and ask why.</p>
<div id="group">{group}<noscript><p>With scripts, this group moves, and can be acted on.</p></noscript></div>
<h2>What do you think happens when …</h2>
<p>Each lesson stops a run just before something happens. Say what will, see it, and change it.</p>
<ol class="lessons" start="0">{cards}
<li><a href="incident.html" data-lesson="incident"><small>at the end · 10 minutes</small><strong>{_INCIDENT}</strong></a></li></ol>
<p>Then: <a href="open.html">open the log of a group of your own</a>, or <a href="open.html">paste what your cluster logs</a> to be told why a group rebalances, or <a href="sandbox.html">write a scenario</a> and run it.</p>
"""
    said = "A consumer group that moves: add members, stop, kill and slow them down, and ask why. Lessons that run the real coordinator in your browser."
    return _page("Consumer groups, alive", said, body, ["site.js", "home.js"])


_INCIDENT: Final = "A group stood still. Who was it: the one that left, or the one that stayed?"


def incident_page(
    svg: str, questions: Iterable[Mapping[str, Any]], words: Mapping[str, str], before: str
) -> str:
    """Return the page of the recorded incident. `svg`: its first picture; `before`: the lesson
    before it. The page has its questions without scripts, too."""
    hover = Hover(words)
    asked = "".join(
        f'<li><details><summary>{escape(each["asks"])}</summary><p class="right">{escape(each["options"][each["right"]])}</p>'
        f"<p>{escape(each['says'])}</p></details></li>"
        for each in questions
    )
    body = f"""<h1>Read an incident</h1>
<div class="screen"><div class="left">
<div id="stage"><figure class="first">{svg}</figure></div></div>
<div class="idea" id="idea">
<details class="setting" open><summary>What is going on</summary>
<p>{hover("This is no simulation: three groups of real clients, recorded while they ran. The network was uneven, there were deployments, a process died, and one group read nothing for a while. The log knows requests and answers alone. Choose a group above the picture, step through it, and find the cause.")}</p></details>
<div id="questions"><ol>{asked}</ol></div>
<section data-card="end"><p class="aha">Two members decide what a rebalance costs: the one that it began with, and the one that was awaited. Here they are two, and those that stood still are neither.</p>
<p>What many believe: the first thing in the log is the cause; whoever is gone was dead; the longest stop is of who was slow.</p>
<p><a href="open.html">Open a log of your own</a></p></section>
</div></div>
"""
    more = f'<span class="push"><a href="{before}.html" rel="prev">◀ before</a></span>'
    return _page("Read an incident", _INCIDENT, body, ["site.js", "incident.js"], more)


def open_page() -> str:
    """Return the page for a reader's own log."""
    body = """<h1>A log of your own</h1>
<p>Choose an event log, such as <code>coordinator serve --log run.jsonl</code> or <code>coordinator simulate NAME --log run.jsonl</code> writes, or
drop it here; gzip may have packed it. It is read by this page, where it is, and goes nowhere. Then find out: which rebalance cost most, who held it up, and what would have
made it shorter? What you say is checked against the log. Two logs that are chosen or dropped together are shown side by side.</p>
<p class="drop"><label>run.jsonl <input type="file" id="file" accept=".jsonl,.json,.txt,.log,.gz" multiple></label></p>
<p><button type="button" class="primary" data-sample="simulated.jsonl">Take a sample</button> <small>Two minutes of a group of four in the simulator, in which one deployment went wrong.</small></p>
<p><button type="button" data-sample="incident.jsonl">The recorded incident</button> <small>The log of <a href="incident.html">the last lesson</a>.</small></p>
<details class="paste"><summary>Or paste the logs of your own cluster</summary>
<p>Lines of a broker's <code>GroupCoordinator</code>, of a client of any language, output of <code>kafka-consumer-groups --describe</code>, in any mix; files of them can be
dropped here too, several at once. They are read by this page and go nowhere. It says why the group rebalanced, with the lines that show it, and what these lines do not tell.</p>
<label for="pasted">The lines</label><textarea id="pasted" rows="8" spellcheck="false"></textarea>
<p><button type="button" id="tell" class="primary">Why did it rebalance?</button></p></details>
<div id="stage"><noscript><p class="problem">Reading a log needs scripts. In a terminal, <code>coordinator explain run.jsonl</code> tells the same.</p></noscript></div>
"""
    said = "Open an event log of a consumer group in the browser: what happened, why, and what it cost."
    return _page("A log of your own", said, body, ["site.js", "open.js"])


def sandbox_page(scenario: str) -> str:
    """Return the page for a reader's own scenario, which begins with this one."""
    body = f"""<h1>The sandbox</h1>
<p>A scenario says who is in a group, and what befalls them. Write one, run it beside its picture, touch the picture to change the run, and send the link on.</p>
<div id="sandbox"><noscript><p class="problem">The sandbox needs scripts. In a terminal, <code>coordinator simulate FILE</code> runs a scenario.</p></noscript>
<pre>{escape(scenario)}</pre></div>
"""
    said = "Write a scenario of a consumer group, run it in the browser, change it by hand and share it."
    return _page("The sandbox", said, body, ["site.js", "sandbox.js"])


def first_window(lesson: Lesson, width: int = 960) -> dict[str, Any]:
    """Return the part of a lesson's picture that is shown first."""
    return {
        "from": lesson.window_ms[0],
        "to": lesson.window_ms[1],
        "width": width,
        "horizon": lesson.stop_ms,
    }
