// @ts-check
/** What a learner can do to a run: an action at the cursor, chosen by pointing at a lane or from a list. Knows names, no rules. */
import { Component } from "./vendor/preact.mjs";
import { html, instant } from "./view.js";

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
  move_coordinator: { text: "move the coordinator to broker 2", member: false },
});

/** @param {any} action */
export function told(action) {
  const kind = ACTIONS[action.kind], long = action.lasts_ms ?? action.down_ms;
  return `${instant(action.at_ms)}: ${kind?.text ?? action.kind}${action.member ? ` (${action.member})` : ""}${long ? `, ${long / 1000} s` : ""}`;
}

/** @extends Component<{members: string[], member: string, now: number, busy: boolean, branches: string[], onto: string, onOnto: (name: string) => void, onRun: (action: any) => void}, any> */
export class WhatIf extends Component {
  constructor() {
    super();
    this.state = { kind: "kill", long: 0 };
  }

  run() {
    const kind = ACTIONS[this.state.kind], { member, now } = this.props;
    const long = Math.round(Number(this.state.long) * 1000);
    this.props.onRun({ kind: this.state.kind, at_ms: now, ...(kind.member && { member }), ...(kind.long && long > 0 && { [kind.long[0]]: long }) });
  }

  render() {
    const kind = ACTIONS[this.state.kind];
    return html`<section class="whatif" aria-label="what if"><h2>What if?</h2>
      <p>Put the cursor where it is to happen, point at a lane to choose a member, and run the same seed again with one thing changed.</p>
      <div class="tools">
        <label>do <select value=${this.state.kind} onChange=${(/** @type {any} */ event) => this.setState({ kind: event.target.value, long: ACTIONS[event.target.value].long?.[2] ?? 0 })}>
          ${Object.entries(ACTIONS).map(([id, each]) => html`<option value=${id}>${each.text}</option>`)}</select></label>
        ${kind.member && html`<label>to <select value=${this.props.member} onChange=${(/** @type {any} */ event) => this.pick(event.target.value)}>
          ${this.props.members.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
        ${kind.long && html`<label>${kind.long[1]} <input type="number" min="0" max="3600" step="0.5" value=${this.state.long}
          onInput=${(/** @type {any} */ event) => this.setState({ long: event.target.value })} /></label>`}
        ${this.props.branches.length > 0 && html`<label>in <select value=${this.props.onto} onChange=${(/** @type {any} */ event) => this.props.onOnto(event.target.value)}>
          <option value="">the lesson's run</option>${this.props.branches.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
        <button type="button" disabled=${this.props.busy} onClick=${() => this.run()}>${this.props.busy ? "running …" : `run it at ${instant(this.props.now)}`}</button>
      </div></section>`;
  }

  /** @param {string} member */
  pick(member) {
    /** @type {any} */ (this.props).onPick(member);
  }
}
