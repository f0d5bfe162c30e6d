// @ts-check
/** Two runs beside each other: the same scenario, seed and churn under two settings, on one axis of time with one cursor. */
import { Component } from "./vendor/preact.mjs";
import { ask } from "./engine.js";
import { Stage } from "./stage.js";
import { costText, costUntil } from "./queues.js";
import { html, instant, seconds } from "./view.js";
import { NAMES, told } from "./whatif.js";

/** @typedef {import("./view.js").Picture} Picture
 * @typedef {{name: string, settings: string[]}} Choice
 * @typedef {{lesson: any, choices: Choice[], sides: [string[], string[]]|null, actions: any[], now: number, onSides: (sides: [string[], string[]]) => void, onCursor: (now: number) => void}} Props */
const OTHER = "other";

/** @extends Component<Props, any> */
export class Abreast extends Component {
  /** @param {Props} props */
  constructor(props) {
    super(props);
    const [from, to] = props.lesson.window_ms;
    /** @type {any} */
    this.state = { ...this.chosen(props), pictures: null, ran: null, from, to, busy: false, problem: "", spoken: "" };
  }

  componentDidMount() {
    if (this.props.sides) this.run();
  }

  /** @param {Props} before */
  componentDidUpdate(before) {
    const { sides } = this.props;
    if (sides && sides !== before.sides && JSON.stringify(sides) !== JSON.stringify(this.sides)) this.setState(this.chosen(this.props), () => this.run());
  }

  /** What the two lists show for the sides that were asked for. @param {Props} props */
  chosen({ sides, choices }) {
    const [a, b] = (sides ?? [[], choices[1]?.settings ?? []]).map((settings) => {
      const at = choices.findIndex((each) => JSON.stringify(each.settings) === JSON.stringify(settings));
      return { at: at < 0 ? OTHER : at, text: at < 0 ? settings.join("; ") : "" };
    });
    return { a, b };
  }

  /** The settings of both sides. @returns {[string[], string[]]} */
  get sides() {
    const settings = (/** @type {any} */ side) => (side.at === OTHER ? side.text.split(";").map((/** @type {string} */ each) => each.trim()).filter(Boolean)
      : this.props.choices[side.at].settings);
    return [settings(this.state.a), settings(this.state.b)];
  }

  async run() {
    const { lesson, actions, onSides } = this.props, sides = this.sides;
    this.setState({ busy: true, problem: "", spoken: "The engine runs both." });
    try {
      const pictures = [];
      for (const [at, settings] of sides.entries()) {
        const plain = !settings.length && !actions.length;
        pictures.push(plain ? lesson.picture : (await ask({ op: "play", as: `side ${at}`, scenario: lesson.scenario, name: lesson.slug, seed: lesson.seed, actions, settings, script: lesson.script })).picture);
      }
      const cost = (/** @type {number} */ at) => { const group = pictures[at].groups[0], [value, counts] = costUntil(group, Infinity, lesson.window_ms[0]); return `${costText(group, value)} ${counts}`; };
      const names = sides.map((settings) => this.name(settings));
      this.setState({ pictures, ran: { names, actions }, busy: false, spoken: `A, ${names[0]}: ${cost(0)}. B, ${names[1]}: ${cost(1)}.` });
      onSides(sides);
    } catch (error) {
      this.setState({ busy: false, problem: /** @type {Error} */ (error).message, spoken: "" });
    }
  }

  /** @param {string[]} settings */
  name(settings) {
    return this.props.choices.find((each) => JSON.stringify(each.settings) === JSON.stringify(settings))?.name ?? settings.join("; ");
  }

  /** @param {"a"|"b"} side */
  choose(side) {
    const { choices } = this.props, { at, text } = this.state[side], set = (/** @type {any} */ more) => this.setState({ [side]: { at, text, ...more } });
    return html`<label>${side.toUpperCase()} <select class=${`side-${side}`} value=${at} onChange=${(/** @type {any} */ event) => set({ at: event.target.value === OTHER ? OTHER : Number(event.target.value) })}>
      ${choices.map((each, index) => html`<option value=${index}>${each.name}</option>`)}<option value=${OTHER}>other settings</option></select></label>
      ${at === OTHER && html`<label>settings of ${side.toUpperCase()} <input type="text" size="44" value=${text} placeholder="members.app.config.session.timeout.ms=30000; members.app.assignor=sticky"
        onInput=${(/** @type {any} */ event) => set({ text: event.target.value })} /></label>`}`;
  }

  render() {
    const { pictures, ran, busy, problem, spoken } = this.state, { actions } = this.props;
    return html`<section class="abreast" aria-label="side by side"><h2>Side by side</h2>
      <p>Two settings under the same churn: one seed, the same members, topics and faults${actions.length ? `, and what you did (${actions.map(told).join("; ")})` : ""}.</p>
      <div class="tools">${this.choose("a")} ${this.choose("b")}
        <button type="button" class="both" disabled=${busy} onClick=${() => this.run()}>${busy ? "running …" : "run both"}</button></div>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <p class="live" aria-live="polite">${spoken}</p>
      ${pictures && this.both(pictures, ran)}</section>`;
  }

  /** @param {Picture[]} pictures @param {{names: string[], actions: any[]}} ran */
  both(pictures, ran) {
    const { from, to } = this.state, { now, lesson, onCursor } = this.props, groups = pictures.map((each) => each.groups[0]), since = lesson.window_ms[0];
    const [, counts] = costUntil(groups[0], 0), text = (/** @type {number} */ value) => costText(groups[0], value);
    const rows = /** @type {[string, number[], (ms: number) => string][]} */ ([[`${counts} from ${instant(since)} on`, groups.map((each) => costUntil(each, Infinity, since)[0]), text], [`${counts} from ${instant(Math.min(since, now))} up to ${instant(now)}`, groups.map((each) => costUntil(each, now, since)[0]), text],
      ["longest stop of a member", groups.map(longestStop), seconds]]);
    return html`<table class="compare"><caption>A: ${ran.names[0]}. B: ${ran.names[1]}.</caption>
        <thead><tr><th scope="col">what</th><th scope="col">A</th><th scope="col">B</th><th scope="col">B − A</th></tr></thead>
        <tbody>${rows.map(([what, [a, b], say]) => html`<tr><th scope="row">${what}</th><td>${say(a)}</td><td>${say(b)}</td><td>${b > a ? "+" : b < a ? "−" : ""}${say(Math.abs(b - a))}</td></tr>`)}</tbody></table>
      <div class="pair">${pictures.map((picture, at) => html`<div key=${at} class="one"><h3>${"AB"[at]}: ${ran.names[at]}</h3>
        <${Stage} picture=${picture} now=${Math.min(now, picture.end_ms)} from=${from} to=${to} home=${lesson.window_ms} since=${lesson.window_ms[0]} name=${`${"AB"[at]}: ${ran.names[at]}`}
          onCursor=${(/** @type {number} */ ms) => { if (ms !== this.props.now) onCursor(ms); }}
          onWindow=${(/** @type {number} */ begin, /** @type {number} */ end) => this.setState({ from: begin, to: end })}
          notes=${ran.actions.map((action) => ({ kind: /** @type {const} */ ("action"), at_ms: action.at_ms, text: NAMES[action.kind] ?? action.kind, lane: picture.groups[0].lanes.find((each) => each.name === action.member)?.index }))} /></div>`)}</div>`;
  }
}


/** @param {import("./view.js").Group} group */
function longestStop(group) {
  return Math.max(0, ...group.lanes.flatMap((lane) => lane.activity.filter((span) => span[2] === "stopped").map((span) => span[1] - span[0])));
}
