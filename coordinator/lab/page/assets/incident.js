// @ts-check
/** The last lesson: a recorded incident. The learner reads the whole picture; each answer moves it to where the log says so. */
import { keepFitting } from "./fit.js";
import { Component, createPortal, render } from "./vendor/preact.mjs";
import { Questions } from "./quiz.js";
import { Groups } from "./groups.js";
import { unpacked } from "./packed.js";
import { Foretelling } from "./predicting.js";
import { see } from "./progress.js";
import { html } from "./view.js";

const AROUND_MS = 20_000;

/** @extends Component<{picture: import("./view.js").Picture, questions: import("./quiz.js").Question[], end: Element}, any> */
class Incident extends Component {
  /** @param {any} props */
  constructor(props) {
    super(props);
    const { end_ms, groups } = props.picture;
    /** @type {any} */
    this.state = { group: groups[0].group, from: 0, to: end_ms, now: 0, right: null };
  }

  /** Where the log has it. @param {import("./quiz.js").Question} question */
  look({ group, at_ms }) {
    const { end_ms } = this.props.picture;
    this.setState(at_ms ? { group, now: at_ms, from: Math.max(0, at_ms - 2 * AROUND_MS), to: Math.min(end_ms, at_ms + AROUND_MS) } : { group, now: end_ms, from: 0, to: end_ms });
  }

  /** @param {string} card @param {number} right */
  turn(card, right) {
    document.body.dataset.card = card;
    if (card !== "end") return;
    this.setState({ right });
    see("incident", right === this.props.questions.length);
  }

  render() {
    const { picture, questions, end } = this.props, { group, from, to, now, right } = this.state;
    return html`<div><${Groups} picture=${picture} group=${group} onGroup=${(/** @type {string} */ chosen) => this.setState({ group: chosen })} />
      <${Foretelling} key=${group} picture=${picture} group=${group} from=${from} to=${to} now=${now} home=${[0, picture.end_ms]} listed=${true} name="the incident"
        onCursor=${(/** @type {number} */ at) => this.setState({ now: at })} />
      ${createPortal(html`<${Questions} questions=${questions} onAnswer=${(/** @type {any} */ each) => this.look(each)}
        onCard=${(/** @type {string} */ card, /** @type {number} */ count) => this.turn(card, count)} />
        ${right !== null && html`<p class="right">${right} of ${questions.length} as the log has it.</p>`}`, end)}</div>`;
  }
}

const place = /** @type {HTMLElement} */ (document.getElementById("stage")), asked = /** @type {HTMLElement} */ (document.getElementById("questions"));
for (const each of ["present", "embed"]) document.body.classList.toggle(each, new URLSearchParams(location.search).has(each));
keepFitting();
try {
  const { picture, questions } = await unpacked("incident");
  const setting = /** @type {HTMLDetailsElement|null} */ (document.querySelector(".setting"));
  if (setting && matchMedia("(max-width: 48rem)").matches) setting.open = false;
  place.replaceChildren();
  asked.replaceChildren();
  render(html`<${Incident} picture=${picture} questions=${questions} end=${asked} />`, place);
  document.body.dataset.card = "question";
  document.body.dataset.ready = "yes";
} catch (error) {
  place.insertAdjacentText("beforeend", `The recorded run could not be loaded (${error}).`);
}
