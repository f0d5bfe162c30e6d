// @ts-check
/** A lesson: its recorded run until the question, a prediction marked on the picture, the answer, and runs with something changed. */
import { Component, createPortal, render } from "./vendor/preact.mjs";
import { Abreast } from "./abreast.js";
import { AsFile } from "./asfile.js";
import { ask } from "./engine.js";
import { unpacked } from "./packed.js";
import { keepFitting } from "./fit.js";
import { Predicting } from "./predicting.js";
import { see } from "./progress.js";
import { Menu } from "./touch.js";
import { Stage } from "./stage.js";
import { fromHash, toHash } from "./url.js";
import { html } from "./view.js";
import { NAMES, WhatIf, told } from "./whatif.js";

const TEACH = new URLSearchParams(location.search).has("teach");

class Lesson extends Component {
  /** @param {any} props */
  constructor(props) {
    super(props);
    const { lesson } = props;
    /** @type {any} */
    this.state = { revealed: false, guess: null, now: lesson.stop_ms, branches: [], count: 0, busy: false, problem: "", spoken: "",
      member: lesson.picture.groups[0]?.lanes[0]?.name ?? "", marks: [], sides: null, onto: null, link: "", without: [], card: "question", touched: null };
    this.small = matchMedia("(max-width: 48rem)").matches;
    this.open = this.small && lesson.lanes.length ? new Set(lesson.lanes) : undefined;
    /** @type {{name: string, settings: string[]}[]} */
    this.choices = [...lesson.choices.slice(0, 1), ...lesson.variants, ...lesson.choices.slice(1)];
  }

  componentDidMount() {
    this.show("question");
    const setting = /** @type {HTMLDetailsElement|null} */ (document.querySelector(".setting"));
    if (setting && this.small) setting.open = false;
    document.getElementById("share")?.addEventListener("click", () => this.copy());
    const answer = /** @type {HTMLDetailsElement} */ (document.getElementById("answer"));
    const question = /** @type {HTMLElement} */ (document.getElementById("question"));
    question.addEventListener("change", (event) => {
      const chosen = /** @type {HTMLInputElement} */ (event.target).value;
      this.setState({ guess: this.props.lesson.options.find((/** @type {any} */ each) => each.id === chosen) ?? null });
    });
    answer.addEventListener("toggle", () => answer.open && this.reveal());
    document.getElementById("reveal")?.addEventListener("click", () => {
      answer.open = true;
    });
    for (const each of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-try]"))) each.addEventListener("click", () => this.attempt(each.dataset.try ?? ""));
    this.follow();
    addEventListener("hashchange", () => this.follow());
  }

  /** Run what the link says. */
  async follow() {
    const { lesson, version } = this.props;
    try {
      const shared = await fromHash(location.hash);
      if (!shared) return;
      // the cursor goes there at once: while the runs are made the reader may already move on
      this.setState({ branches: [], onto: null, link: "", now: Math.max(0, Math.min(shared.now, lesson.picture.end_ms)), marks: shared.marks ?? [] });
      if (shared.v !== version) this.setState({ link: `This link was made with version ${shared.v}; this site has ${version}. The run may differ: compare it with what you were told to see.` });
      const runs = [...(shared.earlier ?? []), shared].filter((each) => each.actions.length || each.settings.length || each.without?.length);
      for (const [at, each] of runs.entries()) await this.branch(runs.length > 1 ? `from the link, ${at + 1}` : "from the link", each.actions, each.settings, each.without);
      this.setState({ sides: shared.sides ?? null });
    } catch (error) {
      this.setState({ link: `This link is damaged (${/** @type {Error} */ (error).message}): ask for it again, or begin with the lesson as it stands.` });
    }
  }

  reveal() {
    if (this.state.revealed) return;
    const { lesson } = this.props, guess = this.state.guess;
    const verdict = document.getElementById("verdict");
    if (verdict) {
      verdict.textContent = guess ? (guess.id === lesson.answer ? "As you said:" : `You said: ${guess.text} The run shows:`) : "";
      verdict.classList.toggle("yes", guess?.id === lesson.answer);
    }
    this.setState({ revealed: true });
    see(lesson.slug, guess?.id === lesson.answer);
    this.show("answer");
    this.playOn();
  }

  /** Show one part of the lesson. @param {string} card */
  show(card) {
    document.body.dataset.card = card;
    this.setState({ card }, () => this.keepFocus(card));
  }

  /** Where the element that had the focus is gone, the part that is shown now has it. @param {string} card */
  keepFocus(card) {
    const part = /** @type {HTMLElement|null} */ (document.querySelector(`section[data-card=${card}]`)), had = document.activeElement;
    if (!this.state.revealed || !part || (had !== document.body && had?.checkVisibility())) return;
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  }

  /** The picture plays on from the question to what was asked about; where less motion is wanted it is there at once. */
  playOn() {
    const { lesson } = this.props, from = lesson.stop_ms, to = lesson.truth_ms;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.setState({ now: from }, () => this.setState({ now: to }));  // a link may have put the cursor beyond the question
      return;
    }
    const begun = performance.now(), lasts = 2500;
    const turn = (/** @type {number} */ time) => {
      const part = Math.min(1, (time - begun) / lasts), now = Math.round(from + (to - from) * (1 - (1 - part) ** 2));
      if (part < 1 && this.moved) return;
      this.setState({ now });
      if (part < 1) requestAnimationFrame(turn);
    };
    this.moved = false;
    requestAnimationFrame(turn);
  }

  async copy() {
    await this.share();
    try {
      await navigator.clipboard.writeText(location.href);
      this.setState({ spoken: "The link is copied." });
    } catch {
      this.setState({ spoken: "The link stands in the address of this page." });
    }
  }

  get notes() {
    const { lesson } = this.props, { guess, revealed } = this.state, lanes = lesson.picture.groups[0]?.lanes ?? [];
    const lane = (/** @type {string|null} */ name) => { const found = lanes.find((/** @type {any} */ each) => each.name === name); return found ? { lane: found.index } : {}; };
    const notes = [];
    if (guess) notes.push({ kind: "guess", at_ms: lesson.stop_ms, text: "? your prediction", ...lane(guess.lane) });
    if (revealed) notes.push({ kind: "truth", at_ms: lesson.truth_ms, text: lesson.truth, ...lane(lesson.truth_lane) });
    return notes;
  }

  /** The lesson's own actions without those that are left out. @param {number[]} without */
  script(without) {
    return this.props.lesson.script.filter((/** @type {any} */ _, /** @type {number} */ at) => !without.includes(at));
  }

  /** @param {string} name @param {any[]} actions @param {string[]} settings @param {number[]} without @param {any} beside the branch that it was made from */
  async branch(name, actions, settings, without = [], beside = { actions: [], settings: [] }) {
    const { lesson } = this.props, before = { actions: beside.actions, settings: beside.settings, script: this.script(beside.without ?? []) };
    this.setState({ busy: true, problem: "", spoken: "The engine runs." });
    try {
      const { picture, changed, offers } = await ask({ op: "play", as: name, scenario: lesson.scenario, name: lesson.slug, seed: lesson.seed, actions, settings, script: this.script(without), beside: before, window_ms: lesson.window_ms });
      this.grown({ name, actions, settings, without, picture, changed, offers });
      return true;
    } catch (error) {
      this.setState({ busy: false, problem: /** @type {Error} */ (error).message, spoken: "" });
      return false;
    }
  }

  /** One run more. @param {any} branch @param {() => void} [then] once it is there */
  grown(branch, then) {
    this.setState({ branches: [...this.state.branches, branch], onto: null, count: this.state.count + 1, busy: false, spoken: `${branch.name} is there. ${branch.changed.join(" ")}` }, () => { this.bring(); then?.(); });
  }

  /** The newest run's picture comes into view, once it is as high as it will be; on a small screen the end of it, so that both pictures are there. */
  bring() {
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector(".left .branch")?.scrollIntoView({ block: this.small ? "end" : "nearest" })));
  }

  /** Carry out what the lesson says to try: its run was recorded with the lesson's. @param {string} id */
  async attempt(id) {
    const { lesson } = this.props, { text, says, ...run } = lesson.tries.find((/** @type {any} */ each) => each.id === id);
    const { branches } = this.state, there = branches.find((/** @type {any} */ each) => each.name === text);
    if (there) {
      this.setState({ branches: [...branches.filter((/** @type {any} */ each) => each !== there), there], now: there.truth_ms }, () => { this.bring(); this.share(); });
      return;
    }
    try {
      this.grown({ ...run, ...await unpacked(`${lesson.slug}.${id}`), name: text, says }, () => this.share());
      this.moved = true;
      this.setState({ now: run.truth_ms });
    } catch (error) {
      this.setState({ problem: `The run could not be loaded (${error}).` });
    }
  }

  /** The branch that the next action forks from: the last one until another is chosen; none for the lesson's run. */
  get onto() {
    const { branches, onto } = this.state;
    return onto === "" ? undefined : branches.find((/** @type {any} */ each) => each.name === onto) ?? branches.at(-1);
  }

  /** @param {any} action */
  async act(action) {
    const onto = this.onto, actions = [...(onto?.actions ?? []), ...(action ? [action] : [])], settings = onto?.settings ?? [];
    const without = [...new Set([...(onto?.without ?? []), ...this.state.without])];
    if (await this.branch(`branch ${this.state.count + 1}`, actions, settings, without, onto)) this.share();
  }

  /** Put into the address what would show this again: all branches, or the newest alone where all would be too long. */
  async share() {
    const { now, sides, marks, branches } = this.state, { version, lesson } = this.props;
    const earlier = branches.slice(0, -1), { actions, settings, without } = branches.at(-1) ?? { actions: [], settings: [], without: [] };
    const newest = { v: version, seed: lesson.seed, settings, actions, now, sides, marks, without };
    try {
      const hash = await toHash({ ...newest, earlier }).catch(() => toHash(newest));
      history.replaceState(null, "", hash);
    } catch (error) {
      this.setState({ problem: /** @type {Error} */ (error).message });
    }
  }

  /** The menu of the chosen member opens, if that was asked for. @param {KeyboardEvent} event @param {any[]} lanes @param {any} [branch] */
  entered(event, lanes, branch) {
    const { revealed, now, member } = this.state;
    if (event.key !== "Enter" || !revealed) return false;
    this.touch({ ms: now, slack: 0, lane: lanes.findIndex((/** @type {any} */ lane) => lane.name === member) }, 120, 120, branch);
    return true;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const { revealed } = this.state, { lanes } = this.props.lesson.picture.groups[0];
    if (this.entered(event, lanes)) return true;
    if (event.key.toLowerCase() !== "b" || !revealed) return false;
    document.body.dataset.card = "change";
    this.setState({ card: "change" }, () => /** @type {HTMLElement|null} */ (document.querySelector(".abreast select"))?.focus());
    return true;
  }

  render() {
    const { lesson } = this.props, { revealed, now, marks, link, branches } = this.state, [from, to] = lesson.window_ms;
    const pick = (/** @type {string} */ name) => this.setState({ member: name }), newest = branches.at(-1), below = newest && this.run(newest, pick);
    const [begin, wide] = newest?.window_ms ?? [from, to];
    return html`<div>
      ${link && html`<p class="problem" role="alert">${link}</p>`}
      <${Predicting} picture=${lesson.picture} marks=${marks} revealed=${revealed}
        onMarks=${(/** @type {import("./predict.js").Mark[]} */ next) => this.setState({ marks: next }, () => this.share())}
        stage=${{ from, to: Math.max(to, wide), now, since: from, whole: newest && { from: begin, to: wide }, seq: lesson.truth_seq, horizon: revealed ? undefined : lesson.stop_ms, notes: this.notes, name: lesson.title, onPick: pick, below, compact: Boolean(below) || (this.small && revealed), menu: this.menu(),
          onTouch: revealed ? (/** @type {any} */ spot, /** @type {number} */ x, /** @type {number} */ y) => this.touch(spot, x, y) : undefined,
          open: revealed ? undefined : this.open,
          onCursor: (/** @type {number} */ at) => { this.moved = true; if (at !== this.state.now) this.setState({ now: at }); }, onKey: (/** @type {KeyboardEvent} */ event) => this.pressed(event) }} />
      ${createPortal(this.change(pick), /** @type {Element} */ (document.getElementById("change")))}
      ${createPortal(this.pager(), /** @type {Element} */ (document.getElementById("pager")))}
      ${createPortal(this.runs(pick), /** @type {Element} */ (document.getElementById("runs")))}
    </div>`;
  }

  /** @param {import("./stage.js").Spot} spot @param {number} x @param {number} y @param {any} [branch] the run whose picture was touched; none: the lesson's */
  touch(spot, x, y, branch) {
    const wide = document.getElementById("stage")?.clientWidth ?? 640, on = branch && { onto: branch.name };
    this.setState({ ...on, touched: { branch: branch?.name, at_ms: Math.max(0, spot.ms), lane: spot.lane, row: spot.row, x: Math.max(0, Math.min(x + 8, wide - 300)), y: y + 8 } });
  }

  /** What can be done to what was touched in a run's picture, if something was. @param {any} [branch] */
  menu(branch) {
    const { touched, busy, branches } = this.state, { picture, offers } = branch ?? this.props.lesson;
    if (!touched || touched.branch !== branch?.name) return null;
    const close = () => this.setState({ touched: null });
    return html`<${Menu} key=${`${touched.at_ms} ${touched.lane} ${touched.row}`} touched=${touched} group=${picture.groups[0]} offers=${offers} busy=${busy} undo=${branches.length > 0} onClose=${close}
      onAct=${(/** @type {any} */ action) => { close(); this.show("change"); this.act(action); }}
      onUndo=${() => { close(); this.setState({ branches: branches.slice(0, -1) }, () => this.share()); }} />`;
  }

  /** The way through the lesson: one idea after another. */
  pager() {
    const { revealed, card } = this.state;
    const newest = this.state.branches.at(-1), said = newest && html`<div class="said-of"><strong>${newest.name}</strong>${!this.small && this.said(newest)}
      <${AsFile} key=${newest.name} seed=${this.props.lesson.seed} ask=${(/** @type {string} */ op) => this.file(op, newest)} /></div>`;
    if (!revealed) return said;
    const cards = [["question", "Question"], ["answer", "Answer"], ["why", "Why"], ["try", "Try"], ["change", "Change it"]], next = cards[cards.findIndex(([id]) => id === card) + 1];
    for (const each of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-try]"))) each.setAttribute("aria-pressed", String(each.textContent === newest?.name));
    return html`${said}<nav class="pager" aria-label="parts of the lesson">${cards.map(([id, text]) => html`<button type="button" data-to=${id} aria-current=${card === id ? "step" : undefined} onClick=${() => this.show(id)}>${text}</button>`)}
      ${next && html`<button type="button" class="next" aria-label=${next[1]} onClick=${() => this.show(next[0])}><span class="word">${next[1]} </span>▶</button>`}</nav>`;
  }

  /** What may be changed. @param {(name: string) => void} pick */
  change(pick) {
    const { lesson } = this.props, { revealed, now, branches, busy, member } = this.state;
    if (!revealed) return null;
    return html`<${WhatIf} offers=${this.onto?.offers ?? lesson.offers} lanes=${(this.onto?.picture ?? lesson.picture).groups[0].lanes} script=${lesson.script} without=${this.state.without} member=${member} now=${now}
        onWithout=${(/** @type {number[]} */ without) => this.setState({ without })} busy=${busy} branches=${branches.map((/** @type {any} */ each) => each.name)} onto=${this.onto?.name ?? ""}
        onOnto=${(/** @type {string} */ name) => this.setState({ onto: name })} onPick=${pick} onRun=${(/** @type {any} */ action) => this.act(action)} />
      ${lesson.variants.length > 0 && html`<p class="tools">The same churn with other settings: ${lesson.variants.map((/** @type {any} */ each) => html`
        <button type="button" disabled=${busy} onClick=${async () => { if (await this.branch(each.name, [], each.settings)) this.share(); }}>${each.name}</button>`)}</p>`}`;
  }

  /** A run with something changed. @param {any} each @param {(name: string) => void} pick */
  run(each, pick) {
    const { lesson } = this.props, { branches, now } = this.state, [from, to] = lesson.window_ms;
    return html`<section class="branch" aria-label=${each.name} key=${each.name}>
      <h2>${each.name} <button type="button" onClick=${() => this.setState({ branches: branches.filter((/** @type {any} */ other) => other !== each) }, () => this.share())}>remove</button></h2>
      ${(this.small || each !== branches.at(-1)) && this.said(each)}
      <${Stage} picture=${each.picture} from=${from} to=${Math.max(to, each.window_ms?.[1] ?? to)} now=${now} since=${from} name=${each.name} bare=${true} compact=${true}
        whole=${{ from: each.window_ms?.[0] ?? from, to: each.window_ms?.[1] ?? to, before: lesson.picture }} seq=${each.truth_seq} notes=${this.done(each)} onPick=${pick} menu=${this.menu(each)}
        onTouch=${(/** @type {any} */ spot, /** @type {number} */ x, /** @type {number} */ y) => this.touch(spot, x, y, each)} onKey=${(/** @type {KeyboardEvent} */ event) => this.entered(event, each.picture.groups[0].lanes, each)} /></section>`;
  }

  /** What was done in a run, and what its sentence is about, as marks. @param {any} each */
  done({ actions, picture, truth, truth_ms, truth_lane }) {
    const { lanes } = picture.groups[0], lane = (/** @type {string|undefined} */ name) => { const found = lanes.find((/** @type {any} */ other) => other.name === name); return found ? { lane: found.index } : {}; };
    const notes = actions.map((/** @type {any} */ action) => ({ kind: "action", at_ms: action.at_ms, text: NAMES[action.kind] ?? action.kind, ...lane(action.member) }));
    return truth ? [...notes, { kind: "truth", at_ms: truth_ms, text: truth, ...lane(truth_lane) }] : notes;
  }

  /** What a run changed, in words. @param {any} each */
  said(each) {
    return html`${each.says && html`<p class="says">${each.says}</p>`}
      ${each.actions.length > 0 && !each.says && html`<p class="done">${each.actions.map(told).join("; ")}</p>`}
      <p class="changed">${each.changed.join(" ")}</p>`;
  }

  /** A run as a file: a scenario or a test. @param {string} op @param {any} each */
  file(op, { actions, settings, without = [] }) {
    const { lesson } = this.props;
    return ask({ op, seed: lesson.seed, scenario: lesson.scenario, name: lesson.slug, actions, settings, script: this.script(without) });
  }

  /** The older runs, newest first, and two settings side by side. @param {(name: string) => void} pick */
  runs(pick) {
    const { lesson } = this.props, { revealed, now, branches, problem, spoken, sides, card } = this.state;
    return html`<div>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <p class="live" aria-live="polite">${spoken}</p>
      ${((revealed && card === "change") || sides) && html`<${Abreast} lesson=${lesson} choices=${this.choices} sides=${sides} actions=${branches.at(-1)?.actions ?? []} now=${now}
        onSides=${(/** @type {any} */ next) => this.setState({ sides: next }, () => this.share())} onCursor=${(/** @type {number} */ at) => this.setState({ now: at })} />`}
      ${branches.slice(0, -1).reverse().map((/** @type {any} */ each) => this.run(each, pick))}
    </div>`;
  }
}

const place = document.getElementById("stage");
for (const each of ["present", "embed"]) document.body.classList.toggle(each, new URLSearchParams(location.search).has(each));
keepFitting();
if (TEACH) document.body.classList.add("teach");
if (place) {
  try {
    const lesson = await unpacked(place.dataset.lesson ?? "");
    place.replaceChildren();
    render(html`<${Lesson} lesson=${lesson} version=${place.dataset.version} />`, place);
    document.body.dataset.ready = "yes";
  } catch (error) {
    place.insertAdjacentText("afterbegin", `The run of this lesson could not be loaded (${error}). Serve the folder, for example with \`coordinator lessons DIR\`; a page opened from a file cannot load it.`);
  }
}
