// @ts-check
/** A run as a scenario file, and as a pytest test, to be kept and run again elsewhere. */
import { Component } from "./vendor/preact.mjs";
import { html } from "./view.js";
import { ACTIONS } from "./whatif.js";

/** @extends Component<{seed: number, ask: (op: string) => Promise<any>}, any> */
export class AsFile extends Component {
  constructor() {
    super();
    /** @type {any} */
    this.state = { as_file: null, as_test: null, busy: "", problem: "" };
  }

  /** @param {string} op */
  async make(op) {
    this.setState({ busy: op, problem: "" });
    try {
      this.setState({ [op]: await this.props.ask(op), busy: "" });
    } catch (error) {
      this.setState({ busy: "", problem: /** @type {Error} */ (error).message });
    }
  }

  /** @param {string} op @param {string} text */
  button(op, text) {
    const { busy } = this.state;
    return !this.state[op] && html`<button type="button" class="link" data-op=${op} disabled=${busy !== ""} onClick=${() => this.make(op)}>${busy === op ? "writing it …" : text}</button>`;
  }

  render() {
    const { as_file: file, as_test: test, problem } = this.state;
    return html`<div class="as-file">${this.button("as_file", "as a scenario file")} ${this.button("as_test", "as a test")}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      ${file && html`<label>the same run as a scenario file <textarea readonly rows="10" spellcheck="false">${file.text}</textarea></label>
        <p>${saved(file.text, "story.toml")}, then <code>coordinator simulate story.toml --seed ${this.props.seed}</code></p>
        ${file.left_out.length > 0 && html`<p class="left-out">Left out, for it exists on this page alone: ${names(file.left_out)}.</p>`}`}
      ${test?.only_here && html`<p class="only-here">There is no test of this run, for this exists in the simulator alone: ${test.left_out.length ? names(test.left_out) : test.only_here}.</p>`}
      ${test?.test && html`<label>the same run as a test <textarea readonly rows="10" spellcheck="false">${test.test}</textarea></label>
        <p>${saved(test.test, "test_story.py")}, then <code>pytest test_story.py</code>${test.not_in_it.length > 0 && html`. Not in it: ${test.not_in_it.join("; ")}`}</p>`}</div>`;
  }
}

/** @param {string} text @param {string} name */
const saved = (text, name) => html`<a href=${`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`} download=${name}>save it as ${name}</a>`;

/** @param {string[]} kinds */
const names = (kinds) => kinds.map((kind) => ACTIONS[kind]?.text ?? kind).join("; ");
