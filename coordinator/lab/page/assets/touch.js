// @ts-check
/** What can be done to what was touched, here and now: a menu beside it. Knows names, no rules. */
import { Component } from "./vendor/preact.mjs";
import { at, html, instant, letter } from "./view.js";
import { ACTIONS } from "./whatif.js";

/** @typedef {{x: number, y: number, at_ms: number, lane?: number, row?: number}} Touched
 * @typedef {{touched: Touched, group: import("./view.js").Group, offers: Record<string, string[]|null>, busy: boolean, undo: boolean, onAct: (action: any) => void, onUndo: () => void, onClose: () => void}} Props */

/** @extends Component<Props> */
export class Menu extends Component {
  componentDidMount() {
    this.before = /** @type {HTMLElement|null} */ (document.activeElement);
    this.root?.querySelector("button")?.focus();
  }

  /** What had the focus has it again. */
  componentWillUnmount() {
    this.before?.focus({ preventScroll: true });
  }

  /** The actions that fit, each with its name. @returns {[string, any][]} */
  get actions() {
    const { touched, group, offers } = this.props, { at_ms, lane, row } = touched, name = lane === undefined ? undefined : group.lanes[lane].name;
    return Object.entries(offers).flatMap(([kind, able]) => {
      const { text, long, member } = ACTIONS[kind], of = row === undefined ? lane === undefined : kind === "add_partitions" || kind === "reassign";
      if (member ? !name || !able?.includes(name) || !at(group.lanes[lane ?? 0].activity, at_ms) : !of) return [];
      const lasts = long?.[2] ? { [long[0]]: long[2] * 1000 } : {}, partition = kind === "reassign" && row !== undefined ? { partition: group.raster[row].partition } : {};
      return [[`${text}${long?.[2] ? `, ${long[2]} s` : ""}`, { kind, at_ms, ...(member && { member: name }), ...lasts, ...partition }]];
    });
  }

  render() {
    const { touched, group, busy, undo, onAct, onUndo, onClose } = this.props, { x, y, at_ms, lane, row } = touched, { actions } = this;
    const what = lane !== undefined ? `${letter(lane)} ${group.lanes[lane].label ?? group.lanes[lane].name}` : row !== undefined ? `${group.raster[row].label ?? group.raster[row].topic}-${group.raster[row].partition}` : "the group";
    return html`<div class="menu" role="dialog" aria-label=${`what can be done to ${what}`} style=${{ left: `${x}px`, top: `${y}px` }} ref=${(/** @type {any} */ root) => { this.root = root; }}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => { if (event.key === "Escape") onClose(); }}>
      <strong>${what}, at ${instant(at_ms)}</strong>
      ${actions.map(([text, action]) => html`<button type="button" data-do=${action.kind} disabled=${busy} onClick=${() => onAct(action)}>${text}</button>`)}
      ${!actions.length && html`<span>It does not run here: nothing can be done to it.</span>`}
      ${undo && html`<button type="button" data-do="undo" disabled=${busy} onClick=${onUndo}>↶ undo the last change</button>`}
      <button type="button" data-do="nothing" onClick=${onClose}>nothing</button></div>`;
  }
}
