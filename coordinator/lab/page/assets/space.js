// @ts-check
/** A group at one instant, as objects: the coordinator, its members, the partitions that they hold, messages on their way. A pure function of a picture. */
import { marksIn } from "./dense.js";
import { Definitions, WORDS, fillOf } from "./draw.js";
import { at, html, letter, lostUntil, number } from "./view.js";

const HIGH = 330, TILE = 30, BOX = 104, TOP = 16, MEMBERS = 180;
/** How long a message is drawn on its way, in milliseconds of the run. */
const TRAVELS = 450;
const UP = new Set(["join", "sync", "leave", "heartbeat", "commit"]);

/** @param {import("./view.js").Row} row @param {number} now */
const lastOwner = (row, now) => row.spans.filter((span) => span[0] <= now && span[2].length).at(-1)?.[2][0];

/** The members that are drawn: who runs, and who left partitions behind. @param {import("./view.js").Group} group @param {number} now */
export function present(group, now) {
  const behind = new Set(group.raster.filter((row) => at(row.spans, now)?.[2].length === 0).map((row) => lastOwner(row, now)));
  return group.lanes.filter((lane) => at(lane.activity, now) || behind.has(lane.index));
}

/** How a picture is laid out: whole, or low, above a picture over time that has the coordinator itself. @typedef {{low: boolean, members: number, tile: number, box: number, high: number}} Place */
const WHOLE = { low: false, members: MEMBERS, tile: TILE, box: 34, high: HIGH }, LOW = { low: true, members: 4, tile: 19, box: 22, high: 0 };
/** Of more members or partitions no low picture is drawn. */
const MOST = 12, MOST_TILES = 72;

/** Members and the partitions that they hold, low, to stand above a picture over time. @param {{group: import("./view.js").Group, now: number, wide: number}} props */
export function People({ group, now, wide }) {
  const lanes = present(group, now);
  if (group.protocol === "share" || !group.raster.length || group.lanes.length > MOST || group.raster.length > MOST_TILES) return null;
  const each = wide / Math.max(1, lanes.length), middle = (/** @type {number} */ place) => each * (place + 0.5);
  const rows = Math.max(1, ...lanes.map((lane) => Math.ceil(tilesOf(group, lane, now).length / perRow(each, LOW)))), high = LOW.members + LOW.box + 6 + rows * (LOW.tile + 3) + 19;
  return html`<div class="people"><svg class="space" viewBox=${`0 0 ${wide} ${high}`} role="img" aria-label=${`Who has what at this instant: ${lanes.map((lane) => `${lane.label ?? lane.name} ${tilesOf(group, lane, now).length}`).join(", ")}`}>
    <${Definitions} />${lanes.map((lane, place) => member(group, lane, now, middle(place), each, LOW))}${tiles(group, lanes, now, middle, each, LOW)}</svg></div>`;
}

/** @param {number} room @param {Place} place */
const perRow = (room, place) => Math.max(1, Math.min(Math.floor((room - 6) / (place.tile + 3)), place.low ? 12 : 4));

/** The partitions that stand under a member: its own, and those that it left behind. @param {import("./view.js").Group} group @param {import("./view.js").Lane} lane @param {number} now */
function tilesOf(group, lane, now) {
  return group.raster.map((row) => ({ row, span: at(row.spans, now) })).filter(({ row, span }) => span && (span[2].length ? span[2].includes(lane.index) : lastOwner(row, now) === lane.index));
}

/** All partitions, each under who has it: one that changes hands moves there. @param {import("./view.js").Group} group @param {import("./view.js").Lane[]} lanes @param {number} now @param {(place: number) => number} middle @param {number} room @param {Place} place */
function tiles(group, lanes, now, middle, room, place) {
  const wide = perRow(room, place), step = place.tile + 3;
  return lanes.flatMap((lane, index) => {
    const own = tilesOf(group, lane, now);
    return own.map(({ row, span }, at) => {
      const left = middle(index) + ((at % wide) - Math.min(wide, own.length) / 2) * step, top = place.members + place.box + 8 + Math.floor(at / wide) * step, owned = span?.[2].length;
      const moves = `translate(${left}px, ${top}px)`, second = owned && span[2][0] !== lane.index ? ` of ${lane.name}` : "";
      return html`<g key=${`${row.topic}-${row.partition}${second}`} class=${`tile p${row.partition}`} transform=${`translate(${left} ${top})`} style=${typeof document === "object" ? { transform: moves } : undefined}>
        <rect class=${owned ? "does" : "cell nobody"} width=${place.tile} height=${place.tile} rx="3" fill=${owned ? fillOf(lane.index) : undefined} />
        ${span?.[3] && html`<rect width=${place.tile} height=${place.tile} fill="url(#lost)" />`}<text class=${place.low ? (owned ? "middle letter" : "middle") : owned ? "big letter" : "big"} x=${place.tile / 2} y=${place.tile * 0.68}>${row.partition}</text></g>`;
    });
  });
}

/** @param {{group: import("./view.js").Group, now: number, from?: number, wide?: number}} props `from`: since when losses are summed; `wide`: in pixels */
export function Space({ group, now, from = 0, wide = 760 }) {
  const lanes = present(group, now), each = wide / Math.max(1, lanes.length), state = at(group.states, now)?.[2] ?? "no group yet";
  const generation = at(group.numbers, now)?.[2] ?? 0, assignor = at(group.assignors ?? [], now)?.[2] ?? "";
  const middle = (/** @type {number} */ place) => each * (place + 0.5);
  return html`<svg class="space" viewBox=${`0 0 ${wide} ${HIGH}`} role="img" aria-label=${`The group is ${state}, in generation ${generation}, with ${lanes.length} members; ${number(lostUntil(group, now, from))} partition-seconds are lost so far`}>
    <${Definitions} />
    <rect class=${`state ${state}`} x=${wide / 2 - 150} y=${TOP} width="300" height="56" rx="5" />
    <text class="big on-fill" x=${wide / 2} y=${TOP + 24}>coordinator: ${state}</text><text class="middle on-fill" x=${wide / 2} y=${TOP + 44}>generation ${generation}${assignor && ` · ${assignor}`}</text>
    ${lanes.map((lane, place) => html`<line class="wire" x1=${middle(place)} x2=${wide / 2} y1=${MEMBERS} y2=${TOP + 56} />`)}
    ${lanes.map((lane, place) => travelling(lane, now, middle(place), wide / 2))}
    ${lanes.map((lane, place) => member(group, lane, now, middle(place), each, WHOLE))}
    ${tiles(group, lanes, now, middle, each, WHOLE)}
  </svg>`;
}

/** @param {import("./view.js").Group} group @param {import("./view.js").Lane} lane @param {number} now @param {number} x @param {number} room @param {Place} place */
function member(group, lane, now, x, room, place) {
  const does = at(lane.activity, now)?.[2], wide = Math.min(BOX, room - 8), leads = at(lane.leads, now), tiles = tilesOf(group, lane, now);
  const since = Math.min(...tiles.filter(({ span }) => !span?.[2].length).map(({ span }) => span?.[0] ?? now));
  const said = Number.isFinite(since) ? `nobody's for ${((now - since) / 1000).toFixed(1)} s` : does ? WORDS[does] : "";
  return html`<g class=${does ? "member" : "member gone"}>
    <rect class="does" x=${x - wide / 2} y=${place.members} width=${wide} height=${place.box} rx="4" fill=${does ? fillOf(lane.index) : "none"} />
    ${["frozen", "stalled", "gone", "silent"].includes(does ?? "") && html`<rect x=${x - wide / 2} y=${place.members} width=${wide} height=${place.box} fill="url(#lost)" />`}
    <text class=${does ? "big letter" : "big"} x=${x} y=${place.members + (place.low ? 16 : 22)}>${letter(lane.index)} ${room > 90 ? (lane.label ?? lane.name).slice(0, 8) : ""}${leads ? " ♛" : ""}${does ? "" : " ✕"}</text>
    <text class=${Number.isFinite(since) ? "middle bad" : "middle"} x=${x} y=${place.members + place.box + (place.low ? 20 : 24) + Math.ceil(tiles.length / perRow(room, place)) * (place.tile + 3)}>${said}</text></g>`;
}

/** @param {import("./view.js").Lane} lane @param {number} now @param {number} x @param {number} to where the coordinator is */
function travelling(lane, now, x, to) {
  const dots = [];
  for (const [instant, kind] of marksIn(lane, { from: now - TRAVELS, to: now + TRAVELS })) {
    const up = UP.has(kind), down = kind.endsWith("-answered") || kind.endsWith("-refused"), part = up ? 1 + (now - instant) / TRAVELS : 1 - (now - instant) / TRAVELS;
    if (!(up || down) || part <= 0 || part >= 1) continue;
    const y = MEMBERS + (TOP + 56 - MEMBERS) * part, place = x + (to - x) * part, refused = kind.endsWith("refused");
    dots.push(html`<g class=${down ? "dot down" : "dot"}><circle cx=${place} cy=${y} r=${kind === "heartbeat" ? 4 : 6} />${kind !== "heartbeat" && html`<text class=${refused ? "bad right" : undefined} x=${place + (refused ? -9 : 9)} y=${y + 4}>${refused ? "refused" : kind.split("-")[0]}</text>`}</g>`);
  }
  return dots;
}
