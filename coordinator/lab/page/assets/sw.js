// @ts-check
/** The service worker of the static site: what was fetched is kept, so that lessons and their engine are there without a network, and are not fetched again.
 * Its cache is named by the site's content; another version deletes it. Files that may change are asked for first and taken from the cache only without an answer. */
/* global clients */
const VERSION = "unbuilt";
const ENGINE = "engine.zip";
const FILES = /** @type {string[]} */ ([]);
const NAME = `coordinator-${VERSION}`, KNOWN = new Set(FILES), HEAVY = /^(pyodide\/|engine\.zip$)/;
const scope = /** @type {any} */ (self);
const here = new URL("./", location.href).pathname;

scope.addEventListener("install", () => scope.skipWaiting());
scope.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(activate()));
scope.addEventListener("message", (/** @type {any} */ event) => event.data === "prefetch" && event.waitUntil(prefetch()));
scope.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event, url = new URL(request.url), path = url.pathname.slice(here.length) || "index.html";
  if (request.method !== "GET" || url.origin !== location.origin || !KNOWN.has(path)) return;
  event.respondWith(HEAVY.test(path) ? kept(url) : fresh(request, url));
});

async function activate() {
  for (const name of await caches.keys()) if (name.startsWith("coordinator-") && name !== NAME) await caches.delete(name);
  await scope.clients.claim();
}

/** A file under its own address, whatever is asked of the page that it is. @param {URL} url */
const plain = (url) => url.origin + url.pathname;

/** What cannot change under its address: the engine's names its content. @param {URL} url */
async function kept(url) {
  const cache = await caches.open(NAME), found = await cache.match(url.href);
  if (found) return found;
  const answer = await fetch(url);
  if (answer.ok) await cache.put(url.href, answer.clone());
  return answer;
}

/** @param {Request} request @param {URL} url */
async function fresh(request, url) {
  const cache = await caches.open(NAME);
  try {
    const answer = await fetch(request);
    if (answer.ok && !answer.redirected) await cache.put(plain(url), answer.clone());
    return answer;
  } catch (error) {
    const found = await cache.match(plain(url));
    if (found) return found;
    throw error;
  }
}

/** Fetch, one after the other, what is not kept yet. */
async function prefetch() {
  const cache = await caches.open(NAME);
  for (const file of FILES) {
    const address = new URL(file === "engine.zip" ? ENGINE : file, location.href).href;
    if (!await cache.match(address)) await cache.add(address).catch(() => undefined);
  }
}
