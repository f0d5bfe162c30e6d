// @ts-check
/** Questions about a log's costliest rebalance; what one answers is checked against what the log says. */
import { Component } from "./vendor/preact.mjs";
import { html } from "./view.js";

/** @typedef {{asks: string, options: string[], right: number, says: string}} Question */

/** @extends Component<{groups: import("./view.js").Group[], ask: (group: string) => Promise<{questions: Question[]}>}, any> */
export class Diagnosis extends Component {
  constructor() {
    super();
    /** @type {any} */
    this.state = { questions: null, chosen: {}, checked: {}, problem: "", spoken: "" };
  }

  async begin() {
    const { groups, ask } = this.props;
    try {
      const { questions } = await ask(groups[0].group);
      this.setState({ questions, chosen: {}, checked: {}, problem: "" });
    } catch (error) {
      this.setState({ problem: /** @type {Error} */ (error).message });
    }
  }

  /** @param {number} at */
  check(at) {
    const { questions, chosen, checked } = this.state, right = chosen[at] === questions[at].right;
    this.setState({ checked: { ...checked, [at]: true }, spoken: `${right ? "Yes." : "No."} ${questions[at].says}` });
  }

  render() {
    const { questions, chosen, checked, problem, spoken } = this.state;
    return html`<section class="diagnosis" aria-label="diagnose this log"><h2>Diagnose it</h2>
      ${!questions && html`<p>Step through the picture, and then say: which rebalance cost most, why it began, and who held it up. The log itself has the answers.</p>
        <button type="button" class="begin primary" onClick=${() => this.begin()}>ask me</button>`}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      ${questions?.map((/** @type {Question} */ each, /** @type {number} */ at) => (at === 0 || checked[at - 1]) && html`<fieldset key=${at}><legend><strong>${each.asks}</strong></legend>
        <div class="options">${each.options.map((text, index) => html`<label><input type="radio" name=${`diagnosis-${at}`} checked=${chosen[at] === index} disabled=${checked[at]}
          onChange=${() => this.setState({ chosen: { ...chosen, [at]: index } })} /> ${text}</label>`)}</div>
        ${checked[at] ? html`<p class=${chosen[at] === each.right ? "verdict yes" : "verdict"}>${chosen[at] === each.right ? "Yes." : `No: ${each.options[each.right]}.`} ${each.says}</p>`
          : html`<p><button type="button" class="check" disabled=${chosen[at] === undefined} onClick=${() => this.check(at)}>check it</button></p>`}</fieldset>`)}
      <p class="live" aria-live="polite">${spoken}</p></section>`;
  }
}
