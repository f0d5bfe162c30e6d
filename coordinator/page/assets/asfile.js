// @ts-check
/** A run as a scenario file, to be kept and run again elsewhere. */
import { Component } from "./vendor/preact.mjs";
import { html } from "./view.js";
import { ACTIONS } from "./whatif.js";

/** @extends Component<{seed: number, ask: () => Promise<{text: string, left_out: string[]}>}, any> */
export class AsFile extends Component {
  constructor() {
    super();
    /** @type {any} */
    this.state = { made: null, busy: false, problem: "" };
  }

  async make() {
    this.setState({ busy: true, problem: "" });
    try {
      this.setState({ made: await this.props.ask(), busy: false });
    } catch (error) {
      this.setState({ busy: false, problem: /** @type {Error} */ (error).message });
    }
  }

  render() {
    const { made, busy, problem } = this.state;
    return html`<div class="as-file">${!made && html`<button type="button" class="link" disabled=${busy} onClick=${() => this.make()}>${busy ? "writing it …" : "as a scenario file"}</button>`}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      ${made && html`<label>the same run as a scenario file <textarea readonly rows="10" spellcheck="false">${made.text}</textarea></label>
        <p><a href=${`data:text/plain;charset=utf-8,${encodeURIComponent(made.text)}`} download="story.toml">save it as story.toml</a>, then <code>coordinator simulate story.toml --seed ${this.props.seed}</code></p>
        ${made.left_out.length > 0 && html`<p class="left-out">Left out, for it exists on this page alone: ${made.left_out.map((/** @type {string} */ kind) => ACTIONS[kind]?.text ?? kind).join("; ")}.</p>`}`}</div>`;
  }
}
