// @ts-check
/** Which lessons a reader has seen, kept in the browser alone. */
const KEY = "coordinator.lessons";

/** @returns {Record<string, string>} By lesson: "seen", or "right" if it was foreseen. */
export function seen() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** @param {string} lesson @param {boolean} right */
export function see(lesson, right) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...seen(), [lesson]: right ? "right" : "seen" }));
  } catch {
    // a browser that keeps nothing shows no progress
  }
}
