// The log that Python as WebAssembly writes of each lesson: a JSON array of engine requests on standard input, of answers on standard output.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const site = process.argv[2];
const { loadPyodide } = await import(pathToFileURL(`${site}/pyodide/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${site}/pyodide/` });
python.unpackArchive(new Uint8Array(readFileSync(`${site}/engine.zip`)), "zip", { extractDir: "/engine" });
python.runPython("import sys; sys.path.insert(0, '/engine'); from coordinator.page.engine import request");
const request = python.globals.get("request");
const answers = JSON.parse(readFileSync(0, "utf8")).map((asked) => JSON.parse(request(JSON.stringify(asked))));
process.stdout.write(JSON.stringify(answers));
