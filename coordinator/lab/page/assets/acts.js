// @ts-check
/** Acting on a live group: what the page's own server does for who has the token. The token comes in the fragment of the address that was printed, is taken
 * out of the address at once, and is sent as a header to this very origin alone. Knows no rules: what can be done is the server's list. */
import { Component } from "./vendor/preact.mjs";
import { html, letter } from "./view.js";

const HEADER = "X-Page-Token", KEPT = "coordinator-act";
const found = /^#act=([\w-]+)$/.exec(location.hash);
if (found) {
  sessionStorage.setItem(KEPT, found[1]);
  history.replaceState(null, "", location.pathname + location.search);
}

/** Whether there is a token. */
export const may = () => sessionStorage.getItem(KEPT) !== null;

/** @param {any} [body] @returns {Promise<any>} */
async function ask(body) {
  const headers = { [HEADER]: sessionStorage.getItem(KEPT) ?? "", ...(body && { "Content-Type": "application/json" }) };
  const answer = await fetch("acts", { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) });
  const text = await answer.text(), told = answer.headers.get("Content-Type") === "application/json" ? JSON.parse(text) : { error: text };
  if (told.error) throw new Error(told.error);
  return told;
}

/** @typedef {{group: import("./view.js").Group, touched: {lane?: number, x: number, y: number}|null, onClose: () => void, onDone: () => void}} Props
 *   `onDone`: something was done, and is to be seen
 * @extends Component<Props, any> */
export class Acts extends Component {
  constructor() {
    super();
    /** @type {any} */
    this.state = { deeds: [], in_force: [], problem: "", busy: false, done: "" };
  }

  componentDidMount() {
    this.do();
  }

  /** The first deed has the focus, also where the menu is opened before the server has said what can be done. @param {Props} before @param {any} was */
  componentDidUpdate(before, was) {
    const { touched } = this.props, opened = touched !== before.touched, told = was.busy && !this.state.busy;
    if (touched && (opened || told)) this.root?.querySelector(".menu button:enabled")?.focus();
    if (before.group !== this.props.group && this.state.in_force.length && !this.state.busy) this.look();
  }

  /** What is in force may be over by itself: a fault that was for one request. */
  async look() {
    if (this.looking) return;
    this.looking = true;
    try {
      const { deeds, in_force } = await ask();
      if (!this.state.busy) this.setState({ deeds, in_force });
    } catch { /* the picture says that the server does not answer */ }
    this.looking = false;
  }

  /** Whether a deed can act on what was touched, as it is now. @param {any} deed */
  fits(deed) {
    const { group } = this.props, lane = this.lane;
    if (!deed.protocols.includes(group.protocol) || Boolean(lane) !== deed.member) return false;
    if (lane) return lane.member_id && !this.state.in_force.some((/** @type {any} */ each) => each.do === deed.do && each.group === group.group && each.member === lane.member_id);
    return (!deed.peopled || group.lanes.some((each) => each.member_id)) && !["Dead", "coordinator unavailable"].includes(group.states.at(-1)?.[2] ?? "");
  }

  /** @param {any} [body] */
  async do(body) {
    this.setState({ busy: true, problem: "" });
    try {
      const { deeds, in_force, done = "" } = await ask(body);
      this.setState({ deeds, in_force, done, busy: false });
      return true;
    } catch (error) {
      this.setState({ busy: false, problem: /** @type {Error} */ (error).message });
      return false;
    }
  }

  /** The member that was touched, if it can be acted on. */
  get lane() {
    const { touched, group } = this.props;
    return touched?.lane === undefined ? undefined : group.lanes[touched.lane];
  }

  /** @param {any} deed */
  async chosen(deed) {
    const { group, onClose } = this.props, lane = /** @type {any} */ (this.lane);
    onClose();
    const done = await this.do({ do: deed.do, group: group.group, ...(deed.member && { member: lane.member_id }) });
    if (done) this.props.onDone();
    /** @type {HTMLElement|null} */ (document.querySelector(".plot"))?.focus();
  }

  render() {
    const { group, touched, onClose } = this.props, { deeds, in_force, problem, busy, done } = this.state, lane = this.lane, fits = deeds.filter((/** @type {any} */ deed) => this.fits(deed));
    const what = lane ? `${letter(lane.index)} ${lane.label ?? lane.name}` : `group ${group.name}`;
    return html`<div class="acts" ref=${(/** @type {any} */ root) => { this.root = root; }}>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <p class="live" aria-live="polite">${done && `Done: ${done}.`}</p>
      ${in_force.length > 0 && html`<ul class="in-force" aria-label="in force">${in_force.map((/** @type {any} */ each) => html`<li>${each.text} <button type="button" disabled=${busy} onClick=${() => this.do({ undo: each.number })}>undo</button></li>`)}</ul>`}
      ${touched && html`<div class="menu" role="dialog" aria-label=${`what can be done to ${what}`} style=${{ left: `max(0px, min(${touched.x}px, 100% - 15rem))`, top: `${touched.y}px` }}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => { if (event.key === "Escape") onClose(); }}><strong>${what}, now</strong>
        ${fits.map((/** @type {any} */ deed) => html`<button type="button" data-do=${deed.do} disabled=${busy} onClick=${() => this.chosen(deed)}>${deed.text}</button>`)}
        ${!fits.length && html`<span>${lane && !lane.member_id ? "It is no member now: nothing can be done to it." : busy ? "The server is asked what can be done." : "Nothing can be done to it now."}</span>`}
        <button type="button" data-do="nothing" onClick=${onClose}>nothing</button></div>`}</div>`;
  }
}
