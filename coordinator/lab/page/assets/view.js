// @ts-check
/** Numbers and words of the page: instants as text, ticks of an axis, clipping of spans. Holds no rule of the protocol. */
import { h } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";

export const html = htm.bind(h);

/**
 * @typedef {[number, number, ...any[]]} Span
 * @typedef {{index: number, name: string, label?: string, member_id?: string|null, inferred: boolean, activity: [number, number, string][], belief: [number, number, number][],
 *   leads: [number, number][], member: [number, number][], epochs: [number, number, number][], marks: {at_ms: number[], kinds: string[], kind: number[]},
 *   session_timeout_ms: number|null, signs: number[]}} Lane
 * @typedef {{topic: string, label?: string, partition: number, spans: [number, number, number[], boolean|"silent"][]}} Row
 * @typedef {{kind: string, at_ms: number, due_ms: number, until_ms: number|null, seq: number}} Deadline
 * @typedef {[number, number, number, number, string, number|null, number]} Stay  from, to, first and last offset, state, the holder's lane, deliveries
 * @typedef {{topic: string, label: string, partition: number, start: [number, number, number][], end: [number, number, number][], stays: Stay[]}} Queue
 * @typedef {{group: string, name: string, protocol: string, queues?: Queue[], delivered_again?: number, states: [number, number, string][], numbers: [number, number, number][],
 *   brokers: [number, number, number][], assignors?: [number, number, string][], deadlines: Deadline[], lanes: Lane[], raster: Row[], lost_partition_ms: number, unowned_partition_ms: number,
 *   verdict: {count: number, rebalances: {seq: number, at_ms: number, number: number|null, cause: string, because: string, lost_ms: number|null, least_ms: number|null, lanes: number[], held_up_by: number[]}[]},
 *   silent_partition_ms: number, still_partition_ms: number}} Group
 * @typedef {{seq: number, at_ms: number, stream: string, type: string, group: string|null, lane: number|null, cause: number|null,
 *   message: boolean, say: string, fields: [string, string][]}} Step
 * @typedef {{all: number[], original: number[], target: number[], in_sync: number[], leader: number, moving: boolean}} Replicas
 * @typedef {{topic: string, partition: number, name: string, spans: [number, number, Replicas][]}} Moved
 * @typedef {{version: number, run: string, product: string, seed: number|null, end_ms: number, groups: Group[], replicas: Moved[], steps: Step[],
 *   step_count: number, step_index: number[], commits_not_drawn: number}} Picture
 */

/** @param {number} ms */
export function instant(ms) {
  if (ms < 3_600_000) return `${(ms / 1000).toFixed(3)} s`;
  const hours = Math.floor(ms / 3_600_000), minutes = Math.floor(ms / 60_000) % 60;
  return `${hours}:${String(minutes).padStart(2, "0")}:${((ms % 60_000) / 1000).toFixed(3).padStart(6, "0")}`;
}

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1000).toLocaleString("en", { maximumFractionDigits: 3 })} s`;
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3,
  7200e3, 21600e3, 43200e3, 86400e3];

/** Instants at which an axis from `from` to `to` has its ticks, about `most` of them.
 * @param {number} from @param {number} to @param {number} most */
export function ticks(from, to, most) {
  const step = distance(from, to, most), found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
}

/** How far ticks are from each other. @param {number} from @param {number} to @param {number} most */
export function distance(from, to, most) {
  return STEPS.find((each) => (to - from) / each <= most) ?? 86400e3 * Math.ceil((to - from) / 86400e3 / most);
}

/** A tick's label: seconds on an axis that ends within ten minutes, else hours, minutes and seconds; as exact as the distance to the next tick asks.
 * @param {number} ms @param {number} step @param {number} to where the axis ends */
export function tick(ms, step, to) {
  const digits = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  if (to <= 600_000) return `${(ms / 1000).toFixed(digits)} s`;
  const seconds = ((ms % 60_000) / 1000).toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
  return `${Math.floor(ms / 3_600_000)}:${String(Math.floor(ms / 60_000) % 60).padStart(2, "0")}:${seconds}`;
}

/** The letter of a lane: A to Z, then A1 and so on. @param {number} index */
export function letter(index) {
  return String.fromCharCode(65 + (index % 26)) + (index >= 26 ? String(Math.floor(index / 26)) : "");
}

/** What holds at an instant. @template {Span} S @param {S[]} spans @param {number} at @returns {S|undefined} */
export function at(spans, at) {
  let low = 0, high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][1] <= at) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span && span[0] <= at ? span : low === spans.length && low && spans[low - 1][1] === at ? spans[low - 1] : undefined;
}

/** Spans that touch a window. @template {Span} S @param {S[]} spans @param {number} from @param {number} to @returns {S[]} */
export function within(spans, from, to) {
  return spans.filter((span) => span[1] > from && span[0] < to);
}

/** Partition-milliseconds in which nobody worked on a partition, up to an instant: nobody owned it, or its owners stood still, had gone or had no leader to read from.
 * At most: the silence of members that expired counts too, unless only what is `sure` is asked for.
 * @param {Group} group @param {number} until @param {number} since @param {boolean} [sure] */
export function lostUntil(group, until, since = 0, sure = false) {
  let sum = 0;
  for (const row of group.raster) for (const [from, to, owners, still] of row.spans) {
    if ((still && !(sure && still === "silent")) || !owners.length) sum += Math.max(0, Math.min(to, until) - Math.max(from, since));
  }
  return sum;
}

/** What was lost, as a number; its unit is partition-seconds. @param {number} ms */
export function number(ms) {
  return (ms / 1000).toLocaleString("en", { maximumFractionDigits: 3 });
}

/** Index of the last step at or before an instant, -1 if none. @param {Step[]} steps @param {number} ms */
export function stepAt(steps, ms) {
  let low = 0, high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].at_ms <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
