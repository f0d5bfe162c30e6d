// @ts-check
/** "Copy into the simulator": a group of a log as a scenario, what in it was guessed, and how it is run. */
import { Component } from "./vendor/preact.mjs";
import { html } from "./view.js";

/** @typedef {{scenario: string, guessed: string[]}} Copied
 * @typedef {{groups: {group: string, name: string}[], copy: (group: string) => Promise<Copied>, run?: (scenario: string) => Promise<any>}} Props */

/** @extends Component<Props, any> */
export class Copy extends Component {
  /** @param {Props} props */
  constructor(props) {
    super(props);
    /** @type {any} */
    this.state = { group: undefined, copied: null, busy: false, problem: "", spoken: "" };
  }

  async copy() {
    const group = this.state.group ?? this.props.groups[0].group;
    this.setState({ busy: true, problem: "", spoken: "" });
    try {
      const copied = await this.props.copy(group);
      this.setState({ copied, busy: false, spoken: `The scenario is there; ${copied.guessed.length} things in it are guessed.` });
    } catch (error) {
      this.setState({ busy: false, copied: null, problem: /** @type {Error} */ (error).message });
    }
  }

  async run() {
    this.setState({ busy: true, problem: "", spoken: "The engine runs." });
    try {
      await this.props.run?.(this.state.copied.scenario);
      this.setState({ busy: false, spoken: "The copy has run: its picture is below." });
    } catch (error) {
      this.setState({ busy: false, spoken: "", problem: /** @type {Error} */ (error).message });
    }
  }

  render() {
    const { groups, run } = this.props, { copied, busy, problem, spoken } = this.state;
    if (!groups.length) return null;
    return html`<section class="copy" aria-label="copy into the simulator"><div class="tools">
        ${groups.length > 1 && html`<label>group <select onChange=${(/** @type {any} */ event) => this.setState({ group: event.target.value, copied: null })}>
          ${groups.map((each) => html`<option value=${each.group}>${each.name}</option>`)}</select></label>`}
        <button type="button" class="make-copy" disabled=${busy} onClick=${() => this.copy()}>copy into the simulator</button></div>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <p class="live" aria-live="polite">${spoken}</p>
      ${copied && html`<h2>A scenario made of this log</h2>
        <p>It has the group's members, topics and settings as far as the log tells. What it does not tell is guessed, the sessions above all:</p>
        <ul class="guessed">${copied.guessed.map((/** @type {string} */ each) => html`<li>${each}</li>`)}</ul>
        <label>the scenario <textarea class="scenario" readonly rows="14" spellcheck="false">${copied.scenario}</textarea></label>
        <div class="tools"><a href=${`data:text/plain;charset=utf-8,${encodeURIComponent(copied.scenario)}`} download="copied.toml">save it as copied.toml</a>
          ${run ? html`<button type="button" class="run-copy" disabled=${busy} onClick=${() => this.run()}>run it here</button>`
            : html`<span>then <code>coordinator simulate copied.toml --log copied.jsonl</code></span>`}</div>`}</section>`;
  }
}
