// @ts-check
/** Share groups: the records of a share partition over time, a row for each offset, between the start and the end offset (SPSO, SPEO). Draws what it is given; holds no rule. */
import { html, instant, letter, lostUntil, number, within } from "./view.js";

/** @typedef {import("./view.js").Group} Group
 * @typedef {import("./view.js").Queue} Queue
 * @typedef {import("./view.js").Stay} Stay
 * @typedef {import("./draw.js").Window} Window
 * @typedef {(ms: number) => number} X */

const ROW = 15, MOST = 210, COMPACT_ROW = 9, COMPACT_MOST = 140, HEAD = 20, ABOVE = 6;
/** From so many ranges in a window on they are drawn as paths. */
const DENSE = 1500;

/** The offsets that a picture of a share partition has: from the first to behind the last one. @param {Queue} queue @returns {[number, number]} */
function span(queue) {
  let low = Infinity, high = 0;
  for (const [, , offset] of queue.start) low = Math.min(low, offset);
  for (const [, , offset] of queue.end) high = Math.max(high, offset);
  return low < high ? [low, high] : [Math.min(low, high), Math.min(low, high) + 1];
}

/** How high a share partition is drawn. @param {Queue} queue @param {boolean} compact */
function tall(queue, compact) {
  const [low, high] = span(queue);
  return Math.min(compact ? COMPACT_MOST : MOST, Math.max(2, high - low) * (compact ? COMPACT_ROW : ROW));
}

/** Where each share partition begins, and where all of them end. @param {Group} group @param {number} top @param {boolean} compact @returns {[number[], number]} */
export function queueTops(group, top, compact) {
  const tops = [];
  for (const queue of group.queues ?? []) {
    tops.push(top + HEAD);
    top += HEAD + tall(queue, compact) + ABOVE;
  }
  return [tops, top];
}

/** The offsets in a window, so that few of many can be seen. @param {Queue} queue @param {Window} window @returns {[number, number]} */
function seen(queue, window) {
  const starts = within(queue.start, window.from, window.to), ends = within(queue.end, window.from, window.to), all = span(queue);
  if ((all[1] - all[0]) * ROW <= MOST || !starts.length || !ends.length) return all;
  const low = starts[0][2], high = ends[ends.length - 1][2];
  return low < high ? [low, high] : all;
}

/** The names of share partitions and their offsets, left of the picture. @param {Group} group @param {number[]} tops @param {Window} window @param {number} gutter @param {boolean} compact */
export function queueLabels(group, tops, window, gutter, compact) {
  return (group.queues ?? []).map((queue, index) => {
    const [low, high] = seen(queue, window), row = tall(queue, compact) / (high - low), every = Math.max(1, Math.ceil(12 / row));
    const offsets = [];
    for (let offset = Math.ceil(low / every) * every; offset < high; offset += every) offsets.push(offset);
    const name = `${queue.label}-${queue.partition}`;
    return html`<g><text x="4" y=${tops[index] - 6}>records of ${name.length > 16 ? `${name.slice(0, 15)}…` : name}<title>${name}</title></text>
      ${offsets.map((offset) => html`<text class="right" x=${gutter - 6} y=${tops[index] + (offset - low + 0.5) * row + 4}>${offset}</text>`)}</g>`;
  });
}

const FILLS = /** @type {Record<string, string>} */ ({ Available: "none", Acknowledged: "url(#still)", Archiving: "url(#slant)", Archived: "url(#cross)" });
const SAYS = /** @type {Record<string, string>} */ ({ Available: "available", Acknowledged: "done: acknowledged", Archiving: "given up: its dead letter is written", Archived: "given up: archived" });
const SIGNS = /** @type {Record<string, string>} */ ({ Acknowledged: "✓", Archived: "✗", Archiving: "✗" });

/** @param {Group} group @param {Stay} stay */
function holder(group, [, , , , , lane]) {
  const found = lane === null ? undefined : group.lanes[lane];
  return found ? found.label ?? found.name : "nobody that is known";
}

/** What a range of records is and was, in words. @param {Group} group @param {Stay} stay */
function words(group, stay) {
  const [from, to, first, last, state, , count] = stay;
  const what = state === "Acquired" ? `held by ${holder(group, stay)}, delivery ${count}` : `${SAYS[state] ?? state}${state === "Available" ? `, delivered ${count} times` : ""}`;
  return `${first === last ? `record ${first}` : `records ${first} to ${last}`}: ${what}, ${instant(from)} to ${instant(to)}`;
}

/** All share partitions of a group. @param {Group} group @param {number[]} tops @param {Window} window @param {X} x @param {(index: number) => string} fillOf @param {number} gutter @param {boolean} compact */
export function queues(group, tops, window, x, fillOf, gutter, compact) {
  return (group.queues ?? []).map((queue, index) => {
    const [low, high] = seen(queue, window), top = tops[index], height = tall(queue, compact), row = height / (high - low);
    const y = (/** @type {number} */ offset) => top + (Math.max(low, Math.min(high, offset)) - low) * row;
    const stays = within(queue.stays, window.from, window.to).filter((stay) => stay[3] >= low && stay[2] < high);
    return html`<g class="queue"><rect class="ground" x=${gutter} y=${top} width=${Math.max(0, window.width - gutter)} height=${height} />
      ${stays.length > DENSE ? dense(stays, x, y, fillOf) : stays.map((stay) => one(group, stay, x, y, fillOf, gutter))}
      ${border(queue.start, window, x, y, "spso", "SPSO", gutter, -3)}${border(queue.end, window, x, y, "speo", "SPEO", gutter, 11)}</g>`;
  });
}

/** @param {Group} group @param {Stay} stay @param {X} x @param {X} y @param {(index: number) => string} fillOf @param {number} gutter */
function one(group, stay, x, y, fillOf, gutter) {
  const [from, to, first, last, state, lane, count] = stay, held = state === "Acquired";
  const left = x(from), wide = Math.max(0.8, x(to) - left), top = y(first), high = Math.max(0.8, y(last + 1) - top), seen = Math.max(gutter, left);
  const sign = held ? `${lane === null ? "?" : letter(lane)}${count > 1 ? ` ×${count}` : ""}` : SIGNS[state] ?? "";
  const fits = sign && x(to) - seen > sign.length * 8 + 8 && high >= 11;
  return html`<g><rect class=${`stay ${held ? "held" : state}`} x=${left} y=${top + 0.5} width=${wide} height=${Math.max(0.8, high - 1)} fill=${held ? (lane === null ? "url(#hatch)" : fillOf(lane)) : FILLS[state] ?? "none"} />
    ${fits && html`<text class=${held ? "letter" : "sign"} x=${seen + 6 + sign.length * 3.6} y=${top + Math.min(high / 2, 40) + 4}>${sign}</text>`}<title>${words(group, stay)}</title></g>`;
}

/** One path for each holder or state. @param {Stay[]} stays @param {X} x @param {X} y @param {(index: number) => string} fillOf */
function dense(stays, x, y, fillOf) {
  const /** @type {Record<string, string[]>} */ paths = {};
  for (const [from, to, first, last, state, lane] of stays) {
    const left = Math.round(x(from)), wide = Math.max(1, Math.round(x(to)) - left), top = Math.round(y(first)), high = Math.max(1, Math.round(y(last + 1)) - top);
    (paths[state === "Acquired" && lane !== null ? `${lane}` : state] ??= []).push(`M${left} ${top}h${wide}v${high}h${-wide}z`);
  }
  return Object.entries(paths).map(([kind, parts]) => html`<path class=${`stay ${kind in FILLS ? kind : "held"}`} d=${parts.join("")} fill=${FILLS[kind] ?? (kind === "Acquired" ? "url(#hatch)" : fillOf(Number(kind)))} />`);
}

/** A border that moves: stairs, with its name where it begins. @param {[number, number, number][]} track @param {Window} window @param {X} x @param {X} y @param {string} kind @param {string} name @param {number} gutter
 * @param {number} beside */
function border(track, window, x, y, kind, name, gutter, beside) {
  const parts = within(track, window.from, window.to);
  if (!parts.length) return null;
  let d = "", before = -1;
  for (const [from, to, offset] of parts) {
    d += from === before ? `V${y(offset)}H${x(to)}` : `M${x(from)} ${y(offset)}H${x(to)}`;
    before = to;
  }
  const [from, , offset] = parts[0], free = kind === "speo" && x(from) - gutter > 40;
  return html`<g class=${`border ${kind}`}><path d=${d} /><text class=${free ? "right" : undefined} x=${free ? x(from) - 4 : Math.max(gutter, x(from)) + 3} y=${y(offset) + (free ? 4 : beside)}>${name}</text>
    <title>${kind === "spso" ? "start offset (SPSO): everything before it is done" : "end offset (SPEO): nothing behind it was given to anybody"}</title></g>`;
}

/** What the signs mean, those that there are up to an instant. @param {Group} group @param {number} until @param {(fill: string, name?: string) => any} box @param {(index: number) => string} fillOf @returns {any[]} */
export function queueLegend(group, until, box, fillOf) {
  const stays = (group.queues ?? []).flatMap((queue) => queue.stays).filter((stay) => stay[0] < until), states = new Set(stays.map((stay) => stay[4]));
  const borders = (group.queues ?? []).some((queue) => queue.start.some((part) => part[0] < until));
  return [
    states.has("Acquired") && [html`${box(fillOf(0), "stay held")}<text x="13" y="13" class="letter">A</text>`, "acquired; letter: by whom"],
    stays.some((stay) => stay[6] > 1 && stay[4] === "Acquired") && [html`<text x="13" y="13" class="letter">×2</text>`, "second delivery"],
    states.has("Available") && [box("none", "stay Available"), "available again"],
    states.has("Acknowledged") && [html`${box(FILLS.Acknowledged, "stay Acknowledged")}<text x="13" y="13" class="sign">✓</text>`, "acknowledged, behind a record that is not"],
    (states.has("Archived") || states.has("Archiving")) && [html`${box(FILLS.Archived, "stay Archived")}<text x="13" y="13" class="sign">✗</text>`, "given up: archived"],
    borders && [html`<g class="border spso"><path d="M1 9H25" /></g>`, "SPSO: before it all is done"],
    borders && [html`<g class="border speo"><path d="M1 9H25" /></g>`, "SPEO: behind it nothing was given yet"],
  ];
}

/** What a member holds at an instant. @param {Group} group @param {number} index @param {number} now */
export function inHand(group, index, now) {
  const held = (group.queues ?? []).flatMap((queue) => queue.stays.filter((stay) => stay[5] === index && stay[0] <= now && now < stay[1])
    .map((stay) => `${queue.label}-${queue.partition}: ${stay[2] === stay[3] ? stay[2] : `${stay[2]} to ${stay[3]}`}`));
  return held.length > 12 ? `${held.length} ranges of records` : held.join(", ") || "nothing";
}

/** What a run costs up to an instant, as the number above its picture, and what the number counts. @param {Group} group @param {number} until @param {number} [since] @returns {[number, string]} */
export function costUntil(group, until, since = 0) {
  return group.protocol === "share" ? [againUntil(group, until, since), "records delivered again"] : [lostUntil(group, until, since), "partition-seconds lost"];
}

/** That number as it is written. @param {Group} group @param {number} value */
export function costText(group, value) {
  return group.protocol === "share" ? `${value}` : number(value);
}

/** What a run costs up to an instant, as it is written above its picture: "20 to 63" where members were silent before they expired. @param {Group} group @param {number} until @param {number} [since] */
export function costSpread(group, until, since = 0) {
  const [most] = costUntil(group, until, since), least = group.protocol === "share" ? most : lostUntil(group, until, since, true);
  return least === most ? costText(group, most) : `${costText(group, least)} to ${costText(group, most)}`;
}

/** How many records were delivered again up to an instant, each time counted. @param {Group} group @param {number} until @param {number} since */
function againUntil(group, until, since = 0) {
  let count = 0;
  for (const queue of group.queues ?? []) for (const [from, , first, last, state, , times] of queue.stays) {
    if (state === "Acquired" && times > 1 && from <= until && from >= since) count += last - first + 1;
  }
  return count;
}

/** The share partitions in rows. @param {{group: Group, horizon: number}} props */
export function QueueTables({ group, horizon }) {
  return (group.queues ?? []).map((queue) => html`<table><caption>Records of ${queue.label}-${queue.partition}</caption>
    <thead><tr><th scope="col">offsets</th><th scope="col">state</th><th scope="col">held by</th><th scope="col">deliveries</th><th scope="col">from</th><th scope="col">to</th></tr></thead>
    <tbody>${queue.stays.filter((stay) => stay[0] <= horizon).slice(0, 500).map((stay) => html`<tr><th scope="row">${stay[2] === stay[3] ? stay[2] : `${stay[2]} to ${stay[3]}`}</th>
      <td>${stay[4]}</td><td>${stay[4] === "Acquired" ? holder(group, stay) : ""}</td><td>${stay[6]}</td><td>${instant(stay[0])}</td><td>${instant(Math.min(stay[1], horizon))}</td></tr>`)}</tbody></table>
    <table><caption>Borders of ${queue.label}-${queue.partition}</caption><thead><tr><th scope="col">border</th><th scope="col">offset</th><th scope="col">from</th></tr></thead>
      <tbody>${[["SPSO", queue.start], ["SPEO", queue.end]].flatMap(([name, track]) => /** @type {[number, number, number][]} */ (track).filter((part) => part[0] <= horizon)
        .map((part) => html`<tr><th scope="row">${name}</th><td>${part[2]}</td><td>${instant(part[0])}</td></tr>`))}</tbody></table>`);
}
