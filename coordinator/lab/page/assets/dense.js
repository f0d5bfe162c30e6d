// @ts-check
/** A long or busy window: signs of one kind are one path, so that a picture of half a million marks has some hundred nodes; and who does not fit has a band. */
import { html, instant } from "./view.js";

/** @typedef {import("./view.js").Group} Group
 * @typedef {import("./view.js").Lane} Lane
 * @typedef {import("./draw.js").Window} Window
 * @typedef {{from: number, to: number}} Span
 * @typedef {(ms: number) => number} X */

/** So many lanes are drawn in full at most; a group that never had more than `ALWAYS` has all of them. */
const MOST_LANES = 60, ALWAYS = 12;
/** From so many signs in a window on they are drawn as paths. */
const DENSE = 3000;
/** Requests are left out where they would stand on one in so many pixels. */
const COVERED = 10;
export const CROWD = 34;

/** The first index from which on spans end after an instant. @param {[number, number, ...any[]][]} spans @param {number} ms */
function endingAfter(spans, ms) {
  let low = 0, high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][1] <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How long a lane's process runs within a window. @param {Lane} lane @param {Window} window */
function present(lane, { from, to }) {
  let sum = 0;
  for (let at = endingAfter(lane.activity, from); at < lane.activity.length && lane.activity[at][0] < to; at++) {
    sum += Math.min(to, lane.activity[at][1]) - Math.max(from, lane.activity[at][0]);
  }
  return sum;
}

/** The lanes that have no place of their own: who does not run in the window, and, of very many, who runs the shortest time. @param {Group} group @param {Window} [window] @returns {Set<number>} */
export function away(group, window) {
  if (!window || group.lanes.length <= ALWAYS) return new Set();
  const times = group.lanes.map((lane) => present(lane, window)), there = times.map((_, at) => at).filter((at) => times[at] > 0);
  const kept = new Set(there.sort((one, other) => times[other] - times[one] || one - other).slice(0, MOST_LANES));
  return new Set(group.lanes.map((lane) => lane.index).filter((at) => !kept.has(at)));
}

/** The marks of a lane in a window, from the first to before the second index: they are in the order of time. @param {Lane} lane @param {Span} span @returns {[number, number]} */
function rangeIn({ marks: { at_ms } }, { from, to }) {
  const first = (/** @type {number} */ ms) => {
    let low = 0, high = at_ms.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at_ms[middle] < ms) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return [first(from), first(to + 1)];
}

/** A lane's marks in a window. @param {Lane} lane @param {Span} span @returns {[number, string][]} */
export function marksIn(lane, span) {
  const { at_ms, kinds, kind } = lane.marks, [first, end] = rangeIn(lane, span);
  return at_ms.slice(first, end).map((ms, at) => [ms, kinds[kind[first + at]]]);
}

/** Whether a window has too many signs to draw each. @param {Group} group @param {Lane[]} lanes @param {Window} window */
export function isDense(group, lanes, window) {
  let count = 0;
  for (const lane of lanes) {
    const [first, end] = rangeIn(lane, window);
    count += end - first;
  }
  for (const row of group.raster) count += endingAfter(row.spans, window.to) - endingAfter(row.spans, window.from);
  return count > DENSE;
}

/** All partitions of a dense window, one path an owner's colour. @param {Group} group @param {Window} window @param {X} x @param {{rasterTop: number, cell: number}} place
 * @param {number} tall @param {(index: number) => string} fillOf @param {number} colours */
export function denseRaster(group, window, x, place, tall, fillOf, colours) {
  const /** @type {Record<string, string[]>} */ paths = {};
  group.raster.forEach((row, line) => {
    const y = place.rasterTop + line * place.cell;
    for (let at = endingAfter(row.spans, window.from); at < row.spans.length && row.spans[at][0] < window.to; at++) {
      const [from, to, owners, still] = row.spans[at], left = Math.round(x(from)), wide = Math.max(1, Math.round(x(to)) - left);
      const kind = owners.length > 1 ? "two" : owners.length ? `${owners[0] % colours}` : "nobody", shape = `M${left} ${y}h${wide}v${tall}h${-wide}z`;
      (paths[kind] ??= []).push(shape);
      if (still) (paths.still ??= []).push(shape);
    }
  });
  const late = ["two", "nobody", "still"], kinds = [...Object.keys(paths).filter((kind) => !late.includes(kind)), ...late.filter((kind) => paths[kind])];
  return html`<g class="raster dense">${kinds.map((kind) => html`<path class=${late.includes(kind) ? `cell ${kind}` : "cell"} d=${paths[kind].join("")}
    fill=${kind === "still" ? "url(#lost)" : late.includes(kind) ? undefined : fillOf(Number(kind))} />`)}</g>`;
}

/** The requests and answers of all lanes in a dense window; none where they would cover it. @param {Lane[]} lanes @param {Window} window @param {X} x @param {(lane: Lane) => number} topOf @param {number} top
 * @param {Record<string, [string, string]>} glyphs */
export function denseArrows(lanes, window, x, topOf, top, glyphs) {
  const every = new Set(), /** @type {string[]} */ d = [], most = window.width / COVERED;
  for (const lane of lanes) {
    const { at_ms, kinds, kind } = lane.marks, drawn = kinds.map((each) => each in glyphs), y = topOf(lane), [first, end] = rangeIn(lane, window);
    let last = NaN;
    for (let at = first; at < end; at++) {
      if (!drawn[kind[at]]) continue;
      const px = Math.round(x(at_ms[at]) / 2) * 2;
      if (px === last) continue;
      last = px;
      every.add(px);
      if (every.size >= most) return null;
      d.push(`M${px} ${top}V${y}`);
    }
  }
  return html`<path class="mark wires" d=${d.join("")} />`;
}

/** What a lane's process does in a dense window, one path a kind. @param {Lane} lane @param {Window} window @param {X} x @param {number} y @param {number} tall @param {(does: string) => string} fillOf */
export function denseDoings(lane, window, x, y, tall, fillOf) {
  const /** @type {Record<string, string[]>} */ paths = {};
  for (let at = endingAfter(lane.activity, window.from); at < lane.activity.length && lane.activity[at][0] < window.to; at++) {
    const [from, to, does] = lane.activity[at], left = Math.round(x(from)), wide = Math.max(1, Math.round(x(to)) - left);
    (paths[does] ??= []).push(`M${left} ${y}h${wide}v${tall}h${-wide}z`);
  }
  return Object.entries(paths).map(([does, parts]) => html`<path class=${`does ${does}`} d=${parts.join("")} fill=${fillOf(does)} />`);
}

/** Heartbeats, commits and ends on a lane in a dense window. @param {Lane} lane @param {Window} window @param {X} x @param {number} y */
export function denseMarks(lane, window, x, y) {
  const /** @type {Record<string, Set<number>>} */ at = { heartbeat: new Set(), commit: new Set(), end: new Set(), refused: new Set() };
  const { at_ms, kinds, kind } = lane.marks, [first, end] = rangeIn(lane, window);
  const sorts = kinds.map((each) => at[each.endsWith("-refused") ? "refused" : ["crashed", "removed", "failed", "left"].includes(each) ? "end" : each]);
  for (let each = first; each < end; each++) sorts[kind[each]]?.add(Math.round(x(at_ms[each])));
  const path = (/** @type {string} */ sort, /** @type {(at: number) => string} */ shape) => [...at[sort]].map(shape).join("");
  return html`<path class="mark beats" d=${path("heartbeat", (px) => `M${px} ${y + 19}v5`)} /><path class="mark beats" d=${path("commit", (px) => `M${px} ${y + 21}v2`)} />
    <path class="mark refusals" d=${path("refused", (px) => `M${px} ${y + 19}v8`)} /><path class="mark" d=${path("end", (px) => `M${px - 4} ${y + 5}l8 8m0-8l-8 8`)} />`;
}

/** States of a dense window, one path a state. @param {Group} group @param {Window} window @param {X} x @param {number} top @param {Record<string, string>} hatched */
export function denseStates(group, window, x, top, hatched) {
  const /** @type {Record<string, string[]>} */ paths = {};
  for (let at = endingAfter(group.states, window.from); at < group.states.length && group.states[at][0] < window.to; at++) {
    const [from, to, state] = group.states[at], left = Math.round(x(from)), wide = Math.max(1, Math.round(x(to)) - left);
    (paths[state] ??= []).push(`M${left} ${top}h${wide}v21h${-wide}z`);
  }
  const stable = (/** @type {string} */ state) => Number(state in hatched);
  return Object.keys(paths).sort((one, other) => stable(one) - stable(other)).map((state) => html`<path class=${`state ${state}`} d=${paths[state].join("")}><title>${state}</title></path>`);
}

/** How many others run, over time. @param {Group} group @param {Set<number>} gone @param {Window} window @param {X} x @param {number} y */
export function crowd(group, gone, window, x, y) {
  const steps = new Map();
  for (const index of gone) {
    const { activity } = group.lanes[index];
    for (let at = endingAfter(activity, window.from); at < activity.length && activity[at][0] < window.to; at++) {
      const [from, to] = [Math.round(x(activity[at][0])), Math.round(x(activity[at][1]))];
      steps.set(from, (steps.get(from) ?? 0) + 1);
      steps.set(to, (steps.get(to) ?? 0) - 1);
    }
  }
  const points = [...steps].sort((one, other) => one[0] - other[0]);
  let count = 0, most = 0;
  const heights = points.map(([px, step]) => { count += step; most = Math.max(most, count); return [px, count]; });
  if (!most) return null;
  const tall = CROWD - 12, base = y + tall, d = heights.map(([px, many]) => `H${px}V${base - (many / most) * tall}`).join("");
  return html`<path class="crowd" d=${`M${heights[0][0]} ${base}${d}V${base}z`}><title>of those without a lane at most ${most} run at once, from ${instant(window.from)} to ${instant(window.to)}</title></path>`;
}
