// @ts-check
/** Predictions that a learner marks on the picture: an instant, a span of time, the owner of a partition. Nobody scores them.
 *
 * A mark is plain data, so that a link can carry it. Marks are put with a pointer, with the keyboard or with a form, stay where they are
 * when the answer is shown, and then stand beside what was there. Knows the picture, no rule of the protocol. */
import { AXIS, GUTTER, fillOf, layout } from "./draw.js";
import { doing } from "./tables.js";
import { at, html, instant, letter } from "./view.js";

/** @typedef {import("./view.js").Group} Group
 * @typedef {{kind: "at"|"span"|"owner", at_ms: number, to_ms?: number, lane: string, row?: string}} Mark
 *   `lane`: a member's name, "" for the whole group, in an owner's mark "" for nobody; `row`: the partition, such as orders-3
 * @typedef {{at_ms: number, to_ms: number|null, line: number}} Pencil  where the keyboard is about to mark: `line` 0 is the whole group, then lanes, then rows */
export const MOST = 12;

/** @param {import("./view.js").Row} row */
export const rowName = (row) => `${row.topic}-${row.partition}`;

/** The mark that a pencil would put. @param {Pencil} pencil @param {Group} group @param {string} owner @returns {Mark} */
export function markOf(pencil, group, owner) {
  const lanes = group.lanes.length, { at_ms, to_ms, line } = pencil;
  if (line > lanes) return { kind: "owner", at_ms, lane: owner, row: rowName(group.raster[line - lanes - 1]) };
  const lane = line ? group.lanes[line - 1].name : "";
  return to_ms === null || to_ms === at_ms ? { kind: "at", at_ms, lane } : { kind: "span", at_ms: Math.min(at_ms, to_ms), to_ms: Math.max(at_ms, to_ms), lane };
}

/** A pencil where somebody points. @param {import("./stage.js").Spot} spot @param {Group} group @returns {Pencil} */
export function pencilAt(spot, group) {
  const line = spot.lane !== undefined ? spot.lane + 1 : spot.row !== undefined ? group.lanes.length + 1 + spot.row : 0;
  return { at_ms: Math.max(0, spot.ms), to_ms: null, line };
}

/** The pencil after a key; null for a key that does not move it.
 * @param {Pencil} pencil @param {KeyboardEvent} event @param {Group} group @param {{from: number, to: number}} window @returns {Pencil|null} */
export function moved(pencil, event, group, window) {
  const tick = Math.max(1, Math.round((window.to - window.from) / 100)), lines = 1 + group.lanes.length + group.raster.length;
  const along = { ArrowLeft: -tick, ArrowRight: tick, PageUp: -10 * tick, PageDown: 10 * tick }[event.key], across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const inside = (/** @type {number} */ ms) => Math.max(window.from, Math.min(window.to, ms));
  if (along && event.shiftKey) return { ...pencil, to_ms: inside((pencil.to_ms ?? pencil.at_ms) + along) };
  if (along) return { ...pencil, at_ms: inside((pencil.to_ms ?? pencil.at_ms) + along), to_ms: null };
  if (across) return { ...pencil, line: (pencil.line + across + lines) % lines };
  return null;
}

/** What a mark says. @param {Mark} mark */
export function told(mark) {
  if (mark.kind === "owner") return `${mark.lane || "nobody"} has ${mark.row} at ${instant(mark.at_ms)}`;
  const who = mark.lane || "the group";
  return mark.kind === "at" ? `something happens to ${who} at ${instant(mark.at_ms)}` : `something lasts for ${who} from ${instant(mark.at_ms)} to ${instant(mark.to_ms ?? 0)}`;
}

/** What the run has where a mark is. @param {Mark} mark @param {Group} group @param {import("./view.js").Step[]} steps */
export function there(mark, group, steps) {
  if (mark.kind === "owner") {
    const row = group.raster.find((each) => rowName(each) === mark.row), span = row && at(row.spans, mark.at_ms);
    return `${span?.[2].map((each) => group.lanes[each].name).join(" and ") || "nobody"} has it then`;
  }
  const lane = group.lanes.find((each) => each.name === mark.lane), from = mark.at_ms, to = mark.to_ms ?? from;
  const state = (/** @type {number} */ ms) => (lane ? doing(lane, ms) : at(group.states, ms)?.[2] ?? "no group yet");
  const near = steps.filter((step) => (lane ? step.lane === lane.index : step.stream === "group")).reduce((best, step) => (
    best === null || Math.abs(step.at_ms - from) < Math.abs(best.at_ms - from) ? step : best), /** @type {import("./view.js").Step|null} */ (null));
  const so = mark.kind === "at" ? state(from) : `${state(from)} at its beginning, ${state(to)} at its end`;
  return near ? `${so}; nearest step: ${instant(near.at_ms)}, ${near.type}` : so;
}

/** Marks as shapes above the picture. @param {Mark[]} marks @param {Mark|null} pencil @param {Group} group
 * @param {(ms: number) => number} x @param {ReturnType<typeof layout>} place @param {{from: number, to: number}} window */
export function shapes(marks, pencil, group, x, place, window) {
  const drawn = marks.map((mark) => shape(mark, "mine", group, x, place, window));
  return html`<g>${drawn}${pencil && shape(pencil, "mine pencil", group, x, place, window)}</g>`;
}

/** @param {Mark} mark @param {string} kind @param {Group} group @param {(ms: number) => number} x
 * @param {ReturnType<typeof layout>} place @param {{from: number, to: number}} window */
function shape(mark, kind, group, x, place, window) {
  const lane = group.lanes.find((each) => each.name === mark.lane);
  if (mark.at_ms > window.to || (mark.to_ms ?? mark.at_ms) < window.from) return null;
  const left = Math.max(GUTTER, x(mark.at_ms));
  if (mark.kind === "owner") {
    const row = group.raster.findIndex((each) => rowName(each) === mark.row), y = place.rasterTop + row * place.cell, tall = Math.max(12, place.cell);
    return row >= 0 && html`<g class=${kind}><rect x=${left} y=${y - 1} width="22" height=${tall} fill=${lane ? fillOf(lane.index) : "#fff"} />
      <text x=${left + 11} y=${y + 10} class="letter">${lane ? letter(lane.index) : "–"}?</text></g>`;
  }
  const y = lane ? place.lane(lane.index) - 4 : AXIS, tall = lane ? 26 : place.height - AXIS;
  if (mark.kind === "at") return html`<g class=${kind}><line x1=${left} x2=${left} y1=${y} y2=${y + tall} /><text x=${left + 3} y=${y + 9}>?</text></g>`;
  return html`<g class=${kind}><rect class="span" x=${left} y=${y} width=${Math.max(2, x(mark.to_ms ?? mark.at_ms) - left)} height=${tall} /><text x=${left + 3} y=${y + 9}>?</text></g>`;
}

/** The controls, above the picture. @param {{marking: boolean, owner: string, members: string[], onToggle: () => void, onOwner: (name: string) => void}} props */
export function Pencil({ marking, owner, members, onToggle, onOwner }) {
  return html`<section class="predictions" aria-label="predict">
    <div class="tools"><button type="button" class="mark-prediction" aria-pressed=${marking} onClick=${onToggle}>${marking ? "done marking" : "mark a prediction on the picture"}</button>
      ${marking && html`<label>owner in a partition's row <select value=${owner} onChange=${(/** @type {any} */ event) => onOwner(event.target.value)}>
        ${members.map((name) => html`<option value=${name}>${name}</option>`)}<option value="">nobody</option></select></label>`}</div>
    ${marking && html`<p>Point at an instant, drag over a span, or point into a partition's row to say who has it. With the keyboard, in the picture: arrows move
      (with shift: a span), up and down choose a line, enter marks, backspace takes the last mark away, P ends. Predictions are not scored; you can go on without.</p>`}</section>`;
}

/** What was marked, below the picture; beside it, once the answer is shown, what the run has there.
 * @param {{marks: Mark[], group: Group, steps: import("./view.js").Step[], revealed: boolean, onRemove: (at: number) => void}} props */
export function Marked({ marks, group, steps, revealed, onRemove }) {
  if (!marks.length) return null;
  return html`<ul class="marked" aria-label="your predictions">${marks.map((mark, index) => html`<li>You say: ${told(mark)}.${revealed && html` <strong>In the run: ${there(mark, group, steps)}.</strong>`}
    ${" "}<button type="button" class="link" aria-label=${`take away: ${told(mark)}`} onClick=${() => onRemove(index)}>take away</button></li>`)}</ul>`;
}
