// @ts-check
/** Why something happened, in sentences: the chain of causes that a log has, and what is known where it has none. Knows a picture and what was done to its run. */
import { instant, seconds } from "./view.js";

/** @typedef {import("./view.js").Picture} Picture
 * @typedef {import("./view.js").Step} Step
 * @typedef {{kind: string, at_ms: number, member?: string, down_ms?: number, lasts_ms?: number}} Action */

const DEEP = 3;
/** What a process does by itself after something was done to it. @type {Record<string, string>} */
const ENDS = { MemberStarted: "down_ms", ApplicationResumed: "lasts_ms", MemberResumed: "lasts_ms" };
const ACTED = new Set(["MemberCrashed", "MemberClosing", "MemberClosed", "ApplicationStalled", "MemberStarted", "ApplicationResumed"]);

/** The steps that lead to a step, the nearest first, and a last sentence if it began outside.
 * @param {Picture} picture @param {Step} step @param {Action[]} done what was done to the run @param {string} who who did it: "You", "The recording" */
export function why(picture, step, done, who) {
  const said = [];
  /** @type {Step|undefined} */
  let at = step;
  for (let deep = 0; deep < DEEP && at; deep++) {
    const [text, next] = /** @type {[string, Step|undefined]} */ (cause(picture, at, done, who));
    said.push(text);
    at = next;
  }
  return said.map((text, index) => (index ? `And that: ${text.charAt(0).toLowerCase()}${text.slice(1)}` : text)).join(" ");
}

/** @param {Picture} picture @param {Step} step @param {Action[]} done @param {string} who @returns {[string, Step|undefined]} */
function cause(picture, step, done, who) {
  const lane = step.lane === null ? undefined : picture.groups[0].lanes[step.lane], before = (/** @type {(each: Step) => boolean} */ fits) => picture.steps.findLast((each) => each.seq < step.seq && fits(each));
  if (step.type.endsWith("Removed") && step.say.includes("expired") && lane) {
    const sign = lane.signs.findLast((ms) => ms < step.at_ms), end = before((each) => each.lane === step.lane && ACTED.has(each.type));
    const silent = sign === undefined ? "no sign of life of it came" : `its last sign of life came at ${instant(sign)}`;
    return [`Because ${silent}, and a member's session ends after ${lane.session_timeout_ms ? seconds(lane.session_timeout_ms) : "session.timeout.ms"} without one.`, end];
  }
  if (step.type.startsWith("Partitions")) {
    const rebalance = before((each) => each.type === "RebalanceStarted");
    if (rebalance) return [`Because ${reason(rebalance)}.`, behind(picture, rebalance)];
  }
  if (step.type === "RebalanceStarted") return [`Because ${reason(step)}.`, behind(picture, step)];
  const found = picture.steps.find((each) => each.seq === step.cause);
  if (found) return [`Because of this, at ${instant(found.at_ms)}: ${found.say}`, found.type === "RebalanceStarted" || found.type.startsWith("Member") ? found : undefined];
  const named = (/** @type {Action} */ each) => lane !== undefined && each.member === lane.name, ends = ENDS[step.type];
  const own = done.findLast((each) => named(each) && each.at_ms <= step.at_ms && (!ends || each[/** @type {"down_ms"} */ (ends)] !== undefined));
  if (own && ends) return [`Because ${who === "You" ? "you" : "the recording"} did that to it at ${instant(own.at_ms)}, for ${seconds(Number(own[/** @type {"down_ms"} */ (ends)]))}.`, undefined];
  if (own) return [`${who} did that, at ${instant(own.at_ms)}.`, undefined];
  if (step.type === "RunEnded") return ["The run is over: nothing made it end.", undefined];
  const last = before((each) => each.lane === step.lane && each.lane !== null && !each.message);
  return [`The log has no cause of it. What it has of ${lane ? lane.label ?? lane.name : "the group"} before: ${last ? `${last.say} (${instant(last.at_ms)})` : "nothing"}`, undefined];
}

/** What made a rebalance begin; what ended a member's process where the rebalance's own sentence has the rest. @param {Picture} picture @param {Step} step */
function behind(picture, step) {
  const found = picture.steps.find((each) => each.seq === step.cause);
  return found && reason(step).includes("sign of life") ? picture.steps.findLast((each) => each.seq < found.seq && each.lane === found.lane && ACTED.has(each.type)) : found;
}

/** The reason that a rebalance's own sentence has. @param {Step} step */
function reason(step) {
  const text = /because (.*?)(?:; the first members|\. The coordinator waits|\.$)/.exec(step.say)?.[1];
  return text ?? "of what its sentence says";
}
