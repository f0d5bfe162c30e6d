// @ts-check
/** The worker: Python as WebAssembly with the simulator, unchanged. Takes JSON, gives JSON (coordinator.lab.page.engine.request). */
import { fetched } from "./packed.js";

const loaded = load();

async function load() {
  const tell = (/** @type {number} */ done, /** @type {string} */ text) => self.postMessage({ loading: { done, of: 4, text } });
  tell(0, "Fetching Python …");
  // @ts-ignore: beside this file in a built site
  const { loadPyodide } = await import("./pyodide/pyodide.mjs");
  tell(1, "Fetching Python and the simulator …");
  const [python, sources] = await Promise.all([
    loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href }),
    fetched(new URL("./engine.zip", import.meta.url)).then((answer) => answer.arrayBuffer()),
  ]);
  tell(2, "Starting the simulator …");
  python.unpackArchive(new Uint8Array(sources), "zip", { extractDir: "/engine" });
  python.runPython("import sys; sys.path.insert(0, '/engine'); from coordinator.lab.page.engine import request");
  tell(3, "Running the group …");
  return { request: python.globals.get("request"), files: python.FS };
}

/** A file is read where it is, by its bytes: it is not copied into memory. @param {any} files @param {string} path of the file, in a folder of its own @param {Blob} file */
function mount(files, path, file) {
  const [folder, name] = path.slice(1).split("/");
  if (files.analyzePath(path).exists) files.unmount(`/${folder}`);
  if (!files.analyzePath(`/${folder}`).exists) files.mkdir(`/${folder}`);
  files.mount(files.filesystems.WORKERFS, { blobs: [{ name, data: file }] }, `/${folder}`);
}

self.onmessage = async ({ data }) => {
  const engine = await loaded.catch((error) => {
    self.postMessage({ id: data.id, unloaded: `The engine could not be fetched (${error}). Try again.` });
    return null;
  });
  if (engine === null) return;
  try {
    if (data.file) mount(engine.files, JSON.parse(data.asked).path, data.file);
    self.postMessage({ id: data.id, ...JSON.parse(engine.request(data.asked)) });
  } catch (error) {
    self.postMessage({ id: data.id, error: `The engine could not do this: ${String(error).split("\n").filter(Boolean).at(-1)}` });
  }
};
