// @ts-check
/** A picture on which predictions are marked: `Predicting` where somebody else covers what comes and shows it (a lesson does),
 * `Foretelling` where the reader does so himself: in a log, in a run of the simulator, beside a live group. */
import { Component } from "./vendor/preact.mjs";
import { MOST, Marked, Pencil, markOf, moved, pencilAt, shapes, told } from "./predict.js";
import { Stage } from "./stage.js";
import { Verdict, mattering, toAddress } from "./verdict.js";
import { html, instant } from "./view.js";

/** @typedef {import("./predict.js").Mark} Mark
 * @typedef {{picture: import("./view.js").Picture, marks: Mark[], onMarks: (marks: Mark[]) => void, revealed: boolean, stage: any,
 *   onToggle?: (marking: boolean, now: number) => void, onGroup?: (name: string) => void, children?: any}} Props
 *   `stage`: what the picture gets besides; `children`: stands between the controls and the picture */

/** @extends Component<Props, any> */
export class Predicting extends Component {
  /** @param {Props} props */
  constructor(props) {
    super(props);
    /** @type {any} */
    this.state = { marking: false, pencil: null, owner: undefined, group: undefined, spoken: "" };
    this.now = props.stage.now ?? 0;
  }

  get group() {
    const { groups } = this.props.picture;
    return groups.find((each) => each.group === (this.props.stage.group ?? this.state.group)) ?? groups[0];
  }

  /** The member that a mark in a partition's row names, "" for nobody. */
  get owner() {
    return this.state.owner ?? this.group?.lanes[0]?.name ?? "";
  }

  /** @param {Props} before */
  componentDidUpdate(before) {
    const { now, follow } = this.props.stage, along = follow === undefined || this.now >= before.stage.now;  // a cursor that was put somewhere stays
    if (now !== before.stage.now && along) this.now = now ?? this.now;
  }

  toggle() {
    const marking = !this.state.marking, spoken = marking ? "Marking a prediction: arrows move, enter marks, P ends." : "No longer marking.";
    this.setState({ marking, spoken, pencil: marking ? { at_ms: this.now, to_ms: null, line: 0 } : null });
    this.props.onToggle?.(marking, this.now);
  }

  /** @param {Mark[]} marks @param {string} spoken */
  marked(marks, spoken) {
    this.setState({ spoken });
    this.props.onMarks(marks.slice(-MOST));
  }

  /** @param {string} type @param {import("./stage.js").Spot} spot */
  pointed(type, spot) {
    if (!this.state.marking) return false;
    const { pencil } = this.state;
    if (type === "pointerdown") this.setState({ pencil: pencilAt(spot, this.group) });
    else if (type === "pointermove") this.setState({ pencil: { ...pencil, to_ms: Math.abs(spot.ms - pencil.at_ms) > spot.slack ? Math.max(0, spot.ms) : null } });
    else {
      const mark = markOf(pencil, this.group, this.owner);
      this.marked([...this.props.marks, mark], `You say: ${told(mark)}.`);
    }
    return true;
  }

  /** @param {KeyboardEvent} event @param {{from: number, to: number}} window */
  pressed(event, window) {
    const { pencil, marking } = this.state, { marks } = this.props;
    if (event.key.toLowerCase() === "p") this.toggle();
    else if (!marking) return this.props.stage.onKey?.(event, window) ?? false;
    else {
      const next = moved(pencil, event, this.group, window), mark = markOf(pencil, this.group, this.owner);
      if (next) this.setState({ pencil: next, spoken: told(markOf(next, this.group, this.owner)) });
      else if (event.key === "Enter") this.marked([...marks, mark], `Marked: ${told(mark)}.`);
      else if (event.key === "Backspace") this.marked(marks.slice(0, -1), "The last mark is gone.");
      else if (event.key === "Escape") this.toggle();
      else return this.props.stage.onKey?.(event, window) ?? false;
    }
    return true;
  }

  render() {
    const { picture, marks, revealed, stage, children } = this.props, { marking, pencil, spoken } = this.state, group = this.group;
    if (!group) return html`<${Stage} ...${stage} picture=${picture} />`;
    const over = (/** @type {any} */ x, /** @type {any} */ place, /** @type {any} */ window) => shapes(marks, pencil && markOf(pencil, group, this.owner), group, x, place, window);
    const moves = (/** @type {number} */ at, /** @type {string} */ name) => { this.now = at; stage.onCursor?.(at, name); };
    const chosen = (/** @type {string} */ name) => this.setState({ group: name, owner: undefined, marking: false, pencil: null }, () => this.props.onGroup?.(name));
    return html`<div><${Pencil} marking=${marking} owner=${this.owner} members=${group.lanes.map((lane) => lane.name)} onToggle=${() => this.toggle()}
        onOwner=${(/** @type {string} */ owner) => this.setState({ owner })} />${children}
      <${Stage} ...${stage} picture=${picture} onCursor=${moves} over=${over} onGroup=${chosen}
        onKey=${(/** @type {KeyboardEvent} */ event, /** @type {any} */ window) => this.pressed(event, window)}
        onMark=${(/** @type {string} */ type, /** @type {any} */ spot) => this.pointed(type, spot)} />
      <${Marked} marks=${marks} group=${group} steps=${picture.steps} revealed=${revealed}
        onRemove=${(/** @type {number} */ at) => this.marked(marks.filter((_, each) => each !== at), "A mark is gone.")} />
      <p class="live" aria-live="polite">${spoken}</p></div>`;
  }
}

/** A picture whose reader covers what comes after the cursor, marks what he expects there, and uncovers it. `judged`: the verdict stands above it, and
 * the address follows the cursor; `jump`: where the cursor is put first, once the picture reaches so far.
 * @extends Component<any, any> */
export class Foretelling extends Component {
  /** @param {any} props */
  constructor(props) {
    super(props);
    /** @type {any} */
    this.state = { marks: [], covered: null, jump: undefined, find: "", group: props.group };
    this.pending = props.jump;
    /** @type {string|undefined} */
    this.openKey = undefined;
    /** @type {Set<string>|undefined} */
    this.openNames = undefined;
  }

  componentDidMount() {
    this.arrive();
  }

  componentDidUpdate() {
    this.arrive();
  }

  arrive() {
    const jump = this.pending;
    if (!jump || jump.at_ms > this.props.picture.end_ms) return;
    this.pending = undefined;
    this.setState({ jump });
  }

  render() {
    const { picture, judged, ...stage } = this.props, { marks, covered, find } = this.state;
    const group = judged && picture.groups.find((/** @type {any} */ each) => each.group === (this.props.group ?? this.state.group)) || picture.groups[0];
    const extra = judged && group && { jump: this.state.jump, open: this.opened(mattering(group, find)),
      onCursor: (/** @type {number} */ at, /** @type {string} */ of) => { toAddress(at, of); stage.onCursor?.(at, of); } };
    return html`<div>${judged && group && covered === null && html`<${Verdict} group=${group} find=${find} onGo=${(/** @type {number} */ at_ms) => this.setState({ jump: { at_ms } })}
        onFind=${(/** @type {string} */ text) => this.setState({ find: text })} />`}<${Predicting} picture=${picture} marks=${marks} revealed=${covered === null} stage=${{ ...stage, ...extra, ...(covered !== null && { horizon: covered, follow: false }) }}
      onMarks=${(/** @type {Mark[]} */ next) => this.setState({ marks: next })} onGroup=${(/** @type {string} */ chosen) => this.setState({ marks: [], covered: null, group: chosen, find: "" })}
      onToggle=${(/** @type {boolean} */ marking, /** @type {number} */ now) => { if (marking && covered === null) this.setState({ covered: now }); }}>
      ${covered !== null && html`<p class="tools covered">What comes after ${instant(covered)} is covered.
        <button type="button" class="uncover" onClick=${() => this.setState({ covered: null })}>show what happens</button></p>`}</${Predicting}></div>`;
  }

  /** The same set for the same lanes, so that a picture is not drawn again for nothing. @param {string[]|undefined} names */
  opened(names) {
    const key = names && names.join("\n");
    if (key !== this.openKey) [this.openKey, this.openNames] = [key, names && new Set(names)];
    return this.openNames;
  }
}
