// @ts-check
/** The picture of a group as SVG: a time axis, the coordinator's band, member lanes, partitions over time. A pure function of its input. */
import { Component } from "./vendor/preact.mjs";
import { CROWD, away, crowd, denseArrows, denseDoings, denseMarks, denseRaster, denseStates, isDense, marksIn } from "./dense.js";
import { queueLabels, queueLegend, queueTops, queues } from "./queues.js";
import { at, distance, html, instant, letter, seconds, tick, ticks, within } from "./view.js";

/** @typedef {import("./view.js").Group} Group
 * @typedef {{from: number, to: number, width: number, horizon: number, only?: Set<number>}} Window */

export const GUTTER = 104;
export const AXIS = 26;
const LANE = 44, COMPACT = 34, FOLDED = 8, BAND = 70, GAP = 12, REPLICAS = 50;
/** Where words stand that are about the group and no member: below the band, above all bars. */
export const NOTED = AXIS + 66;
const PATTERNS = 6, COLOURS = 8;
/** Nothing is drawn farther out, in pixels: at a millisecond's zoom a day would be wider than browsers can draw. */
const FAR = 20_000;

/** Where things are. `compact`: less high, without letters, to stand above another picture. `moved`: partitions whose replicas are drawn, each on a line of its own; `open`: the lanes that are drawn in full, all if it is
 * not given, while the others are thin strips below. Of many lanes those that do not run in the `window` have none. @param {Group} group @param {import("./view.js").Moved[]} [moved] @param {Set<string>} [open]
 * @param {boolean} [compact] @param {Window} [window] */
export function layout(group, moved = [], open, compact = false, window) {
  const cell = group.raster.length > 60 ? 5 : group.raster.length > 24 ? 9 : compact ? 8 : group.raster.length > 9 ? 13 : 16, lanesTop = AXIS + BAND, tall = compact ? COMPACT : LANE, above = compact ? 13 : 16;
  const gone = away(group, window), isOpen = group.lanes.map((lane) => !gone.has(lane.index) && (!open || open.has(lane.name))), count = isOpen.filter(Boolean).length, folded = isOpen.length - count - gone.size;
  const foldsTop = lanesTop + count * tall, crowdTop = foldsTop + (folded ? folded * FOLDED + 12 : 0), rasterTop = crowdTop + (gone.size ? CROWD : 0) + GAP;
  let full = 0, thin = 0;
  const tops = isOpen.map((each, at) => (each ? lanesTop + full++ * tall + above : gone.has(at) ? crowdTop : foldsTop + thin++ * FOLDED + 6));
  const [queuesAt, below] = queueTops(group, rasterTop + group.raster.length * cell, compact), replicasTop = below + 8;
  return { cell, compact, lanesTop, foldsTop, crowdTop, gone, rasterTop, queuesAt, replicasTop, height: replicasTop + moved.length * REPLICAS,
    isOpen, folded: group.lanes.filter((_, at) => !isOpen[at] && !gone.has(at)).map((lane) => lane.name),
    /** Where a lane's bar begins. @param {number} index */
    lane: (index) => tops[index],
    /** The lane at a height, if any. @param {number} y */
    laneAt: (y) => { const found = tops.findIndex((top, at) => isOpen[at] && y >= top - above && y < top - above + tall); return found < 0 ? undefined : found; } };
}

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
    <pattern id="busy" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="paper" /><path d="M3 0V6" class="hatching" /></pattern>
    <pattern id="slant" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="7" class="hatching" /></pattern>
    <pattern id="lost" width="7" height="7" patternUnits="userSpaceOnUse"><path d="M0 0L7 7M7 0L0 7" class="losing" /></pattern>
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

/** `uid` tells several pictures on one page apart, `open` the lanes that are drawn in full.
 * @param {{group: Group, replicas?: import("./view.js").Moved[], window: Window, label: string, uid?: number|string, open?: Set<string>, compact?: boolean}} props */
export function Drawing({ group, replicas = [], window, label, uid = -1, open, compact }) {
  const x = scale(window), place = layout(group, replicas, open, compact, window), end = Math.min(window.to, window.horizon);
  const lanes = group.lanes.filter((_, at) => place.isOpen[at]), rest = group.lanes.filter((_, at) => !place.isOpen[at] && !place.gone.has(at)), dense = isDense(group, [...lanes, ...rest], window);
  return html`<svg class="picture" viewBox=${`0 0 ${window.width} ${place.height}`} width=${window.width} height=${place.height}
      role="img" aria-label=${label}>
    <${Definitions} />
    <clipPath id=${`plot${uid}`}><rect x=${GUTTER} y="0" width=${Math.max(0, x(end) - GUTTER)} height=${place.height} /></clipPath>
    ${axis(window, x, place.height)}
    ${labels(group, place)}
    ${place.queuesAt.length > 0 && html`<g class="labels">${queueLabels(group, place.queuesAt, window, GUTTER, place.compact)}</g>`}
    ${replicas.map((each, at) => html`<g class="labels"><text x="4" y=${place.replicasTop + at * REPLICAS + 13}>replicas of</text>
      <text x="4" y=${place.replicasTop + at * REPLICAS + 28}>${short(each.name, 14)}</text></g>`)}
    <g clip-path=${`url(#plot${uid})`}>
      <g class="messages">${dense ? denseArrows(lanes, window, x, (lane) => place.lane(lane.index), AXIS + 54, GLYPHS) : lanes.map((lane) => arrows(lane, window, x, place.lane(lane.index)))}</g>
      ${place.gone.size > 0 && crowd(group, place.gone, window, x, place.crowdTop + 6)}
      ${band(group, window, x, place, dense)}
      ${rest.map((lane) => strip(lane, window, x, place.lane(lane.index), dense))}
      ${lanes.map((lane) => laneShape(lane, window, x, place.lane(lane.index), place.compact, dense))}
      ${dense ? denseRaster(group, window, x, place, Math.max(3, place.cell - 1), fillOf, COLOURS) : raster(group, window, x, place)}
      ${queues(group, place.queuesAt, window, x, fillOf, GUTTER, place.compact)}
      ${replicas.map((each, at) => replicaRow(each, window, x, place.replicasTop + at * REPLICAS))}
    </g>
    ${window.horizon < window.to && html`<rect class="future" x=${x(end)} y=${AXIS} width=${Math.max(0, x(window.to) - x(end))}
        height=${place.height - AXIS} />`}
  </svg>`;
}

/** @param {Window} window @param {(ms: number) => number} x @param {number} height */
export function axis(window, x, height) {
  const most = Math.max(2, (window.width - GUTTER) / (window.width < 480 ? 62 : 90)), step = distance(window.from, window.to, most);
  return html`<g class="axis">${ticks(window.from, window.to, most).map((at) => {
    const text = tick(at, step, window.to), fits = x(at) + 3 + text.length * 7 <= window.width;
    return html`<line x1=${x(at)} x2=${x(at)} y1=${AXIS - 6} y2=${height} /><text x=${fits ? x(at) + 3 : x(at) - 3} y=${AXIS - 10} class=${fits ? undefined : "right"}>${fits || x(at) - x(at - step) > text.length * 15 ? text : ""}</text>`;
  })}</g>`;
}

/** @param {Group} group @param {ReturnType<typeof layout>} place */
function labels(group, place) {
  const every = Math.ceil(12 / place.cell), { folded } = place;
  return html`<g class="labels">
    <text x="4" y=${AXIS + 15}>coordinator</text><text x="4" y=${AXIS + 36}>${group.protocol === "classic" ? "generation" : "epoch"}</text>
    ${group.lanes.map((lane, at) => place.isOpen[at] && html`<g><rect x="4" y=${place.lane(at)} width="20" height="18" fill=${fillOf(at)} class="swatch" />
      <text x="14" y=${place.lane(at) + 13.5} class="letter">${letter(at)}</text>
      <text x="29" y=${place.lane(at) + 14}>${ends(lane.label ?? lane.name)}<title>${lane.label ?? lane.name}</title></text></g>`)}
    ${folded.length > 0 && html`<text x="4" y=${place.foldsTop + Math.min(16, folded.length * FOLDED / 2 + 9)}>${folded.length} more<title>${folded.join(", ")}</title></text>`}
    ${place.gone.size > 0 && html`<text x="4" y=${place.crowdTop + 22}>${place.gone.size} more</text>`}
    ${group.raster.map((row, at) => at % every === 0 && html`<text x=${GUTTER - 6} y=${place.rasterTop + at * place.cell + Math.min(12, place.cell + 1)}
      class="right">${short(row.label ?? row.topic, 8)}-${row.partition}</text>`)}</g>`;
}

/** @param {string} name @param {number} most */
function short(name, most = 10) {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

/** A member's name, its end kept: that is what tells members of one client id apart. @param {string} name */
function ends(name) {
  return name.length > 10 ? `${name.slice(0, 5)}…${name.slice(-4)}` : name;
}

/** @param {Group} group @param {Window} window @param {(ms: number) => number} x @param {ReturnType<typeof layout>} place @param {boolean} dense what is too narrow to be read is bundled */
function band(group, window, x, place, dense) {
  const left = (/** @type {number} */ ms) => Math.max(GUTTER, x(ms)), moves = new Set(group.brokers.map((each) => each[2])).size > 1;
  const wide = (/** @type {import("./view.js").Span} */ span) => !dense || x(Math.min(span[1], window.horizon)) - left(span[0]) > 24;
  return html`<g>${dense && denseStates(group, window, x, AXIS, UNSTABLE)}
    ${within(group.states, window.from, window.to).filter(wide).map(([from, to, state]) => {
      const broker = moves ? at(group.brokers, from)?.[2] : undefined, room = x(Math.min(to, window.to, window.horizon)) - left(from);
      const name = [...(broker === undefined ? [] : [`${state} · broker ${broker}`]), state, SHORT[state] ?? ""].find((each) => room > each.length * 7.4 + 6) ?? "";
      return html`<g><rect class=${`state ${state}`} x=${x(from)} y=${AXIS} width=${Math.max(0.8, x(to) - x(from))} height="21" />
        ${UNSTABLE[state] && html`<rect x=${x(from)} y=${AXIS} width=${Math.max(0.8, x(to) - x(from))} height="21" fill=${UNSTABLE[state]} opacity="0.35" />`}
        ${name && html`<text class="in-band" x=${left(from) + 4} y=${AXIS + 15}>${name}</text>`}
        <title>${state} from ${instant(from)} to ${instant(to)}</title></g>`;
    })}
    ${within(group.numbers, window.from, window.to).filter(wide).map(([from, to, number]) => {
      const assignor = number ? at(group.assignors ?? [], Math.min(to, window.horizon) - 1)?.[2] : undefined;
      const texts = [`${number}${assignor ? ` · ${assignor}` : ""}`, `${number}`];
      const room = x(Math.min(to, window.to, window.horizon)) - left(from), text = texts.find((each) => room > each.length * 7 + 6);
      return html`<g class="number"><line x1=${x(from)} x2=${x(from)} y1=${AXIS + 21} y2=${place.rasterTop - GAP} />
        ${text && html`<text x=${left(from) + 4} y=${AXIS + 36}>${text}</text>`}
        <title>${group.protocol === "classic" ? "generation" : "group epoch"} ${texts[0]}</title></g>`;
    })}
    ${group.deadlines.filter((each) => (each.until_ms ?? each.due_ms) > window.from && each.at_ms < window.to && (!dense || x(Math.min(each.until_ms ?? each.due_ms, each.due_ms)) - x(each.at_ms) > 3)).map((each) => flag(each, x))}
  </g>`;
}

const SHORT = /** @type {Record<string, string>} */ ({ PreparingRebalance: "Preparing", CompletingRebalance: "Completing", "coordinator unavailable": "unavailable" });
const UNSTABLE = /** @type {Record<string, string>} */ ({ PreparingRebalance: "url(#slant)", Assigning: "url(#slant)", CompletingRebalance: "url(#still)", Reconciling: "url(#still)" });

/** @param {import("./view.js").Deadline} deadline @param {(ms: number) => number} x */
function flag(deadline, x) {
  const until = Math.min(deadline.until_ms ?? deadline.due_ms, deadline.due_ms), y = AXIS + 48;
  const met = deadline.until_ms !== null && deadline.until_ms < deadline.due_ms;
  return html`<g class=${met ? "deadline" : "deadline due"}><line x1=${x(deadline.at_ms)} x2=${x(until)} y1=${y} y2=${y} />
    ${!met && html`<path d=${`M${x(until)} ${y + 6}V${y - 6}l9 3l-9 3`} />`}
    <title>${deadline.kind} phase: deadline ${instant(deadline.due_ms)}${met ? `, over at ${instant(until)}` : ""}</title></g>`;
}

/** What a lane's process does, as rectangles. @param {import("./view.js").Lane} lane @param {Window} window @param {(ms: number) => number} x @param {number} y @param {number} tall */
function doings(lane, window, x, y, tall) {
  return within(lane.activity, window.from, window.to).map(([from, to, does]) => html`<rect class=${`does ${does}`} x=${x(from)} y=${y} width=${Math.max(0.8, x(to) - x(from))} height=${tall}
    fill=${fillFor(lane, does)}><title>${lane.label ?? lane.name}: ${WORDS[does] ?? does}, ${instant(from)} to ${instant(to)}</title></rect>`);
}

/** @param {import("./view.js").Lane} lane @param {string} does */
const fillFor = (lane, does) => (does === "consuming" ? fillOf(lane.index) : fills[does]);

/** A folded lane. @param {import("./view.js").Lane} lane @param {Window} window @param {(ms: number) => number} x @param {number} y @param {boolean} dense */
function strip(lane, window, x, y, dense) {
  return html`<g class="strip">${dense ? denseDoings(lane, window, x, y, FOLDED - 2, (does) => fillFor(lane, does)) : doings(lane, window, x, y, FOLDED - 2)}</g>`;
}

/** @param {import("./view.js").Lane} lane @param {Window} window @param {(ms: number) => number} x @param {number} y @param {boolean} compact @param {boolean} dense */
function laneShape(lane, window, x, y, compact, dense) {
  const width = (/** @type {import("./view.js").Span} */ span) => Math.max(0.8, x(span[1]) - x(span[0]));
  const seen = (/** @type {import("./view.js").Span} */ span) => !dense || x(span[1]) - x(span[0]) > 3;
  return html`<g class=${lane.inferred ? "lane inferred" : "lane"}>
    ${dense ? denseDoings(lane, window, x, y, 18, (does) => fillFor(lane, does)) : doings(lane, window, x, y, 18)}
    ${within(lane.belief, window.from, window.to).filter(seen).map((span) => html`<g class="belief"><rect x=${x(span[0])} y=${y - 2} width=${width(span)} height="22" />
      <rect x=${x(span[0])} y=${y - 5} width=${width(span)} height="28" />
      <title>${lane.label ?? lane.name} believes that it owns ${span[2]} partitions, ${instant(span[0])} to ${instant(span[1])}</title></g>`)}
    ${within(lane.leads, window.from, window.to).filter(seen).map((span) => html`<g class="leads"><line x1=${x(span[0])} x2=${x(span[1])} y1=${y - 2} y2=${y - 2} />
      <path d=${crown(Math.max(GUTTER, x(span[0])) + 2, y - 12)} /><title>leader</title></g>`)}
    ${dense ? denseMarks(lane, window, x, y) : marks(lane, window, x, y, compact)}</g>`;
}

export const WORDS = /** @type {Record<string, string>} */ ({
  consuming: "consumes", stopped: "stopped for a rebalance", idle: "runs and owns nothing", stalled: "does not poll", frozen: "stands still",
  unknown: "in the group; what it did is not known from these logs", awaited: "the rebalance waited for it",
  gone: "its connection has closed, and it has not spoken since", silent: "no sign of life until its session expired: it may have done nothing",
});
const fills = /** @type {Record<string, string>} */ ({ stopped: "url(#hatch)", stalled: "url(#busy)", frozen: "url(#cross)", gone: "url(#cross)", silent: "url(#cross)", idle: "none", unknown: "none", awaited: "url(#hatch)" });

/** @param {number} x @param {number} y */
const crown = (x, y) => `M${x} ${y + 8}V${y + 1}l3 3l2.5-4l2.5 4l3-3v7z`;

const GLYPHS = /** @type {Record<string, [string, string]>} */ ({
  join: ["J", "up"], sync: ["S", "up"], leave: ["L", "up"], "join-answered": ["", "down"], "sync-answered": ["", "down"],
  "join-refused": ["!", "down"], "sync-refused": ["!", "down"], "heartbeat-refused": ["!", "down"], "commit-refused": ["!", "down"],
});

/** Requests and answers, drawn thin and behind all lanes; what falls on the same pixels is drawn once. @param {import("./view.js").Lane} lane @param {Window} window
 * @param {(ms: number) => number} x @param {number} y */
function arrows(lane, window, x, y) {
  const taken = new Set(), top = AXIS + 54;
  return marksIn(lane, window).filter(([at, kind]) => {
    if (!GLYPHS[kind]) return false;
    const place = `${Math.round(x(at) / 2)} ${GLYPHS[kind][1]}`;
    return !taken.has(place) && taken.add(place);
  }).map(([at, kind]) => {
    const up = GLYPHS[kind][1] === "up";
    return html`<g class=${`mark ${kind}`}><line x1=${x(at)} x2=${x(at)} y1=${up ? y : top} y2=${up ? top : y} marker-end="url(#tip)" /></g>`;
  });
}

/** What a lane's process did and was told: glyphs on the lane, letters under it. Letters that would touch are left out, the least important first.
 * @param {import("./view.js").Lane} lane @param {Window} window @param {(ms: number) => number} x @param {number} y @param {boolean} compact */
function marks(lane, window, x, y, compact) {
  const taken = new Set(), drawn = [], /** @type {[number, string][]} */ words = [];
  for (const [at, kind] of marksIn(lane, window)) {
    const place = `${Math.round(x(at))} ${kind}`;
    if (taken.has(place)) continue;
    taken.add(place);
    if (GLYPHS[kind]?.[0]) words.push([x(at), GLYPHS[kind][0]]);
    else drawn.push(glyph(kind, x(at), y));
  }
  for (const [from, to, epoch] of within(lane.epochs, window.from, window.to)) if (x(to) - Math.max(GUTTER, x(from)) > 60) words.push([Math.max(GUTTER, x(from)) + 3, `epoch ${epoch}`]);
  if (compact) return drawn;
  const /** @type {[number, number][]} */ full = [];
  for (const [left, text] of words.sort((one, other) => RANK.indexOf(one[1][0]) - RANK.indexOf(other[1][0]) || one[0] - other[0])) {
    const right = left + text.length * 7.4 + 3;
    if (full.some(([from, to]) => left < to && right > from)) continue;
    full.push([left, right]);
    drawn.push(html`<text class=${text === "!" ? "said refused" : "said"} x=${left + 3} y=${y + 30}>${text}</text>`);
  }
  return drawn;
}

const RANK = "!eLSJ";
/** How a member ends: its process is killed or fails, it leaves by itself, the coordinator removes it. @type {Record<string, (at: number, y: number) => string>} */
const ENDS = {
  crashed: (at, y) => `M${at - 5} ${y + 4}l10 10m0-10l-10 10`, failed: (at, y) => `M${at - 5} ${y + 4}l10 10m0-10l-10 10`,
  left: (at, y) => `M${at - 5} ${y + 4}v10M${at - 5} ${y + 9}h9m-4-4l4 4l-4 4`, removed: (at, y) => `M${at - 6} ${y + 9}a6 6 0 1 0 12 0a6 6 0 1 0-12 0M${at - 4} ${y + 13}l8-8`,
};

/** @param {string} kind @param {number} at @param {number} y */
function glyph(kind, at, y) {
  if (kind === "heartbeat") return html`<line class="mark beat" x1=${at} x2=${at} y1=${y + 19} y2=${y + 24} />`;
  if (kind === "commit") return html`<circle class="mark commit" cx=${at} cy=${y + 22} r="2" />`;
  if (ENDS[kind]) return html`<path class=${`mark ${kind}`} d=${ENDS[kind](at, y)} />`;
  if (kind === "fault" || kind === "stalled" || kind === "resumed") return html`<path class="mark fault" d=${`M${at} ${y - 6}l-3 8h3l-2 8l7-10h-4l2-6z`} />`;
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
      ${lines.map((line, at) => wide > line.length * 7 && html`<text x=${left + 4} y=${y + 13 + at * 14}>${line}</text>`)}<title>${said}</title></g>`;
  })}</g>`;
}

/** @param {Group} group @param {Window} window @param {(ms: number) => number} x @param {ReturnType<typeof layout>} place */
function raster(group, window, x, place) {
  return html`<g class="raster">${together(group.raster, window).map(([row, at, count]) => {
    const y = place.rasterTop + at * place.cell, tall = Math.max(3, place.cell - 1) + (count - 1) * place.cell, last = count > 1 ? ` to ${group.raster[at + count - 1].partition}` : "";
    return within(row.spans, window.from, window.to).map(([from, to, owners, still]) => {
      const wide = Math.max(0.6, x(to) - x(from)), left = x(from);
      const title = owners.length ? owners.map((each) => group.lanes[each].label ?? group.lanes[each].name).join(" and ") : "nobody";
      return html`<g><rect class=${owners.length > 1 ? "cell two" : owners.length ? "cell" : "cell nobody"} x=${left} y=${y} width=${wide} height=${tall}
          fill=${owners.length ? fillOf(owners[0]) : undefined} />
        ${still && html`<rect class=${still === "silent" ? "perhaps" : ""} x=${left} y=${y} width=${wide} height=${tall} fill="url(#lost)" />`}
        ${place.cell >= 12 && owners.length > 0 && wide > 11 * owners.length && html`<text class="letter" x=${Math.max(GUTTER, left) + 8} y=${y + 12 + ((count - 1) * place.cell) / 2}>${owners.map(letter).join("")}</text>`}
        <title>${row.label ?? row.topic}-${row.partition}${last}: ${title}, ${instant(from)} to ${instant(to)} (${seconds(to - from)})</title></g>`;
    });
  })}</g>`;
}

/** Neighbouring partitions of a topic that go together in what is seen are one band: the first one's row, its place, and how many. @param {import("./view.js").Row[]} rows @param {Window} window
 * @returns {[import("./view.js").Row, number, number][]} */
function together(rows, window) {
  const /** @type {[import("./view.js").Row, number, number][]} */ bands = [];
  let before = "";
  const end = Math.min(window.to, window.horizon);  // what comes after the question is not told by how rows stand together
  rows.forEach((row, at) => {
    const same = `${row.topic} ${JSON.stringify(within(row.spans, window.from, end).map(([from, to, ...more]) => [from, Math.min(to, end), ...more]))}`;
    if (same === before) bands[bands.length - 1][2]++;
    else bands.push([row, at, 1]);
    before = same;
  });
  return bands;
}

/** What the signs of a picture mean: those that it has up to an instant. @extends Component<{group: Group, until: number}> */
export class Legend extends Component {
  /** @param {any} next */
  shouldComponentUpdate(next) {
    return next.group !== this.props.group || next.until !== this.props.until;
  }

  render() {
    return legend(this.props.group, this.props.until);
  }
}

/** @param {Group} group @param {number} until */
function legend(group, until) {
  const does = new Set(), said = new Set(), cells = group.raster.flatMap((row) => row.spans.filter((span) => span[0] < until));
  for (const lane of group.lanes) {
    for (const span of lane.activity) if (span[0] < until) does.add(span[2]);
    const { at_ms, kinds, kind } = lane.marks, met = new Set();
    for (let at = 0; at < at_ms.length && at_ms[at] <= until && met.size < kinds.length; at++) met.add(kind[at]);
    for (const each of met) said.add(kinds[each]);
  }
  const box = (/** @type {string} */ fill, name = "does") => html`<rect class=${name} x="1" y="2" width="24" height="14" fill=${fill} />`;
  const stateBox = (/** @type {string} */ state) => html`${box("", `state ${state}`)}${UNSTABLE[state] && html`<rect x="1" y="2" width="24" height="14" fill=${UNSTABLE[state]} opacity="0.35" />`}`;
  const states = new Set(group.states.filter((each) => each[0] < until).map((each) => each[2])), end = (/** @type {string} */ kind) => html`<path class=${`mark ${kind}`} d=${ENDS[kind](13, 0)} />`;
  const rows = /** @type {[any, string][]} */ ([
    [...states].some((each) => UNSTABLE[each] === "url(#slant)") && [stateBox("PreparingRebalance"), group.protocol === "classic" ? "join phase" : "a target is computed"],
    [...states].some((each) => UNSTABLE[each] === "url(#still)") && [stateBox("CompletingRebalance"), group.protocol === "classic" ? "sync phase" : "members reconcile"],
    states.has("coordinator unavailable") && [stateBox("coordinator unavailable"), "no broker serves the group"],
    does.has("consuming") && [html`${box(fillOf(0))}<text x="13" y="13" class="letter">A</text>`, "works; letter: who"],
    does.has("stopped") && [box("url(#hatch)"), "stopped for a rebalance"], does.has("stalled") && [box("url(#busy)"), "does not poll"],
    does.has("gone") && [box("url(#cross)", "does gone"), "connection closed, no sign of life"], does.has("silent") && [box("url(#cross)", "does silent"), "silent until it expired"],
    does.has("unknown") && [box("none", "does unknown"), "in the group; what it did is not known"], does.has("awaited") && [box("url(#hatch)", "does awaited"), "the rebalance waited for it"],
    states.has("not known") && [box("", "state not known"), "the state is not known"],
    does.has("frozen") && [box("url(#cross)"), "stands still"], does.has("idle") && [box("none", "does idle"), group.protocol === "share" ? "has nothing in hand" : "owns nothing"],
    cells.some((span) => !span[2].length) && [box("none", "cell nobody"), "lost: nobody's"],
    cells.some((span) => span[3] === "silent") && [html`${box(fillOf(1), "cell")}${box("url(#lost)", "cell perhaps")}`, "lost perhaps: its owner was silent"],
    cells.some((span) => span[3] === true) && [html`${box(fillOf(1), "cell")}${box("url(#lost)", "cell")}`, "lost: owned, not worked on"],
    cells.some((span) => span[2].length > 1) && [box(fillOf(1), "cell two"), "two believe it is theirs"],
    group.lanes.some((lane) => lane.belief.some((span) => span[0] < until)) && [html`<g class="belief"><rect x="4" y="4" width="18" height="10" /><rect x="1" y="1" width="24" height="16" /></g>`, "no member, does not know"],
    group.lanes.some((lane) => lane.leads.some((span) => span[0] < until)) && [html`<g class="leads"><path d=${crown(6, 5)} /></g>`, "leader"],
    said.has("heartbeat") && [html`<line class="mark beat" x1="12" x2="12" y1="5" y2="14" />`, "heartbeat"],
    said.has("commit") && [html`<circle class="mark commit" cx="12" cy="10" r="2.5" />`, "commit"],
    [...said].some((kind) => kind.endsWith("-refused")) && [html`<text class="said refused" x="10" y="14">!</text>`, "refused"],
    [...said].some((kind) => ["join", "sync", "leave"].includes(kind)) && [html`<text class="said" x="2" y="14">J S L</text>`, "JoinGroup, SyncGroup, LeaveGroup"],
    (said.has("crashed") || said.has("failed")) && [end("crashed"), "killed, or failed"], said.has("left") && [end("left"), "left"], said.has("removed") && [end("removed"), "removed by the coordinator"],
    ["fault", "stalled", "resumed"].some((kind) => said.has(kind)) && [html`<path class="mark fault" d="M13 1l-3 8h3l-2 8l7-10h-4l2-6z" />`, "something is done to it"],
    group.lanes.some((lane) => lane.epochs.some((span) => span[0] < until)) && [html`<text class="said" x="1" y="13">e 3</text>`, "member epoch"],
    group.lanes.some((lane) => lane.inferred) && [html`<g class="inferred"><rect class="does" x="1" y="2" width="24" height="14" fill="none" /></g>`, "inferred from requests"],
    group.numbers.filter((each) => each[0] < until).length > 1 && [html`<g class="number"><line x1="13" x2="13" y1="1" y2="17" /></g>`, group.protocol === "classic" ? "a generation begins" : "a group epoch begins"],
    ...queueLegend(group, until, box, fillOf),
    group.deadlines.some((each) => each.at_ms < until) && [html`<g class="deadline"><line x1="1" x2="25" y1="9" y2="9" /></g>`, "a deadline runs"],
    group.deadlines.some((each) => each.due_ms < until && (each.until_ms === null || each.until_ms >= each.due_ms)) && [html`<g class="deadline due"><path d="M9 16V3l9 3l-9 3" /></g>`, "it came due"],
  ].filter(Boolean));
  return html`<ul class="legend" aria-label="legend">${rows.map(([sign, text]) => html`<li><svg width="28" height="18" aria-hidden="true"><${Definitions} />${sign}</svg>${text}</li>`)}</ul>`;
}
