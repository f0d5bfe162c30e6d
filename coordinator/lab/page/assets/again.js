// @ts-check
/** Loads the page again when one of its scripts or its style sheet could not be fetched: a browser gives up what is under way when the network
 * changes, as it does when a container starts on this machine. At most three times in a minute, so that a file that is missing ends it. */
(() => {
  const KEY = "again", MOST = 3, WITHIN_MS = 60_000;
  addEventListener("error", ({ target }) => {
    if (location.protocol === "file:" || !(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
    try {
      /** @type {number[]} */
      const times = JSON.parse(sessionStorage.getItem(KEY) ?? "[]").filter((/** @type {number} */ time) => Date.now() - time < WITHIN_MS);
      if (times.length >= MOST) return;
      sessionStorage.setItem(KEY, JSON.stringify([...times, Date.now()]));
      setTimeout(() => location.reload(), 200 * (times.length + 1));
    } catch {
      // without a storage nobody counts: the page stays as it is
    }
  }, true);
})();
