// @ts-check
/** What a learner can do to a run: an action at the cursor, chosen by pointing at a lane or from a list. Knows names, no rules. */
import { Component } from "./vendor/preact.mjs";
import { at, html, instant } from "./view.js";

/** What each action is called, whether it befalls a member, and what its length means. */
export const ACTIONS = /** @type {Record<string, {text: string, member: boolean, long?: [string, string, number]}>} */ ({
  close: { text: "close its consumer", member: true, long: ["down_ms", "and starts again after (s, 0: never)", 0] },
  kill: { text: "kill its process", member: true, long: ["down_ms", "and starts again after (s, 0: never)", 0] },
  freeze: { text: "freeze its process", member: true, long: ["lasts_ms", "for (s)", 20] },
  stall: { text: "stop its polling", member: true, long: ["lasts_ms", "for (s)", 10] },
  slow_assignor: { text: "make its next SyncGroup late (a slow assignor)", member: true, long: ["lasts_ms", "by (s)", 3] },
  lose_answer: { text: "lose the answer to its next heartbeat", member: true },
  cut: { text: "cut its network", member: true, long: ["lasts_ms", "for (s)", 20] },
  twin: { text: "start a twin of it (static members)", member: true },
  join: { text: "let another member join", member: false },
  add_partitions: { text: "add three partitions to the topic", member: false },
  commit: { text: "commit without asking whether the group is Stable", member: true },
  reassign: { text: "reassign the topic's first partition to another broker", member: false },
  move_coordinator: { text: "move the coordinator to another broker", member: false },
});

/** What an action is called on a picture. @type {Record<string, string>} */
export const NAMES = { close: "closed", kill: "killed", freeze: "frozen", stall: "stops polling", slow_assignor: "slow assignor", lose_answer: "answer lost", cut: "cut off", twin: "twin", join: "one more joins",
  add_partitions: "partitions added", commit: "commit", reassign: "reassigned", move_coordinator: "coordinator moves" };

/** @param {any} action */
export function told(action) {
  const kind = ACTIONS[action.kind], long = action.lasts_ms ?? action.down_ms;
  return `${instant(action.at_ms)}: ${kind?.text ?? action.kind}${action.member ? ` (${action.member})` : ""}${long ? `, ${long / 1000} s` : ""}`;
}

/** @typedef {{offers: Record<string, string[]|null>, lanes: import("./view.js").Lane[], script: any[], without: number[], member: string, now: number, busy: boolean,
 *   branches: string[], onto: string, onOnto: (name: string) => void, onPick: (name: string) => void, onRun: (action: any) => void, onWithout: (without: number[]) => void}} Props
 * `offers`: what can be done, and to whom */

/** @extends Component<Props, any> */
export class WhatIf extends Component {
  constructor() {
    super();
    this.state = { kind: "kill", long: 0 };
  }

  /** Who can be chosen: who runs at the cursor, or comes later as somebody else's twin does. */
  get members() {
    const { offers, lanes, now } = this.props, able = offers[this.state.kind];
    return lanes.filter((lane) => at(lane.activity, now) && able?.includes(lane.name)).map((lane) => lane.name);
  }

  /** The chosen member if it can be, else the first that can. */
  get member() {
    return this.members.includes(this.props.member) ? this.props.member : this.members[0];
  }

  run() {
    const kind = ACTIONS[this.state.kind], { now } = this.props;
    const long = Math.round(Number(this.state.long) * 1000);
    this.props.onRun({ kind: this.state.kind, at_ms: now, ...(kind.member && { member: this.member }), ...(kind.long && long > 0 && { [kind.long[0]]: long }) });
  }

  /** What the lesson does by itself, each of which can be left out. */
  own() {
    const { script, without, onWithout, busy, onRun } = this.props;
    return script.length > 0 && html`<fieldset class="own"><legend>What this lesson does by itself:</legend>${script.map((action, index) => html`<label><input type="checkbox" checked=${!without.includes(index)}
      onChange=${() => onWithout(without.includes(index) ? without.filter((each) => each !== index) : [...without, index])} /> ${told(action)}</label>`)}
      ${without.length > 0 && html`<button type="button" disabled=${busy} onClick=${() => onRun(null)}>run it without ${without.length > 1 ? "these" : "this"}</button>`}</fieldset>`;
  }

  render() {
    const kind = ACTIONS[this.state.kind], { offers, busy, branches, onto, now } = this.props, members = kind.member ? this.members : [];
    const nobody = kind.member && !members.length;
    return html`<section class="whatif" aria-label="what if"><h2>What if?</h2>
      <p>Put the cursor where it is to happen, point at a lane to choose a member, and run the same seed again with one thing changed.</p>
      <div class="tools">
        <label>do <select value=${this.state.kind} onChange=${(/** @type {any} */ event) => this.setState({ kind: event.target.value, long: ACTIONS[event.target.value].long?.[2] ?? 0 })}>
          ${Object.entries(ACTIONS).filter(([id]) => id in offers).map(([id, each]) => html`<option value=${id}>${each.text}</option>`)}</select></label>
        ${kind.member && !nobody && html`<label>to <select value=${this.member} onChange=${(/** @type {any} */ event) => this.props.onPick(event.target.value)}>
          ${members.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
        ${kind.long && html`<label>${kind.long[1]} <input type="number" min="0" max="3600" step="0.5" value=${this.state.long}
          onInput=${(/** @type {any} */ event) => this.setState({ long: event.target.value })} /></label>`}
        ${branches.length > 0 && html`<label>in <select value=${onto} onChange=${(/** @type {any} */ event) => this.props.onOnto(event.target.value)}>
          <option value="">the lesson's run</option>${branches.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
        ${nobody ? html`<span>Nobody whom this could befall runs at ${instant(now)}.</span>`
          : html`<button type="button" class="run" disabled=${busy} onClick=${() => this.run()}>${busy ? "running …" : `run it at ${instant(now)}`}</button>`}
      </div>${this.own()}</section>`;
  }
}
