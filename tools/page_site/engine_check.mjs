// What Python as WebAssembly answers: a JSON array of engine requests on standard input, of answers on standard output.
// A request's `file`, a text, is there as /log/file, as worker.js has a reader's.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const site = process.argv[2];
const { loadPyodide } = await import(pathToFileURL(`${site}/pyodide/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${site}/pyodide/` });
python.unpackArchive(new Uint8Array(readFileSync(`${site}/engine.zip`)), "zip", { extractDir: "/engine" });
python.runPython("import sys; sys.path.insert(0, '/engine'); from coordinator.lab.page.engine import request");
const request = python.globals.get("request");
python.FS.mkdir("/log");
let given = "";
for await (const piece of process.stdin.setEncoding("utf8")) given += piece; // as it comes: a long one comes in pieces
const answers = JSON.parse(given).map(({ file, ...asked }) => {
  if (file) python.FS.writeFile("/log/file", file);
  return JSON.parse(request(JSON.stringify(asked)));
});
process.stdout.write(JSON.stringify(answers));
