// @ts-check
/** Two logs side by side: their groups on one axis of time, counted from the beginning of each run, with one cursor; above them what each lost. */
import { Component } from "./vendor/preact.mjs";
import { Stage } from "./stage.js";
import { Verdict, mattering } from "./verdict.js";
import { html, instant, number, seconds } from "./view.js";

/** @typedef {import("./view.js").Picture} Picture
 * @typedef {import("./view.js").Group} Group
 * @typedef {{name: string, picture: Picture, more?: (begin: number, end: number) => Promise<any[]>, note?: any}} Side  `note`: what stands above the picture
 * @typedef {{sides: [Side, Side], start: {at_ms: number|null, groups: (string|null)[]}}} Props */

/** What a link to a pair says: the instant, and a group of each log. */
export function pairOfLink() {
  const linked = new URLSearchParams(location.hash.slice(1)), at_ms = Number(linked.get("at") ?? NaN);
  return { at_ms: Number.isFinite(at_ms) ? at_ms : null, groups: [linked.get("group"), linked.get("beside")] };
}

/** @extends Component<Props, any> */
export class Pair extends Component {
  /** @param {Props} props */
  constructor(props) {
    super(props);
    /** @type {any} */
    this.state = { groups: props.start.groups, now: props.start.at_ms ?? Math.max(...props.sides.map(({ picture }) => picture.end_ms)), from: 0, to: 0, find: ["", ""] };
    this.openKeys = ["", ""];
    /** @type {(Set<string>|undefined)[]} */
    this.openSets = [undefined, undefined];
  }

  get end() {
    return Math.max(1, ...this.props.sides.map(({ picture }) => picture.end_ms));
  }

  /** The chosen group of a side; of the second log first the one that has the name of the first one's. @param {number} at @returns {Group|undefined} */
  group(at) {
    const { groups } = this.props.sides[at].picture, named = (/** @type {string|null|undefined} */ name) => groups.find((each) => each.group === name);
    return named(this.state.groups[at]) ?? (at ? named(this.group(0)?.group) : undefined) ?? groups[0];
  }

  /** @param {number} now */
  look(now) {
    if (now === this.state.now) return;
    this.setState({ now });
    this.address(now);
  }

  /** @param {number} now */
  address(now) {
    clearTimeout(this.waits);
    this.waits = setTimeout(() => history.replaceState(null, "", `#${new URLSearchParams({ at: String(now), group: this.group(0)?.group ?? "", beside: this.group(1)?.group ?? "" })}`), 200);
  }

  /** @param {number} at @param {string} name */
  choose(at, name) {
    this.setState({ groups: this.props.sides.map((_, side) => side === at ? name : this.group(side)?.group ?? null) }, () => this.address(this.state.now));
  }

  /** The lanes that are drawn in full: the same set for the same names. @param {number} at @param {Group} group */
  open(at, group) {
    const names = mattering(group, this.state.find[at]), key = names?.join("\n") ?? "";
    if (key !== this.openKeys[at]) [this.openKeys[at], this.openSets[at]] = [key, names && new Set(names)];
    return this.openSets[at];
  }

  render() {
    const { sides } = this.props, { now, from, to, find } = this.state, end = to || this.end, home = /** @type {[number, number]} */ ([0, this.end]);
    const groups = sides.map((_, at) => this.group(at));
    return html`<div>${groups[0] && groups[1] && html`<${Compared} names=${sides.map((side) => side.name)} groups=${groups} />`}
      <div class="pair">${sides.map(({ name, picture, more, note }, at) => {
        const group = groups[at], other = "AB"[at];
        return html`<section key=${other} class="one" aria-label=${`${other}: ${name}`}><h2>${other}: ${name}</h2>${note}
          ${picture.groups.length > 1 && html`<p class="tools"><label>group <select class="of" value=${group?.group} onChange=${(/** @type {any} */ event) => this.choose(at, event.target.value)}>
            ${picture.groups.map((each) => html`<option value=${each.group}>${each.name}</option>`)}</select></label></p>`}
          ${!group && html`<p>No client of this log has joined a group.</p>`}
          ${group && html`<${Verdict} key=${group.group} of=${other} group=${group} find=${find[at]} onGo=${(/** @type {number} */ at_ms) => this.look(at_ms)}
            onFind=${(/** @type {string} */ text) => this.setState({ find: find.map((/** @type {string} */ each, /** @type {number} */ side) => side === at ? text : each) })} />
          <${Stage} key=${`stage ${group.group}`} picture=${picture} group=${group.group} listed=${true} name=${`${other}: ${name}`} more=${more} now=${Math.min(now, picture.end_ms)} from=${from} to=${end} home=${home} open=${this.open(at, group)}
            onCursor=${(/** @type {number} */ ms) => { if (ms !== Math.min(now, picture.end_ms)) this.look(ms); }}
            onWindow=${(/** @type {number} */ begin, /** @type {number} */ until) => this.setState({ from: begin, to: until })} />`}</section>`;
      })}</div></div>`;
  }
}

/** @param {{names: string[], groups: Group[]}} props */
function Compared({ names, groups }) {
  const lost = (/** @type {Group} */ group) => [group.lost_partition_ms - group.silent_partition_ms, group.lost_partition_ms];
  const bounds = (/** @type {number[]} */ [least, most]) => least === most ? number(most) : `${number(least)} to ${number(most)}`;
  const rows = /** @type {[string, string[]][]} */ ([
    ["partition-seconds lost", groups.map((group) => bounds(lost(group)))],
    ["rebalances", groups.map((group) => String(group.verdict.count))],
    ["the costliest began at", groups.map((group) => group.verdict.rebalances.length && group.verdict.rebalances[0].lost_ms !== null ? `${instant(group.verdict.rebalances[0].at_ms)}: ${group.verdict.rebalances[0].cause}` : group.verdict.count ? "not known" : "none")],
    ["longest stop of a member", groups.map(longestStop)],
    ["members in all", groups.map((group) => String(group.lanes.length))]]);
  return html`<table class="compare"><caption>A: ${names[0]}. B: ${names[1]}. Both times are counted from the beginning of the run.</caption>
    <thead><tr><th scope="col">what</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
    <tbody>${rows.map(([what, [a, b]]) => html`<tr><th scope="row">${what}</th><td>${a}</td><td>${b}</td></tr>`)}</tbody></table>`;
}

/** @param {Group} group */
function longestStop(group) {
  return seconds(Math.max(0, ...group.lanes.flatMap((lane) => lane.activity.filter((span) => span[2] === "stopped").map((span) => span[1] - span[0]))));
}
