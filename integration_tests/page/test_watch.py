"""A log in the browser: live as it grows, hostile texts that stay texts, long logs whose steps come
on demand, a reader's own file."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote

import pytest
from confluent_kafka import Consumer
from playwright.sync_api import Page, Route, expect

from coordinator.events.files import read
from coordinator.kit.emulator.embedded import Emulator
from coordinator.lab.page.engine import play
from coordinator.lab.page.following import Follower
from coordinator.lab.page.lessons import SEED, load
from coordinator.lab.page.live_actions import Deeds
from coordinator.lab.page.picture import Picture
from coordinator.lab.page.server import PageServer, assets
from coordinator.lab.simulator.files.scenario import read_scenario

from .conftest import PATIENT_MS, accessible

expect.set_options(timeout=PATIENT_MS)
HOSTILE = (
    '<img src=x onerror="document.title=1">&lt;b>\u202e"\'</title><script>document.title=2</script>'
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(load("04_slowest_decides").lines[:170]) + "\n")
    return path


@pytest.fixture
def watched(log: Path) -> Iterator[PageServer]:
    served = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(log))
    served.start()
    yield served
    served.stop()


@pytest.mark.usefixtures("site")  # it has brought axe-core
def test_the_picture_grows_with_the_log(page: Page, watched: PageServer, log: Path) -> None:
    page.goto(watched.url)
    expect(page.locator("h1")).to_have_text("run.jsonl")
    cursor, whole = page.locator(".headline strong").nth(1), page.locator(".scrub")
    expect(cursor).not_to_have_text("40.000 s")
    ends = whole.get_attribute("max") or ""
    page.locator(".plot").focus()
    page.keyboard.press("Home")
    with log.open("a") as file:
        file.write("\n".join(load("04_slowest_decides").lines[170:180]) + "\n")
    expect(whole).not_to_have_attribute("max", ends)
    expect(cursor).to_have_text("0.000 s")  # it was put there, and stays
    page.keyboard.press("End")
    with log.open("a") as file:
        file.write("\n".join(load("04_slowest_decides").lines[180:]) + "\n")
    expect(cursor).to_have_text("40.000 s")
    lost_ms = load("04_slowest_decides").plain()["picture"]["groups"][0]["lost_partition_ms"]
    expect(page.locator(".headline .lost")).to_have_text(f"{lost_ms / 1000:g}")
    page.locator("details.whole summary").click()
    expect(page.locator(".tables table")).to_have_count(4)
    assert accessible(page) == []


@pytest.mark.usefixtures("site")
def test_what_comes_is_covered_predicted_and_shown_in_any_log(
    page: Page, watched: PageServer, log: Path
) -> None:
    page.goto(watched.url)
    plot = page.locator(".plot")
    plot.focus()
    for key in ("Home", "PageDown", "p"):
        page.keyboard.press(key)
    cursor = page.locator(".headline strong").nth(1)
    covered_at = cursor.inner_text()
    expect(page.locator(".covered")).to_contain_text(f"What comes after {covered_at} is covered")
    for key in ("PageDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.locator(".predictions select").select_option("app-2")
    box = plot.bounding_box()
    assert box
    plot.click(position={"x": box["width"] * 0.8, "y": box["height"] - 14})
    said = page.locator(".marked li").all_inner_texts()
    assert "happens to app-1" in said[0] and "app-2 has orders-8" in said[1]
    assert not any("In the run" in each for each in said)
    with log.open("a") as file:  # what comes stays covered, also when it comes only now
        file.write("\n".join(load("04_slowest_decides").lines[170:]) + "\n")
    expect(page.locator(".scrub")).to_have_attribute("max", re.compile(r"^\d+$"))
    plot.focus()
    for key in ("Escape", "End"):
        page.keyboard.press(key)
    expect(cursor).to_have_text(covered_at)
    assert accessible(page) == []
    page.locator(".uncover").click()
    expect(page.locator(".marked li strong")).to_have_count(2)
    expect(page.locator(".marked li strong").nth(1)).to_contain_text("has it then")
    expect(page.locator(".over .mine")).to_have_count(2)
    plot.focus()
    page.keyboard.press("End")
    expect(cursor).to_have_text("40.000 s")


def hostile(lines: list[str], name: str) -> str:
    """A log whose group, topic and first member are called so."""
    quoted = json.dumps(name)[1:-1]
    return "".join(
        line.replace("app-1", quoted)
        .replace('"orders"', json.dumps(f"<b>{name[:200]}"))
        .replace('"group":"app"', f'"group":"{quoted}"')
        + "\n"
        for line in lines
    )


@pytest.mark.parametrize(
    "name", [HOSTILE, "\u202e" + "x" * 180, "y" * 32_768], ids=["markup", "RTL", "32 KiB"]
)
def test_texts_of_clients_are_never_markup_and_widen_nothing(
    page: Page, tmp_path: Path, name: str
) -> None:
    lesson = load("01_leader_dies")
    path = tmp_path / "hostile.jsonl"
    path.write_text(hostile(play(lesson.scenario, "x", SEED, script=lesson.script), name))
    served = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(path))
    served.start()
    try:
        page.goto(served.url)
        expect(page.locator("svg.picture")).to_be_visible()
        page.locator("details.whole summary").click()
        page.locator("details.more summary").click()
        expect(page.locator(".tables table")).to_have_count(4)
        for _ in range(12):
            page.locator(".controls button", has_text="◀ step").click()
        assert page.title() == "coordinator: hostile.jsonl"
        assert page.locator("main img, main script, main b").count() == 0
        shown = page.locator("main").inner_text()
        assert name.lstrip("\u202e")[:8] in shown and "\u202e" not in shown
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    finally:
        served.stop()


def test_a_log_is_copied_into_the_simulator_and_says_what_was_guessed(
    page: Page, watched: PageServer
) -> None:
    page.goto(watched.url)
    page.locator(".make-copy").click()
    expect(page.locator("textarea.scenario")).to_have_value(re.compile(r"\[\[members\]\]"))
    expect(page.locator(".guessed li").first).to_contain_text("sessions")
    href = page.locator("a[download]").get_attribute("href")
    assert href is not None
    scenario = unquote(href.partition(",")[2])
    assert (
        len(read_scenario(scenario, "copied.toml").members) == 3
    )  # the log ends before the fourth comes
    assert accessible(page) == []


def test_what_becomes_no_log_is_told_in_a_sentence(
    page: Page, watched: PageServer, log: Path
) -> None:
    page.goto(watched.url)
    expect(page.locator("svg.picture")).to_be_visible()
    with log.open("a") as file:
        file.write("no line of a log\n")
    expect(page.locator(".problem")).to_contain_text("not JSON")


def test_steps_of_a_long_log_come_when_they_are_asked_for(
    page: Page, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coordinator.lab.page.picture.MOST_STEPS_AT_ONCE", 10)
    served = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(log))
    served.start()
    try:
        page.goto(served.url)
        expect(page.locator(".say")).not_to_be_empty()
        page.locator(".plot").focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".say")).not_to_be_empty()
    finally:
        served.stop()


def test_a_readers_own_log_is_opened_in_the_page(
    page: Page, server: PageServer, log: Path, tmp_path: Path
) -> None:
    page.goto(f"{server.url}open.html")
    page.wait_for_selector("body[data-ready]")
    assert accessible(page) == []
    page.locator("#file").set_input_files(log)
    expect(page.locator("svg.picture")).to_be_visible()
    page.locator(".make-copy").click()
    page.locator(".run-copy").click()
    expect(page.locator(".branch svg.picture")).to_be_visible()
    copied = page.locator(".branch")
    copied.locator(".mark-prediction").click()
    expect(copied.locator(".covered")).to_contain_text("What comes after 0.000 s is covered")
    expect(copied.locator("rect.future")).to_have_count(1)
    copied.locator(".uncover").click()
    expect(copied.locator("rect.future")).to_have_count(0)
    cut = tmp_path / "cut.jsonl"
    cut.write_text(log.read_text() + '{"seq": 171, "at_')
    page.locator("#file").set_input_files(cut)
    expect(
        page.get_by_text("The last line of cut.jsonl was cut short; it is left out.")
    ).to_be_visible()
    expect(page.locator("svg.picture")).to_be_visible()
    other = tmp_path / "notes.txt"
    other.write_text("this is no log\n")
    page.locator("#file").set_input_files(other)
    expect(page.locator(".problem")).to_contain_text("not JSON")
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    page.locator("#file").set_input_files(packed)
    expect(page.locator("svg.picture")).to_be_visible()
    damaged = tmp_path / "damaged.jsonl.gz"
    damaged.write_bytes(packed.read_bytes()[:2] + b"no gzip follows")
    page.locator("#file").set_input_files(damaged)
    expect(page.locator(".problem")).to_contain_text("damaged, or cut short")
    packed.write_bytes(gzip.compress(log.read_bytes() * 20)[:-8])  # without its length and sum
    page.locator("#file").set_input_files(packed)
    expect(page.locator("svg.picture")).to_be_visible()
    expect(page.get_by_text("what could be read of it is shown")).to_be_visible()
    lines = log.read_text().splitlines()
    other.write_text("\n".join([*lines[:90], "hello", *lines[90:]]) + "\n")
    page.locator("#file").set_input_files(other)
    expect(page.get_by_text("1 line is left out; the first: notes.txt, line 91")).to_be_visible()
    expect(page.locator("svg.picture")).to_be_visible()


@pytest.mark.usefixtures("engine")
def test_a_long_log_of_a_reader_is_drawn_while_it_is_read(
    page: Page, server: PageServer, log: Path, tmp_path: Path
) -> None:
    """Its last lines come long after the first: a picture is there meanwhile, and answers."""
    text = log.read_text()
    last = json.loads(text.splitlines()[-1])
    long = tmp_path / "long.jsonl"
    with long.open("w") as file:
        file.write(text)
        for more in range(1, 20_000):
            line = {**last, "seq": last["seq"] + more, "at_ms": last["at_ms"] + more}
            file.write(json.dumps(line | {"cause": None}) + "\n")
    page.goto(f"{server.url}open.html")
    page.wait_for_selector("body[data-ready]")
    page.evaluate(
        """() => { globalThis.seen = []; new MutationObserver(() => {
            const said = document.querySelector(".reading");
            if (said && document.querySelector("svg.picture")) seen.push(said.textContent); }).observe(
            document.getElementById("stage"), {childList: true, subtree: true, characterData: true}); }"""
    )
    page.locator("#file").set_input_files(long)
    page.wait_for_selector(".make-copy")
    seen = list(dict.fromkeys(page.evaluate("seen")))
    assert len(seen) > 1 and all("The log is being read: " in each for each in seen)
    expect(page.locator(".reading")).to_have_count(0)
    page.locator(".plot").focus()
    page.keyboard.press("End")
    expect(page.locator(".say")).not_to_be_empty()


@pytest.fixture
def served() -> Iterator[tuple[Emulator, PageServer]]:
    """A live emulator, and its page, whose reader may act."""
    with (
        TemporaryDirectory() as folder,
        Emulator({"orders": 4}, log=f"{folder}/run.jsonl") as kafka,
    ):
        assert kafka.log_path is not None
        page = PageServer(
            "127.0.0.1",
            0,
            assets(),
            "watch.html",
            Follower(kafka.log_path),
            address=kafka.bootstrap_servers,
            acting=kafka.run(lambda: Deeds(kafka)),
        )
        page.start()
        yield kafka, page
        page.stop()


@pytest.fixture
def consumer(served: tuple[Emulator, PageServer]) -> Iterator[Callable[[], None]]:
    """Starts a consumer of confluent-kafka, which polls until the test is over."""
    over, threads = Event(), []

    def consume() -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": served[0].bootstrap_servers,
                "group.id": "billing",
                "client.id": "cart",
                "heartbeat.interval.ms": 100,
            }
        )
        consumer.subscribe(["orders"])
        while not over.is_set():
            consumer.poll(0.05)
        consumer.close()

    def start() -> None:
        threads.append(Thread(target=consume))
        threads[-1].start()

    yield start
    over.set()
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("site")
def test_a_live_group_is_acted_on_by_keyboard_and_pointer(
    page: Page, served: tuple[Emulator, PageServer], consumer: Callable[[], None]
) -> None:
    kafka, live = served
    page.goto(live.url_to_act)
    expect(page.locator(".address")).to_have_text(kafka.bootstrap_servers)
    assert page.url == live.url, "the token is taken out of the address"
    assert accessible(page) == []
    consumer()
    before = kafka.group("billing").wait(members=1, assigned="all", timeout=PATIENT_MS / 1000)
    expect(page.locator(".labels")).to_contain_text("cart")
    page.locator(".span").select_option("30000")
    page.locator(".plot").focus()
    page.locator(".plot").click(position={"x": 300, "y": 112})
    expect(page.locator(".acts .menu strong")).to_have_text("A cart, now")
    expect(page.locator(".acts .menu button").first).to_be_focused()
    assert accessible(page) == []
    page.keyboard.press("Escape")
    expect(page.locator(".acts .menu")).to_have_count(0)
    page.locator(".plot").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".acts [data-do=expire]")).to_be_focused()
    page.keyboard.press("Enter")  # the first of them: its session expires
    kafka.wait_for("MemberRemoved", reason="session expired", since=0, timeout=PATIENT_MS / 1000)
    kafka.group("billing").wait(
        members=1, generation_above=before.generation, timeout=PATIENT_MS / 1000
    )
    expect(page.locator(".mark.removed")).not_to_have_count(0)
    expect(page.locator(".labels .swatch")).to_have_count(2)  # it came back with another id
    page.locator(".plot").click(position={"x": 300, "y": 156})
    expect(page.locator(".acts .menu strong")).to_contain_text("B cart-")
    page.locator(".acts [data-do=pause]").click()  # once it is a member
    expect(page.locator(".in-force li")).to_contain_text("cart: pause it")
    kafka.wait_for("FaultInjected", since=0, timeout=PATIENT_MS / 1000)
    page.locator(".in-force button").click()
    expect(page.locator(".in-force")).to_have_count(0)
    assert not kafka.faults()


@pytest.mark.usefixtures("site")
def test_a_menu_that_opens_before_the_server_has_answered_has_its_first_deed_in_focus(
    page: Page, served: tuple[Emulator, PageServer], consumer: Callable[[], None]
) -> None:
    kafka, live = served
    consumer()
    kafka.group("billing").wait(members=1, assigned="all", timeout=PATIENT_MS / 1000)
    held: list[Route] = []
    opened = False

    def hold(route: Route) -> None:
        if opened:
            route.continue_()
        else:
            held.append(route)

    page.route("**/acts", hold)
    page.goto(live.url_to_act)
    expect(page.locator(".labels")).to_contain_text("cart")
    page.locator(".plot").click(position={"x": 300, "y": 112})
    expect(page.locator(".acts [data-do=nothing]")).to_be_focused()
    opened = True
    while held:
        held.pop().continue_()
    expect(page.locator(".acts [data-do=expire]")).to_be_focused()


@pytest.mark.usefixtures("site")
def test_a_menu_stays_while_the_answer_to_an_earlier_deed_comes(
    page: Page, served: tuple[Emulator, PageServer], consumer: Callable[[], None]
) -> None:
    """The button that is pressed is the one that was there before the answer: a pointer may go down
    before it comes, and up after it."""
    kafka, live = served
    consumer()
    group = kafka.group("billing")
    before = group.wait(members=1, assigned="all", timeout=PATIENT_MS / 1000)
    page.goto(live.url_to_act)
    expect(page.locator(".labels")).to_contain_text("cart")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "POST" and not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/acts", hold)
    page.locator(".plot").click(position={"x": 300, "y": 112})
    page.locator(".acts [data-do=refuse_commit]").click()
    page.wait_for_function("document.querySelector('.acts .menu') === null")
    page.locator(".plot").click(position={"x": 300, "y": 112})
    menu = page.locator(".acts .menu").element_handle()
    plot = page.locator(".plot").element_handle()
    (route,) = held
    route.continue_()
    expect(page.locator(".acts .live")).to_have_text("Done: cart: refuse its next commit.")
    there = page.evaluate("([one, other]) => one.isConnected && other.isConnected", [menu, plot])
    assert there, "neither the menu nor the picture is made anew"
    assert page.locator(".acts [data-do=refuse_commit]").count() == 0  # it is in force
    page.locator(".acts [data-do=expire]").click()
    group.wait(generation_above=before.generation, timeout=PATIENT_MS / 1000)


def offered(page: Page, y: int) -> list[str]:
    """What can be done to what stands at a height of the picture."""
    page.locator(".plot").click(position={"x": 300, "y": y})
    page.locator(".acts .menu [data-do=nothing]:enabled").wait_for()
    page.wait_for_function("document.querySelector('.acts .menu button').dataset.do !== 'nothing'")
    texts = page.locator(".acts .menu button")
    found: list[str] = texts.evaluate_all("(all) => all.map((each) => each.dataset.do)")
    page.keyboard.press("Escape")
    return found[:-1]


@pytest.mark.usefixtures("site")
def test_only_what_can_act_is_offered(page: Page, tmp_path: Path) -> None:
    """Of a KIP-848 group no common rebalance, of a share group no refused commit."""
    log = tmp_path / "run.jsonl"
    with Emulator({"orders": 4, "jobs": 1}, brokers=2, log=log) as kafka:
        kafka.peer("classic", ["orders"])
        kafka.peer("consumer", ["orders"], config={"group.protocol": "consumer"})
        kafka.share_peer("share", topics=["jobs"])
        for name in ("classic", "consumer", "share"):
            kafka.group(name).wait(members=1, state="Stable")
        acting = kafka.run(lambda: Deeds(kafka))
        live = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(log), acting=acting)
        live.start()
        try:
            page.goto(live.url_to_act)
            found = {}
            for name in ("classic", "consumer", "share"):
                page.locator(".groups button", has_text=name).click()
                expect(page.locator(".groups [aria-current]")).to_contain_text("1 member")
                expect(page.locator(".groups [aria-current]")).to_contain_text(name)
                found[name] = (offered(page, 112), offered(page, 40))
        finally:
            live.stop()
    member = ["expire", "remove", "pause", "cut"]
    assert found == {
        "classic": ([*member, "refuse_commit"], ["rebalance", "move_coordinator"]),
        "consumer": ([*member, "refuse_commit"], ["move_coordinator"]),
        "share": (member, ["move_coordinator"]),
    }


def test_another_page_in_the_same_browser_changes_nothing(
    page: Page,
    server: PageServer,
    served: tuple[Emulator, PageServer],
    consumer: Callable[[], None],
) -> None:
    kafka, live = served
    consumer()
    group = kafka.group("billing")
    before = group.wait(members=1, assigned="all", timeout=PATIENT_MS / 1000)
    member = before.members[0].member_id
    body = json.dumps({"do": "remove", "group": "billing", "member": member})
    page.goto(server.url)  # another port is another origin
    attempts = """async ([url, token, body]) => {
      const tries = [{ mode: "no-cors" }, { mode: "no-cors", headers: { "Content-Type": "text/plain" } },
        { headers: { "Content-Type": "application/json", "X-Page-Token": token } }, { headers: { "Content-Type": "application/json" } }];
      const asked = (each) => fetch(`${url}acts`, { method: "POST", body, ...each });
      return Promise.all(tries.map((each) => asked(each).then((answer) => answer.type, () => "failed")));
    }"""
    assert live.acting is not None
    seen = page.evaluate(attempts, [live.url, live.acting.token, body])
    assert set(seen) <= {"failed", "opaque"}  # this page's own policy forbids them, too
    direct = page.context.request.post(
        f"{live.url}acts", data=body, headers={"Content-Type": "application/json"}
    )
    assert direct.status == 403
    page.set_content(f'<iframe src="{live.url}"></iframe>')
    expect(page.frame_locator("iframe").locator("#stage")).to_have_count(0)
    assert group.snapshot().generation == before.generation
    assert not kafka.events("MemberRemoved")


def test_many_members_and_hours_stay_readable(page: Page, tmp_path: Path) -> None:
    """Who does not live in the window has no lane, and a busy window is drawn as some hundred
    shapes."""
    scenario = """
duration = "3h"
[topics]
orders = 20
[[members]]
name = "app"
count = 20
topics = "orders"
assignor = "range"
reads = 0
[[churn]]
kind = "poisson"
members = "app"
arrivals_per_hour = 30
departures_per_hour = 30
"""
    path = tmp_path / "busy.jsonl"
    path.write_text("\n".join(play(scenario, "busy", SEED)) + "\n")
    served = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(path))
    served.start()
    try:
        page.goto(served.url)
        expect(page.locator(".raster.dense")).to_have_count(1)
        assert page.evaluate("document.querySelectorAll('svg.picture *').length") < 2_000
        lanes = page.locator(".labels .swatch").count()
        expect(page.locator(".crowd")).to_have_count(1)
        page.locator(".span").select_option("60000")
        expect(page.locator(".raster.dense")).to_have_count(0)
        assert 0 < page.locator(".labels .swatch").count() < lanes
        expect(page.locator(".labels")).to_contain_text(" more")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    finally:
        served.stop()


@pytest.fixture
def three_clocks(tmp_path: Path) -> Iterator[PageServer]:
    """A log in which one member leaves, one is killed, one freezes and one stops polling."""
    path = tmp_path / "three_clocks.jsonl"
    path.write_text("\n".join(load("05_three_clocks").lines) + "\n")
    served = PageServer("127.0.0.1", 0, assets(), "watch.html", Follower(path))
    served.start()
    yield served
    served.stop()


@pytest.mark.usefixtures("site")  # it has brought axe-core
def test_a_log_begins_with_its_verdict_and_a_link_leads_to_an_instant(
    page: Page, three_clocks: PageServer
) -> None:
    """The costliest rebalance comes first, a click puts the cursor there, and the address leads
    whoever opens it to the same instant."""
    page.goto(three_clocks.url)
    rows = page.locator(".verdict li")
    expect(page.locator(".verdict p strong")).to_be_visible()
    costs = [float(each) for each in rows.locator("strong.lost").all_text_contents()]
    assert costs == sorted(costs, reverse=True)
    button = rows.first.locator("button")
    at = button.text_content()
    button.click()
    expect(page.locator(".headline strong").nth(1)).to_have_text(at or "")
    expect(page).to_have_url(re.compile(r"#at=\d+&group="))
    page.locator(".verdict .cause").select_option("a member left")
    for row in rows.all_text_contents():
        assert " left" in row
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".headline strong").nth(1)).to_have_text(at or "")
    assert accessible(page) == []


def _in_words(group: dict[str, Any]) -> str:
    """The time that a group lost, as the page tells it."""
    most_ms, silent_ms = group["lost_partition_ms"], group["silent_partition_ms"]
    least, most = (f"{ms / 1000:g}" for ms in (most_ms - silent_ms, most_ms))
    return most if least == most else f"{least} to {most}"


def _is_a_pair(page: Page, logs: Sequence[Path]) -> None:
    """Both logs are there, with what they lost; one cursor and one window serve both."""
    expect(page.locator(".pair .one svg.picture")).to_have_count(2)
    for at, log in enumerate(logs):
        (group,) = Picture(read(log)).plain()["groups"]
        told = page.locator(".compare tbody tr").first.locator("td").nth(at)
        expect(told).to_have_text(_in_words(group))
    for at in (0, 1):
        button = page.locator(".pair .one").nth(at).locator(".verdict li button").first
        button.click()
        cursors = page.locator(".pair .headline").locator("strong:nth-of-type(2)")
        expect(cursors).to_have_text([button.text_content() or ""] * 2)
    page.locator(".pair .plot").nth(1).focus()
    page.keyboard.press("+")
    ticks = [
        one.locator("svg .axis text").all_text_contents()
        for one in page.locator(".pair .stage").all()
    ]
    assert ticks[0] == ticks[1]


@pytest.fixture
def two_logs(tmp_path: Path) -> list[Path]:
    """A lesson's run, and that of its first try."""
    lesson = load("04_slowest_decides")
    paths = [tmp_path / "eager.jsonl", tmp_path / "cooperative.jsonl"]
    for path, lines in zip(paths, (lesson.lines, lesson.tries[0].lines), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


@pytest.mark.usefixtures("site")  # it has brought axe-core
def test_two_logs_are_shown_side_by_side_and_a_link_keeps_the_instant(
    page: Page, two_logs: list[Path]
) -> None:
    one, other = map(Follower, two_logs)
    served = PageServer("127.0.0.1", 0, assets(), "watch.html", one, beside=other)
    served.start()
    try:
        page.goto(served.url)
        _is_a_pair(page, two_logs)
        expect(page).to_have_url(re.compile(r"#at=\d+&group=\w+&beside=\w+"))
        link, at = page.url, page.locator(".headline strong").nth(1).text_content()
        page.goto("about:blank")
        page.goto(link)
        expect(page.locator(".headline strong").nth(1)).to_have_text(at or "")
        assert accessible(page) == []
        with two_logs[1].open("a") as file:
            file.write('{"seq": "no number"}\n')
        expect(page.locator(".problem")).to_contain_text("cooperative.jsonl")
    finally:
        served.stop()


@pytest.mark.usefixtures("engine")
def test_two_logs_that_are_dropped_together_are_shown_side_by_side(
    page: Page, server: PageServer, two_logs: list[Path], tmp_path: Path
) -> None:
    page.goto(f"{server.url}open.html")
    page.wait_for_selector("body[data-ready]")
    page.locator("#file").set_input_files(two_logs)
    _is_a_pair(page, two_logs)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("no log\n")
    page.locator("#file").set_input_files([two_logs[0], broken])
    expect(page.locator(".problem")).to_contain_text("broken.jsonl")
