// @ts-check
/** Questions about a log's costliest rebalance, one at a time; what one answers is checked against what the log says. */
import { Component } from "./vendor/preact.mjs";
import { html } from "./view.js";

/** @typedef {{group: string, asks: string, options: string[], right: number, says: string, at_ms: number}} Question
 * @typedef {{questions: Question[], onAnswer?: (question: Question) => void, onCard?: (card: "question"|"answer"|"end", right: number) => void}} Props
 *   `onAnswer`: an answer is looked at; `onCard`: what is in view, and how many answers were right so far */

/** @extends Component<Props, any> */
export class Questions extends Component {
  constructor() {
    super();
    /** @type {any} */
    this.state = { at: 0, chosen: {}, checked: 0, spoken: "" };
    /** @type {Element|null} */
    this.said = null;
  }

  /** @param {Props} _ @param {any} before */
  componentDidUpdate(_, before) {
    if (this.state.checked > before.checked) this.said?.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} at */
  right(at) {
    return this.state.chosen[at] === this.props.questions[at].right;
  }

  check() {
    const { at, checked } = this.state, each = this.props.questions[at];
    this.show(at, checked + 1, `${this.right(at) ? "Yes." : `No: ${each.options[each.right]}.`} ${each.says}`);
  }

  /** A question comes into view, or its answer. @param {number} at @param {number} checked @param {string} spoken */
  show(at, checked, spoken = "") {
    const { questions, onAnswer, onCard } = this.props;
    this.setState({ at, checked, spoken });
    if (at < checked) onAnswer?.(questions[at]);
    const ended = checked === questions.length && at + 1 === checked, right = questions.filter((_, index) => index < checked && this.right(index)).length;
    onCard?.(ended ? "end" : at < checked ? "answer" : "question", right);
  }

  render() {
    const { questions } = this.props, { at, chosen, checked, spoken } = this.state, each = questions[at], done = at < checked, last = at + 1 === questions.length;
    return html`<form class="question" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}><fieldset key=${at}><legend>${each.asks}</legend>
        <div class="options">${each.options.map((text, index) => html`<label><input type="radio" name=${`quiz-${at}`} checked=${chosen[at] === index} disabled=${done}
          onChange=${() => this.setState({ chosen: { ...chosen, [at]: index } })} /> <span>${text}</span></label>`)}</div></fieldset>
      ${done ? html`<p class=${this.right(at) ? "verdict yes" : "verdict"}>${this.right(at) ? "Yes." : `No: ${each.options[each.right]}.`}</p><p class="says" ref=${(/** @type {Element|null} */ said) => { this.said = said; }}>${each.says}</p>`
        : html`<p class="go"><button type="button" class="check primary" disabled=${chosen[at] === undefined} onClick=${() => this.check()}>check it</button></p>`}
      <nav class="pager" aria-label="questions"><button type="button" class="back" disabled=${at === 0} onClick=${() => this.show(at - 1, checked)}>◀ before</button> <small>${at + 1} of ${questions.length}</small>
        ${!last && html`<button type="button" class="next" disabled=${!done} onClick=${() => this.show(at + 1, checked)}>next question ▶</button>`}</nav>
      <p class="heard" aria-live="polite">${spoken}</p></form>`;
  }
}

/** The same for a log of the reader's own, of which the questions are asked for. @extends Component<{ask: () => Promise<{questions: Question[]}>}, any> */
export class Quiz extends Component {
  constructor() {
    super();
    /** @type {any} */
    this.state = { questions: null, problem: "" };
  }

  async begin() {
    try {
      this.setState({ questions: (await this.props.ask()).questions, problem: "" });
    } catch (error) {
      this.setState({ problem: /** @type {Error} */ (error).message });
    }
  }

  render() {
    const { questions, problem } = this.state;
    return html`<section class="quiz" aria-label="a quiz on this log"><h2>A quiz: what happened here?</h2>
      ${!questions && html`<p>Step through the picture, and then say: which rebalance cost most, why it began, and who held it up. The log itself has the answers.</p>
        <button type="button" class="begin primary" onClick=${() => this.begin()}>ask me</button>`}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      ${questions && html`<${Questions} questions=${questions} />`}</section>`;
  }
}
