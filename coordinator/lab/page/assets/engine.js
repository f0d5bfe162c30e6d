// @ts-check
/** The simulator in a worker: loaded when it is first asked for, one request at a time. */

/** @type {Worker|null} */
let worker = null;
let number = 0;
/** @type {((loading: {text: string, done: number, of: number}) => void)|null} */
let watching = null;
/** @type {Map<number, [(value: any) => void, (error: Error) => void]>} */
const waiting = new Map();

const WITHOUT = "This browser cannot run the engine (WebAssembly or module workers are missing). The recorded run of a lesson can still be stepped through; to change it, use a newer browser. A log of your own is shown by \"coordinator watch\" as well.";

/** Ask the engine for something (see request in coordinator.lab.page.engine). Rejects with a sentence. @param {any} asked
 * @param {(loading: {text: string, done: number, of: number}) => void} [onLoading] told how far the engine is fetched @param {Blob} [file] what it is about: it is read where it is
 * @returns {Promise<any>} */
export function ask(asked, onLoading, file) {
  if (onLoading) watching = onLoading;
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") return Promise.reject(new Error(WITHOUT));
  if (worker === null) {
    worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
      if (data.loading) {
        watching?.(data.loading);
        return;
      }
      const [resolve, reject] = waiting.get(data.id) ?? [];
      waiting.delete(data.id);
      if (data.unloaded) {
        worker?.terminate();  // the next question fetches it anew
        worker = null;
        for (const [, refuse] of waiting.values()) refuse(new Error(data.unloaded));
        waiting.clear();
      }
      if (data.error ?? data.unloaded) reject?.(new Error(data.error ?? data.unloaded));
      else resolve?.(data.ok);
    };
    worker.onerror = () => {
      for (const [, reject] of waiting.values()) reject(new Error(WITHOUT));
      waiting.clear();
      worker = null;
    };
  }
  const id = number++;
  return new Promise((resolve, reject) => {
    waiting.set(id, [resolve, reject]);
    /** @type {Worker} */ (worker).postMessage({ id, asked: JSON.stringify(asked), file });
  });
}
