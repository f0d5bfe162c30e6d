// @ts-check
/** The front page: a recorded group that moves at once, and goes on as the reader acts on it; which lessons the reader has seen. */
import { Component, render } from "./vendor/preact.mjs";
import { ask } from "./engine.js";
import { unpacked } from "./packed.js";
import { seen } from "./progress.js";
import { Space, present } from "./space.js";
import { at, html, letter, lostUntil, number } from "./view.js";
import { told } from "./whatif.js";
import { why } from "./why.js";

const CALM = matchMedia("(prefers-reduced-motion: reduce)");
/** Milliseconds of the run that pass in one of the reader's. */
const SPEED = 1.5;
const BUTTONS = /** @type {[string, string, any][]} */ ([["join", "+ add a member", {}], ["close", "stop", {}], ["kill", "kill", {}], ["stall", "slow down", {}]]);

/** @extends Component<any, any> */
class Home extends Component {
  /** @param {any} props */
  constructor(props) {
    super(props);
    const { home } = props;
    /** @type {any} */
    this.state = { now: home.begins_ms, picture: home.picture, actions: [], busy: false, waits: null, why: "", problem: "", chosen: "", stands: CALM.matches, wide: 760 };
    /** The recorded runs of all first actions, which take no engine. @type {Promise<{action: any, picture: any}[]>} */
    this.forks = unpacked("home.forks").catch(() => []);
    this.before = 0;
    /** @type {{picture: any, steps: any[]}|null} */
    this.memo = null;
  }

  componentDidMount() {
    const measure = () => this.setState({ wide: Math.max(320, Math.min(900, document.querySelector(".hero > div")?.clientWidth ?? 760)) });
    if (typeof ResizeObserver === "function") new ResizeObserver(measure).observe(/** @type {Element} */ (document.querySelector(".hero")));
    measure();
    this.turn(performance.now());
  }

  /** @param {number} time */
  turn(time) {
    const { home } = this.props, passed = Math.min(100, time - (this.before || time)), { now, picture, stands, busy } = this.state;
    this.before = time;
    if (!stands && !busy && document.visibilityState === "visible") {
      const next = now + passed * SPEED;
      if (next < picture.end_ms) this.setState({ now: next });
      else if (!this.state.actions.length) this.setState({ now: home.begins_ms, why: "" });
    }
    requestAnimationFrame((next) => this.turn(next));
  }

  get group() {
    return this.state.picture.groups[0];
  }

  /** The steps that are told: what happens to the group and its members, no heartbeats. */
  get told() {
    const { picture } = this.state;
    if (!this.memo || this.memo.picture !== picture) {
      const steps = picture.steps.filter((/** @type {any} */ step) => (step.stream === "group" && step.type !== "OffsetsCommitted") || step.stream === "member" || (step.stream === "fault" && !step.message));
      this.memo = { picture, steps };
    }
    return this.memo.steps;
  }

  /** The last step that is told. */
  get step() {
    const { now } = this.state;
    return this.told.findLast((/** @type {any} */ step) => step.at_ms <= now);
  }

  next() {
    const { now, picture } = this.state, next = this.told.find((/** @type {any} */ step) => step.at_ms > now);
    this.setState({ now: next?.at_ms ?? picture.end_ms, why: "", stands: true });
  }

  /** Why the step that is told happened: its causes, or what is known. */
  why() {
    const { picture, actions } = this.state, { home } = this.props, step = this.step;
    const said = step ? why(picture, step, actions.length ? actions : home.story, actions.length ? "You" : "The recording") : "Nothing has happened yet.";
    this.setState({ why: said, stands: true });
  }

  /** Whom the buttons act on. */
  get member() {
    const { now, chosen } = this.state, running = this.group.lanes.filter((/** @type {any} */ lane) => at(lane.activity, now)).map((/** @type {any} */ lane) => lane.name);
    return running.includes(chosen) ? chosen : running.at(-1);
  }

  /** The first thing that a reader does takes place where the recording began; what follows, at the instant in view. @param {any} action */
  async act(action) {
    const { home } = this.props, { actions, now } = this.state, lasts = action.kind === "stall" ? { lasts_ms: home.stalls_ms } : {};
    await this.play([...actions, { ...action, ...lasts, at_ms: actions.length ? Math.round(now) : home.begins_ms }]);
  }

  /** Show the run with these actions, and go on from the last of them: a recorded one at once, another as soon as the engine is there. @param {any[]} actions */
  async play(actions) {
    const { home } = this.props, at = actions.length ? actions.at(-1).at_ms + 1 : home.begins_ms;
    this.setState({ busy: true, problem: "", why: "", waits: actions.at(-1) });
    const recorded = actions.length ? (await this.forks).find(({ action }) => actions.length === 1 && ["kind", "member", "at_ms"].every((key) => action[key] === actions[0][key]))?.picture : home.picture;
    if (recorded) {
      this.setState({ picture: recorded, actions, now: at, busy: false, waits: null, stands: CALM.matches });
      if (actions.length) ask({ op: "version" }, (/** @type {any} */ loading) => this.setState({ loading })).then(() => this.setState({ loading: null }), () => this.setState({ loading: null }));  // the next action wants the engine
      return;
    }
    try {
      const { picture } = await ask({ op: "play", scenario: home.scenario, name: "home", seed: home.seed, actions }, (/** @type {any} */ loading) => this.setState({ loading }));
      this.setState({ picture, actions, now: at, busy: false, waits: null, loading: null, stands: CALM.matches });
    } catch (error) {
      this.setState({ busy: false, waits: null, loading: null, problem: /** @type {Error} */ (error).message });
    }
  }

  render() {
    const { home } = this.props, { now, actions, busy, waits, loading, why, problem, stands, picture } = this.state, step = this.step, over = now >= picture.end_ms - 50;
    return html`<div class="hero"><div><${Space} group=${this.group} now=${now} from=${home.begins_ms} wide=${this.state.wide} />
        <div class="tools">${BUTTONS.map(([kind, text, more]) => kind === "join" ? html`<button type="button" data-do=${kind} disabled=${busy || over} onClick=${() => this.act({ kind })}>${text}</button>`
          : html`<button type="button" data-do=${kind} disabled=${busy || over || !this.member} onClick=${() => this.act({ kind, member: this.member, ...more })}>${text}</button>`)}
          <label>whom <select value=${this.member} onChange=${(/** @type {any} */ event) => this.setState({ chosen: event.target.value })}>
            ${present(this.group, now).filter((lane) => at(lane.activity, now)).map((lane) => html`<option value=${lane.name}>${letter(lane.index)} ${lane.label ?? lane.name}</option>`)}</select></label>
          <button type="button" data-do="undo" disabled=${busy || !actions.length} onClick=${() => this.play(actions.slice(0, -1))}>undo</button>
          <button type="button" class="play" aria-pressed=${!stands} onClick=${() => this.setState({ stands: !stands, ...(over && { now: home.begins_ms }) })}>${over ? "again" : stands ? "go on" : "pause"}</button>
          <button type="button" onClick=${() => this.next()}>next event ▶</button></div></div>
      <div><p class="say">${step?.say ?? "Nothing has happened yet."}</p><p><button type="button" class="link why" onClick=${() => this.why()}>why did it do that?</button></p>
        ${why && html`<p class="because">${why}</p>`}
        <p><strong class="lost">${number(Math.round(lostUntil(this.group, now, home.begins_ms) / 100) * 100)}</strong> partition-seconds lost so far, at ${(now / 1000).toFixed(1)} s</p>
        ${actions.length > 0 && html`<p class="done">You did: ${actions.map(told).join("; ")}.</p>`}
        ${busy && waits && actions.length > 0 && html`<p role="status" class="waits">${told(waits)}: this waits for the engine, and is done then.</p>`}
        ${loading && html`<p role="status" class="loading">${loading.text} <progress max=${loading.of} value=${loading.done} aria-label="the engine is fetched"></progress></p>`}
        ${problem && html`<p class="problem" role="alert">${problem}</p>`}</div></div>`;
  }
}

for (const card of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".lessons [data-lesson]"))) {
  const known = seen()[card.dataset.lesson ?? ""];
  if (known) card.insertAdjacentHTML("beforeend", `<span class="seen">${known === "right" ? "✓ foreseen" : "✓ seen"}</span>`);
}
const place = document.getElementById("group");
if (place) {
  try {
    const home = await unpacked("home");
    place.replaceChildren();
    render(html`<${Home} home=${home} />`, place);
    document.body.dataset.ready = "yes";
  } catch (error) {
    place.insertAdjacentText("beforeend", `The recorded run could not be loaded (${error}).`);
  }
}
