// @ts-check
/** The verdict on a group, above its picture: what its rebalances cost, the costliest first, each with its cause; a click puts the cursor there. Ranks nothing anew. */
import { Component } from "./vendor/preact.mjs";
import { html, instant, letter, number } from "./view.js";

const FEW = 3;

/** @extends Component<{group: import("./view.js").Group, of?: string, onGo: (at_ms: number) => void, onFind: (name: string) => void, find: string}, any> */
export class Verdict extends Component {
  constructor() {
    super();
    /** @type {any} */
    this.state = { cause: "", all: false };
  }

  render() {
    const { group, of = "", onGo, onFind, find } = this.props, { cause, all } = this.state, { count, rebalances } = group.verdict;
    if (!count) return null;
    const causes = [...new Set(rebalances.map((each) => each.cause))].sort();
    const chosen = rebalances.filter((each) => !cause || each.cause === cause), shown = all ? chosen : chosen.slice(0, FEW);
    const name = (/** @type {number} */ lane) => `${letter(lane)} ${group.lanes[lane].label ?? group.lanes[lane].name}`;
    return html`<section class="verdict" aria-label=${`verdict ${of}`.trim()}><p><strong>${count}</strong> ${count > 1 ? "rebalances" : "rebalance"}${count > 1 && rebalances[0].lost_ms !== null ? ", the costliest first" : ""}
        ${causes.length > 1 && html`; <label>cause: <select class="cause" value=${cause} onChange=${(/** @type {any} */ event) => this.setState({ cause: event.target.value, all: false })}>
          <option value="">any</option>${causes.map((each) => html`<option>${each}</option>`)}</select></label>`}
        ${group.lanes.length > 4 && html` <label>find a member <input class="find" type="search" list=${`members${of}`} value=${find} onInput=${(/** @type {any} */ event) => onFind(event.target.value)} /></label>
          <datalist id=${`members${of}`}>${group.lanes.map((lane) => html`<option value=${lane.label ?? lane.name} />`)}</datalist>`}</p>
      <ol>${shown.map((each) => html`<li key=${each.seq}><button type="button" onClick=${() => onGo(each.at_ms)}>${instant(each.at_ms)}</button>${" "}
        ${each.lost_ms === null ? "cost not known" : html`<strong class="lost">${each.least_ms === each.lost_ms ? "" : `${number(each.least_ms ?? 0)} to `}${number(each.lost_ms)}</strong> partition-seconds`}${each.number === null ? "" : html`, ${group.protocol === "classic" ? "generation" : "group epoch"} ${each.number}`}: ${each.because}${each.held_up_by.length ? html`; held up by <strong>${each.held_up_by.map(name).join(", ")}</strong>` : ""}</li>`)}</ol>
      ${chosen.length > FEW && html`<button type="button" class="all" onClick=${() => this.setState({ all: !all })}>${all ? "fewer" : `all ${chosen.length}`}</button>`}</section>`;
  }
}

/** The lanes that matter: of those in the costliest rebalances and those found, the names; undefined where all have room. @param {import("./view.js").Group} group @param {string} find */
export function mattering(group, find) {
  const few = 12, asked = find.trim().toLowerCase();
  if (group.lanes.length <= few && !asked) return undefined;
  const found = asked ? group.lanes.filter((lane) => (lane.label ?? lane.name).toLowerCase().includes(asked)) : [];
  if (found.length) return found.slice(0, few).map((lane) => lane.name);
  const named = group.verdict.rebalances.flatMap((each) => [...each.held_up_by, ...each.lanes]);
  return [...new Set(named)].slice(0, few).map((index) => group.lanes[index].name);
}

const linked = new URLSearchParams(location.hash.slice(1));
/** The group that the link to this page names. */
export const linkedGroup = linked.get("group") ?? undefined;
let instantOfLink = linked.get("at");

/** The instant that the link to this page names, once: who looks elsewhere is not taken back. @returns {{at_ms: number}|undefined} */
export function jumpOfLink() {
  const at_ms = Number(instantOfLink ?? NaN);
  instantOfLink = null;
  return Number.isFinite(at_ms) ? { at_ms } : undefined;
}

let waits = 0;
/** The address says where the cursor is, once it rests. @param {number} at_ms @param {string} group */
export function toAddress(at_ms, group) {
  clearTimeout(waits);
  waits = setTimeout(() => history.replaceState(null, "", `#${new URLSearchParams({ at: String(at_ms), group })}`), 200);
}
