// @ts-check
/** A run in a link: engine version, seed, settings, timed actions, cursor and branch, deflated; never what follows from them. */

/** @typedef {{v: string, seed: number, settings: string[], actions: any[], now: number}} Shared */
export const LONGEST = 2000;

/** @param {Uint8Array} bytes @param {any} stream */
async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(stream)).arrayBuffer());
}

/** The part after "#" of a link. Throws if it would be too long. @param {Shared} state */
export async function toHash(state) {
  const actions = state.actions.map((each) => Object.values({ k: each.kind, t: each.at_ms, m: each.member ?? "", l: each.lasts_ms ?? each.down_ms ?? 0, a: each.api ?? "" }));
  const plain = JSON.stringify([state.v, state.seed, state.settings, actions, state.now]);
  const packed = await through(new TextEncoder().encode(plain), new CompressionStream("deflate-raw"));
  const text = `#r=${btoa(String.fromCharCode(...packed)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
  if (text.length > LONGEST) throw new Error(`a link with ${actions.length} actions would have ${text.length} characters; at most ${LONGEST}`);
  return text;
}

/** What a link says, null if it says nothing. Throws for a damaged one. @param {string} hash @returns {Promise<Shared|null>} */
export async function fromHash(hash) {
  const found = /^#r=([\w-]+)$/.exec(hash);
  if (!found) return null;
  const packed = Uint8Array.from(atob(found[1].replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  const [v, seed, settings, actions, now] = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"))));
  if (typeof v !== "string" || !Number.isSafeInteger(seed) || !Array.isArray(settings) || !Array.isArray(actions) || !Number.isFinite(now)) throw new Error("damaged");
  return { v, seed, settings: settings.map(String), now, actions: actions.map(([kind, at_ms, member, long, api]) => ({
    kind, at_ms, ...(member && { member }), ...(long && { [kind === "close" || kind === "kill" ? "down_ms" : "lasts_ms"]: long }), ...(api && { api }) })) };
}
