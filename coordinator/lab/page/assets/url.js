// @ts-check
/** A run in a link: engine version, seed, settings, timed actions, cursor, two settings side by side and predictions, deflated; never what follows from them. */

/** @typedef {{settings: string[], actions: any[], without?: number[]}} Branch  `without`: which of the lesson's own actions are left out
 * @typedef {Branch & {v: string, seed: number, now: number, sides?: [string[], string[]]|null, marks?: import("./predict.js").Mark[],
 *   earlier?: Branch[]}} Shared
 * `earlier` are the branches beside the newest one, oldest first. */
export const LONGEST = 2000;

const KINDS = /** @type {const} */ (["at", "span", "owner"]);

/** @param {any} given */
const isSides = (given) => given === 0 || (Array.isArray(given) && given.length === 2 && given.every((side) => Array.isArray(side) && side.every((each) => typeof each === "string")));

/** @param {any} given @returns {import("./predict.js").Mark} */
function mark(given) {
  const [kind, at_ms, to_ms, lane, row] = Array.isArray(given) ? given : [];
  if (!KINDS[kind] || !Number.isSafeInteger(at_ms) || !Number.isSafeInteger(to_ms) || typeof lane !== "string" || typeof row !== "string") throw new Error("damaged");
  return { kind: KINDS[kind], at_ms, ...(kind === 1 && { to_ms }), lane, ...(kind === 2 && { row }) };
}

/** @param {Uint8Array} bytes @param {any} stream */
async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(stream)).arrayBuffer());
}

/** @param {any[]} actions */
const packedActions = (actions) => actions.map(({ kind, at_ms, member = "", lasts_ms, down_ms, api = "", ...more }) => [kind, at_ms, member, lasts_ms ?? down_ms ?? 0, api,
  ...(Object.keys(more).length ? [more] : [])]);

/** @param {any} settings @param {any} actions @param {any} without @returns {Branch} */
function branch(settings, actions, without = []) {
  if (![settings, actions, without].every(Array.isArray) || !without.every(Number.isSafeInteger)) throw new Error("damaged");
  return { settings: settings.map(String), ...(without.length && { without }), actions: actions.map((/** @type {any} */ [kind, at_ms, member, long, api, more]) => ({
    kind, at_ms, ...(member && { member }), ...(long && { [kind === "close" || kind === "kill" ? "down_ms" : "lasts_ms"]: long }), ...(api && { api }), ...more })) };
}

/** Values in the letters of an address. @param {any} plain */
export async function packed(plain) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(plain)), new CompressionStream("deflate-raw"));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** What `packed` made of them. Throws for damaged letters. @param {string} text */
export async function unpackedText(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
}

/** @param {Branch} branch */
const packedBranch = ({ settings, actions, without = [] }) => [settings, packedActions(actions), ...(without.length ? [without] : [])];

/** The part after "#" of a link. Throws if it would be too long. @param {Shared} state */
export async function toHash(state) {
  const actions = packedActions(state.actions), earlier = (state.earlier ?? []).map(packedBranch), without = state.without ?? [];
  const marks = (state.marks ?? []).map((each) => [KINDS.indexOf(each.kind), each.at_ms, each.to_ms ?? 0, each.lane, each.row ?? ""]);
  const text = `#r=${await packed([state.v, state.seed, state.settings, actions, state.now, state.sides ?? 0, marks, ...(earlier.length || without.length ? [earlier] : []), ...(without.length ? [without] : [])])}`;
  if (text.length > LONGEST) throw new Error(`a link with ${actions.length} actions would have ${text.length} characters; at most ${LONGEST}`);
  return text;
}

/** What a link says, null if it says nothing. Throws for a damaged one. @param {string} hash @returns {Promise<Shared|null>} */
export async function fromHash(hash) {
  const found = /^#r=([\w-]+)$/.exec(hash);
  if (!found && hash.startsWith("#r=")) throw new Error("damaged");
  if (!found) return null;
  if (hash.length > 2 * LONGEST) throw new Error("damaged");
  const [v, seed, settings, actions, now, sides = 0, marks = [], earlier = [], without = []] = await unpackedText(found[1]);
  if (typeof v !== "string" || !Number.isSafeInteger(seed) || !Number.isFinite(now) || !isSides(sides) || !Array.isArray(marks) || !Array.isArray(earlier)) throw new Error("damaged");
  return { v, seed, now, sides: sides || null, marks: marks.map(mark), ...branch(settings, actions, without),
    ...(earlier.length && { earlier: earlier.map((each) => branch(each?.[0], each?.[1], each?.[2])) }) };
}
