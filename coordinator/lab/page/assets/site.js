// @ts-check
/** What every page of the static site has: it is kept for times without a network, and can stand in a frame (?embed). */

/** @type {any} */
const reader = navigator;
if (new URLSearchParams(location.search).has("embed")) document.body.classList.add("embed");
keep();

/** Keep the site in this browser: what is looked at, and, once the page has nothing else to do, the rest with the engine; not for who saves data. */
async function keep() {
  if (!reader.serviceWorker) return;
  try {
    await reader.serviceWorker.register("sw.js");
    const { active } = await reader.serviceWorker.ready;
    if (reader.connection?.saveData || document.body.classList.contains("embed")) return;
    const idle = window.requestIdleCallback ?? ((/** @type {() => void} */ work) => setTimeout(work, 2000));
    idle(() => active.postMessage("prefetch"));
  } catch {
    // a browser that keeps nothing fetches anew
  }
}
