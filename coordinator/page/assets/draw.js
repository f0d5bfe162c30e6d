// @ts-check
/** The picture of a group as SVG: a time axis, the coordinator's band, member lanes, partitions over time. A pure function of its input. */
import { distance, html, instant, letter, seconds, tick, ticks, within } from "./view.js";

/** @typedef {import("./view.js").Group} Group
 * @typedef {{from: number, to: number, width: number, horizon: number, only?: Set<number>}} Window */

export const GUTTER = 96;
export const LANE = 38;
const AXIS = 24, BAND = 58, GAP = 10, REPLICAS = 46;
const PATTERNS = 6, COLOURS = 8;
/** Nothing is drawn farther out, in pixels: at a millisecond's zoom a day would be wider than browsers can draw. */
const FAR = 20_000;

/** `moved`: partitions whose replicas are drawn, each on a line of its own. @param {Group} group @param {import("./view.js").Moved[]} [moved] */
export function layout(group, moved = []) {
  const cell = group.raster.length > 60 ? 5 : group.raster.length > 24 ? 8 : 14;
  const lanesTop = AXIS + BAND, rasterTop = lanesTop + group.lanes.length * LANE + GAP;
  const replicasTop = rasterTop + group.raster.length * cell + 8;
  return { cell, lanesTop, rasterTop, replicasTop, height: replicasTop + moved.length * REPLICAS };
}

/** Where a lane's bar begins. @param {number} index */
export const laneY = (index) => AXIS + BAND + index * LANE + 14;

/** @param {Window} window */
export function scale(window) {
  const wide = window.width - GUTTER - 8;
  const each = wide / Math.max(1, window.to - window.from);
  return (/** @type {number} */ ms) => Math.max(-FAR, Math.min(FAR, GUTTER + (ms - window.from) * each));
}

/** @param {Window} window @param {number} x */
export function invert(window, x) {
  const wide = window.width - GUTTER - 8;
  return Math.round(window.from + ((x - GUTTER) / wide) * (window.to - window.from));
}

export function Definitions() {
  const stripes = [];
  for (let colour = 0; colour < COLOURS; colour++) {
    stripes.push(html`<pattern id=${`own-${colour}`} width="6" height="6" patternUnits="userSpaceOnUse">
      <rect width="6" height="6" class=${`fill-${colour}`} />${mark(colour % PATTERNS)}</pattern>`);
  }
  return html`<defs>
    ${stripes}
    <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="6" height="6" class="paper" /><line x1="0" y1="0" x2="0" y2="6" class="hatching" /></pattern>
    <pattern id="cross" width="6" height="6" patternUnits="userSpaceOnUse">
      <rect width="6" height="6" class="paper" /><path d="M0 0L6 6M6 0L0 6" class="hatching" /></pattern>
    <pattern id="still" width="5" height="5" patternUnits="userSpaceOnUse"><path d="M0 2.5H5" class="hatching" /></pattern>
    <marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="5" markerHeight="5" orient="auto"><path d="M0 0L6 3L0 6z" class="tip" /></marker>
  </defs>`;
}

/** @param {number} kind */
function mark(kind) {
  const path = ["", "M0 6L6 0", "M0 3H6", "M0 0L6 6", "M3 0V6", "M3 2.2v1.6"][kind];
  return path ? html`<path d=${path} class="weave" />` : null;
}

/** @param {number} index */
export function fillOf(index) {
  return `url(#own-${index % COLOURS})`;
}

/** `uid` tells several pictures on one page apart. @param {{group: Group, replicas?: import("./view.js").Moved[], window: Window, label: string, uid?: number}} props */
export function Drawing({ group, replicas = [], window, label, uid = -1 }) {
  const x = scale(window), place = layout(group, replicas), end = Math.min(window.to, window.horizon);
  return html`<svg class="picture" viewBox=${`0 0 ${window.width} ${place.height}`} width=${window.width} height=${place.height}
      role="img" aria-label=${label}>
    <${Definitions} />
    <clipPath id=${`plot${uid}`}><rect x=${GUTTER} y="0" width=${Math.max(0, x(end) - GUTTER)} height=${place.height} /></clipPath>
    ${axis(window, x, place.height)}
    ${labels(group, place)}
    ${replicas.map((each, at) => html`<g class="labels"><text x="4" y=${place.replicasTop + at * REPLICAS + 12} class="small">replicas of</text>
      <text x="4" y=${place.replicasTop + at * REPLICAS + 24} class="small">${short(each.name, 16)}</text></g>`)}
    <g clip-path=${`url(#plot${uid})`}>
      ${band(group, window, x, place)}
      ${group.lanes.map((lane) => laneShape(lane, window, x))}
      ${raster(group, window, x, place)}
      ${replicas.map((each, at) => replicaRow(each, window, x, place.replicasTop + at * REPLICAS))}
    </g>
    ${window.horizon < window.to && html`<rect class="future" x=${x(end)} y=${AXIS} width=${Math.max(0, x(window.to) - x(end))}
        height=${place.height - AXIS} />`}
  </svg>`;
}

/** @param {Window} window @param {(ms: number) => number} x @param {number} height */
function axis(window, x, height) {
  const most = Math.max(2, (window.width - GUTTER) / 90), step = distance(window.from, window.to, most);
  return html`<g class="axis">${ticks(window.from, window.to, most).map((at) => html`
    <line x1=${x(at)} x2=${x(at)} y1=${AXIS - 6} y2=${height} /><text x=${x(at) + 3} y=${AXIS - 10}>${tick(at, step, window.to)}</text>`)}</g>`;
}

/** @param {Group} group @param {ReturnType<typeof layout>} place */
function labels(group, place) {
  const number = group.protocol === "consumer" ? "group epoch" : "generation";
  const every = Math.ceil(11 / place.cell);
  return html`<g class="labels">
    <text x="4" y=${AXIS + 14}>coordinator</text><text x="4" y=${AXIS + 33} class="small">${number}</text>
    ${group.lanes.map((lane) => html`<g><rect x="4" y=${laneY(lane.index)} width="18" height="16" fill=${fillOf(lane.index)} class="swatch" />
      <text x="13" y=${laneY(lane.index) + 12} class="letter">${letter(lane.index)}</text>
      <text x="26" y=${laneY(lane.index) + 12}>${short(lane.name)}<title>${lane.name}</title></text></g>`)}
    ${group.raster.map((row, at) => at % every === 0 && html`<text x=${GUTTER - 6} y=${place.rasterTop + at * place.cell + Math.min(11, place.cell)}
      class="small right">${short(row.topic, 8)}-${row.partition}</text>`)}</g>`;
}

/** @param {string} name @param {number} most */
function short(name, most = 10) {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

/** @param {Group} group @param {Window} window @param {(ms: number) => number} x @param {ReturnType<typeof layout>} place */
function band(group, window, x, place) {
  const shown = within(group.states, window.from, window.to);
  return html`<g>
    ${shown.map(([from, to, state]) => html`<g><rect class=${`state ${state}`} x=${x(from)} y=${AXIS} width=${Math.max(0.8, x(to) - x(from))} height="20" />
      ${state === "CompletingRebalance" && html`<rect x=${x(from)} y=${AXIS} width=${Math.max(0.8, x(to) - x(from))} height="20" fill="url(#still)" />`}
      ${x(to) - Math.max(GUTTER, x(from)) > state.length * 6.2 && html`<text class="in-band" x=${Math.max(GUTTER, x(from)) + 4} y=${AXIS + 14}>${state}</text>`}
      <title>${state} from ${instant(from)} to ${instant(to)}</title></g>`)}
    ${within(group.numbers, window.from, window.to).map(([from, to, number]) => html`<g class="number">
      <line x1=${x(from)} x2=${x(from)} y1=${AXIS + 20} y2=${place.rasterTop - GAP} />
      ${x(to) - x(from) > 14 && html`<text x=${Math.max(GUTTER, x(from)) + 3} y=${AXIS + 34}>${number}</text>`}</g>`)}
    ${new Set(group.brokers.map((each) => each[2])).size > 1 && within(group.brokers, window.from, window.to).map(([from, to, broker]) => (
      x(to) - Math.max(GUTTER, x(from)) > 70 && html`<text class="small" x=${Math.max(GUTTER, x(from)) + 24} y=${AXIS + 33}>on broker ${broker}</text>`))}
    ${group.deadlines.filter((each) => (each.until_ms ?? each.due_ms) > window.from && each.at_ms < window.to).map((each) => flag(each, x))}
  </g>`;
}

/** @param {import("./view.js").Deadline} deadline @param {(ms: number) => number} x */
function flag(deadline, x) {
  const until = Math.min(deadline.until_ms ?? deadline.due_ms, deadline.due_ms), y = AXIS + 46;
  const met = deadline.until_ms !== null && deadline.until_ms < deadline.due_ms;
  return html`<g class=${met ? "deadline" : "deadline due"}><line x1=${x(deadline.at_ms)} x2=${x(until)} y1=${y} y2=${y} />
    ${!met && html`<path d=${`M${x(until)} ${y + 6}V${y - 6}l9 3l-9 3`} />`}
    <title>${deadline.kind} phase: deadline ${instant(deadline.due_ms)}${met ? `, over at ${instant(until)}` : ""}</title></g>`;
}

/** @param {import("./view.js").Lane} lane @param {Window} window @param {(ms: number) => number} x */
function laneShape(lane, window, x) {
  const y = laneY(lane.index);
  const width = (/** @type {import("./view.js").Span} */ span) => Math.max(0.8, x(span[1]) - x(span[0]));
  return html`<g class=${lane.inferred ? "lane inferred" : "lane"}>
    ${within(lane.activity, window.from, window.to).map((span) => html`<rect class=${`does ${span[2]}`} x=${x(span[0])} y=${y} width=${width(span)} height="16"
      fill=${span[2] === "consuming" ? fillOf(lane.index) : fills[span[2]]}><title>${lane.name}: ${WORDS[span[2]] ?? span[2]}, ${instant(span[0])} to ${instant(span[1])}</title></rect>`)}
    ${within(lane.belief, window.from, window.to).map((span) => html`<g class="belief"><rect x=${x(span[0])} y=${y - 2} width=${width(span)} height="20" />
      <rect x=${x(span[0])} y=${y - 5} width=${width(span)} height="26" />
      <title>${lane.name} believes that it owns ${span[2]} partitions, ${instant(span[0])} to ${instant(span[1])}</title></g>`)}
    ${within(lane.leads, window.from, window.to).map((span) => html`<g class="leads"><line x1=${x(span[0])} x2=${x(span[1])} y1=${y - 2} y2=${y - 2} />
      <path d=${crown(Math.max(GUTTER, x(span[0])) + 2, y - 12)} /><title>leader</title></g>`)}
    ${within(lane.epochs, window.from, window.to).map((span) => width(span) > 44 && html`<text class="small epoch" x=${Math.max(GUTTER, x(span[0])) + 3} y=${y + 26}>epoch ${span[2]}</text>`)}
    ${marks(lane, window, x, y)}</g>`;
}

export const WORDS = /** @type {Record<string, string>} */ ({
  consuming: "consumes", stopped: "stopped for a rebalance", idle: "runs and owns nothing", stalled: "does not poll", frozen: "stands still",
});
const fills = /** @type {Record<string, string>} */ ({ stopped: "url(#hatch)", stalled: "url(#hatch)", frozen: "url(#cross)", idle: "none" });

/** @param {number} x @param {number} y */
const crown = (x, y) => `M${x} ${y + 8}V${y + 1}l3 3l2.5-4l2.5 4l3-3v7z`;

const GLYPHS = /** @type {Record<string, [string, string]>} */ ({
  join: ["J", "up"], sync: ["S", "up"], leave: ["L", "up"], "join-answered": ["", "down"], "sync-answered": ["", "down"],
  "join-refused": ["!", "down"], "sync-refused": ["!", "down"], "heartbeat-refused": ["!", "down"], "commit-refused": ["!", "down"],
});

/** Requests and answers as arrows between lane and band, heartbeats as ticks; what falls on one pixel is drawn once.
 * @param {import("./view.js").Lane} lane @param {Window} window @param {(ms: number) => number} x @param {number} y */
function marks(lane, window, x, y) {
  const taken = new Set(), drawn = [];
  for (const [at, kind] of lane.marks) {
    if (at < window.from || at > window.to) continue;
    const place = `${Math.round(x(at))} ${kind}`;
    if (taken.has(place)) continue;
    taken.add(place);
    drawn.push(glyph(kind, x(at), y));
  }
  return drawn;
}

/** @param {string} kind @param {number} at @param {number} y */
function glyph(kind, at, y) {
  const arrow = GLYPHS[kind];
  if (arrow) {
    const up = arrow[1] === "up", top = AXIS + 54;
    return html`<g class=${`mark ${kind}`}><line x1=${at} x2=${at} y1=${up ? y : top} y2=${up ? top : y} marker-end="url(#tip)" />
      ${arrow[0] && html`<text x=${at + 2} y=${y + 27}>${arrow[0]}</text>`}</g>`;
  }
  if (kind === "heartbeat") return html`<line class="mark beat" x1=${at} x2=${at} y1=${y + 17} y2=${y + 22} />`;
  if (kind === "commit") return html`<circle class="mark commit" cx=${at} cy=${y + 20} r="1.6" />`;
  if (kind === "crashed" || kind === "removed" || kind === "failed") {
    return html`<path class=${`mark ${kind}`} d=${`M${at - 4} ${y + 4}l8 8m0-8l-8 8`} />`;
  }
  if (kind === "fault" || kind === "stalled" || kind === "resumed") return html`<path class="mark fault" d=${`M${at} ${y - 6}l-3 7h3l-2 7l6-9h-3l2-5z`} />`;
  return null;
}

/** Where a partition is kept: all its replicas (AR) and, while it moves, the original ones (OAR) and the target (RAR).
 * @param {import("./view.js").Moved} moved @param {Window} window @param {(ms: number) => number} x @param {number} y */
function replicaRow(moved, window, x, y) {
  return html`<g class="brokers">${within(moved.spans, window.from, window.to).map(([from, to, each]) => {
    const left = Math.max(GUTTER, x(from)), wide = x(to) - left;
    const lines = each.moving ? [`AR ${each.all}`, `OAR ${each.original}`, `RAR ${each.target}`] : [`AR ${each.all}`, `leader ${each.leader}`];
    const said = `${moved.name}, ${instant(from)} to ${instant(to)}: ${lines.join("; ")}; leader ${each.leader}${each.in_sync.length ? `; in sync ${each.in_sync}` : ""}`;
    return html`<g class=${each.moving ? "moving" : "rests"}><rect x=${x(from)} y=${y} width=${Math.max(0.8, x(to) - x(from))} height=${REPLICAS - 6} />
      ${lines.map((line, at) => wide > line.length * 6 && html`<text class="small" x=${left + 4} y=${y + 11 + at * 12}>${line}</text>`)}<title>${said}</title></g>`;
  })}</g>`;
}

/** @param {Group} group @param {Window} window @param {(ms: number) => number} x @param {ReturnType<typeof layout>} place */
function raster(group, window, x, place) {
  const tall = Math.max(3, place.cell - 1);
  return html`<g class="raster">${group.raster.map((row, at) => {
    const y = place.rasterTop + at * place.cell;
    return within(row.spans, window.from, window.to).map(([from, to, owners, still]) => {
      const wide = Math.max(0.6, x(to) - x(from)), left = x(from);
      const title = owners.length ? owners.map((each) => group.lanes[each].name).join(" and ") : "nobody";
      return html`<g><rect class=${owners.length > 1 ? "cell two" : owners.length ? "cell" : "cell nobody"} x=${left} y=${y} width=${wide} height=${tall}
          fill=${owners.length ? fillOf(owners[0]) : undefined} />
        ${still && html`<rect x=${left} y=${y} width=${wide} height=${tall} fill="url(#cross)" opacity="0.7" />`}
        ${place.cell >= 12 && owners.length > 0 && wide > 9 * owners.length && html`<text class="letter" x=${Math.max(GUTTER, left) + 6} y=${y + 10.5}>${owners.map(letter).join("")}</text>`}
        <title>${row.topic}-${row.partition}: ${title}, ${instant(from)} to ${instant(to)} (${seconds(to - from)})</title></g>`;
    });
  })}</g>`;
}
