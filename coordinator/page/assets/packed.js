// @ts-check
/** Files of the site that are packed: pictures of recorded runs. */

/** @param {string} name @returns {Promise<any>} */
export async function unpacked(name) {
  const answer = await fetch(`${name}.json.gz`);
  if (!answer.ok || !answer.body) throw new Error(`${name}.json.gz: ${answer.status}`);
  return new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).json();
}
