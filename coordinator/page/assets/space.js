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
    ${lanes.map((lane, place) => member(group, lane, now, middle(place), each))}
  </svg>`;
}

/** @param {import("./view.js").Group} group @param {import("./view.js").Lane} lane @param {number} now @param {number} x @param {number} room */
function member(group, lane, now, x, room) {
  const does = at(lane.activity, now)?.[2], wide = Math.min(BOX, room - 8), leads = at(lane.leads, now), a = Math.max(1, Math.floor((room - 6) / (TILE + 3)));
  const tiles = group.raster.map((row) => ({ row, span: at(row.spans, now) })).filter(({ row, span }) => span && (span[2].length ? span[2].includes(lane.index) : lastOwner(row, now) === lane.index));
  const since = Math.min(...tiles.filter(({ span }) => !span?.[2].length).map(({ span }) => span?.[0] ?? now));
  const perRow = Math.max(1, Math.min(a, 4)), said = Number.isFinite(since) ? `nobody's for ${((now - since) / 1000).toFixed(1)} s` : does ? WORDS[does] : "";
  return html`<g class=${does ? "member" : "member gone"}>
    <rect class="does" x=${x - wide / 2} y=${MEMBERS} width=${wide} height="34" rx="4" fill=${does ? fillOf(lane.index) : "none"} />
    ${(does === "frozen" || does === "stalled") && html`<rect x=${x - wide / 2} y=${MEMBERS} width=${wide} height="34" fill="url(#lost)" />`}
    <text class=${does ? "big letter" : "big"} x=${x} y=${MEMBERS + 22}>${letter(lane.index)} ${room > 90 ? (lane.label ?? lane.name).slice(0, 8) : ""}${leads ? " ♛" : ""}${does ? "" : " ✕"}</text>
    ${tiles.map(({ row, span }, at) => {
      const left = x + ((at % perRow) - (Math.min(perRow, tiles.length)) / 2) * (TILE + 3), top = MEMBERS + 42 + Math.floor(at / perRow) * (TILE + 3), owned = span?.[2].length;
      return html`<g class=${`tile p${row.partition}`}><rect class=${owned ? "does" : "cell nobody"} x=${left} y=${top} width=${TILE} height=${TILE} rx="3" fill=${owned ? fillOf(lane.index) : undefined} />
        ${span?.[3] && html`<rect x=${left} y=${top} width=${TILE} height=${TILE} fill="url(#lost)" />`}<text class=${owned ? "big letter" : "big"} x=${left + TILE / 2} y=${top + 20}>${row.partition}</text></g>`;
    })}
    <text class=${Number.isFinite(since) ? "middle bad" : "middle"} x=${x} y=${MEMBERS + 58 + Math.ceil(tiles.length / perRow) * (TILE + 3)}>${said}</text></g>`;
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
