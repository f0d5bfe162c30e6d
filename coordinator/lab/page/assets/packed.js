// @ts-check
/** Files of the site, and those that are packed: pictures of recorded runs. */

/** A file; asked for once more when the network changed under the first request. @param {string|URL} url @returns {Promise<Response>} */
export async function fetched(url) {
  try {
    return await fetch(url);
  } catch {
    await new Promise((done) => setTimeout(done, 200));
    return fetch(url);
  }
}

/** @param {string} name @returns {Promise<any>} */
export async function unpacked(name) {
  const answer = await fetched(`${name}.json.gz`);
  if (!answer.ok || !answer.body) throw new Error(`${name}.json.gz: ${answer.status}`);
  return new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).json();
}
