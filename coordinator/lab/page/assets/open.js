// @ts-check
/** Logs of the reader's own: an event log, folded and drawn in the browser while it is read, slice by slice: nothing leaves the machine. */
import { render } from "./vendor/preact.mjs";
import { Copy } from "./copy.js";
import { Quiz } from "./quiz.js";
import { ask } from "./engine.js";
import { fetched } from "./packed.js";
import { Told } from "./logs.js";
import { Foretelling } from "./predicting.js";
import { Pair, pairOfLink } from "./pair.js";
import { Reading } from "./reading.js";
import { jumpOfLink } from "./verdict.js";
import { html } from "./view.js";

const place = /** @type {HTMLElement} */ (document.getElementById("stage"));
const more = async (/** @type {number} */ begin, /** @type {number} */ end) => (await ask({ op: "steps", begin, end })).steps;
const copy = (/** @type {string} */ group) => ask({ op: "copy", group });
/** The file that was chosen last: an older one is not read on. @type {Blob|null} */
let chosen = null;

/** What a file holds, unpacked if gzip packed it; and whether that ended early: what could be unpacked is shown. @param {Blob} file @param {string} name @returns {Promise<{log: Blob, early: boolean}>} */
async function unpacked(file, name) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return { log: file, early: false };
  const /** @type {any[]} */ chunks = [], reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) chunks.push(piece.value);
  } catch {
    if (!chunks.length) throw new Error(`${name}: its gzip packing is damaged, or cut short.`);
    return { log: new Blob(chunks), early: true };
  }
  return { log: new Blob(chunks), early: false };
}

/** @param {Blob} file @param {string} name */
async function open(file, name) {
  chosen = file;
  show(html`<p class="live" role="status">Reading ${name} …</p>`);
  try {
    const { log, early } = await unpacked(file, name), /** @type {any} */ seen = { early };
    const draw = () => show(html`<${Opened} key=${name} name=${name} run=${run} ...${seen} />`);
    const run = async (/** @type {string} */ scenario) => {
      seen.copied = (await ask({ op: "play", as: "copy", scenario, name: "copy", seed: 1 })).picture;
      draw();
    };
    let said = await ask({ op: "follow", path: "/log/file", name }, undefined, log);
    while (chosen === file) {
      if (said.error) throw new Error(said.error);
      Object.assign(seen, { reading: undefined }, said);
      draw();
      if (!said.reading) return;
      said = await ask({ op: "read" });
    }
  } catch (error) {
    if (chosen === file) show(html`<p class="problem" role="alert">${/** @type {Error} */ (error).message}</p>`);
  }
}

/** Two event logs, side by side. @param {File[]} files */
async function openBoth(files) {
  const these = chosen = files[0];
  show(html`<p class="live" role="status">Reading ${files[0].name} and ${files[1].name} …</p>`);
  try {
    const sides = [];
    for (const [at, file] of files.entries()) {
      const as = `side ${at}`, { log, early } = await unpacked(file, file.name);
      let said = await ask({ op: "follow", as, path: `/log${at}/file`, name: file.name }, undefined, log), /** @type {any} */ seen = said;
      while (chosen === these && said.reading) {
        if (said.error) throw new Error(said.error);
        show(html`<p>${file.name}</p><${Reading} reading=${said.reading} />`);
        said = await ask({ op: "read", as });
        seen = { ...seen, ...said };
      }
      if (said.error) throw new Error(said.error);
      const steps = async (/** @type {number} */ begin, /** @type {number} */ end) => (await ask({ op: "steps", as, begin, end })).steps;
      sides.push({ name: file.name, picture: seen.picture, more: steps, note: html`<${Left} name=${file.name} ...${seen} early=${early} />` });
    }
    if (chosen === these) show(html`<${Pair} key=${files.map((file) => file.name).join("\n")} sides=${sides} start=${pairOfLink()} />`);
  } catch (error) {
    if (chosen === these) show(html`<p class="problem" role="alert">${/** @type {Error} */ (error).message}</p>`);
  }
}

/** Files of one incident: an event log, or what a cluster and its clients have logged; or two event logs. @param {File[]} files */
async function read(files) {
  if (files.length === 2 && await ours(files[0]) && await ours(files[1])) return openBoth(files);
  if (files.length === 1 && await ours(files[0])) return open(files[0], files[0].name);
  chosen = files[0];
  const these = chosen;
  show(html`<p class="live" role="status">Reading ${files.map((file) => file.name).join(", ")} …</p>`);
  try {
    const texts = await Promise.all(files.map(async (file) => ({ name: file.name, text: await (await unpacked(file, file.name)).log.text() })));
    await tell(texts, these);
  } catch (error) {
    if (chosen !== these) return;
    if (files.length === 1) open(files[0], files[0].name);  // it says what is wrong with it as an event log
    else show(html`<p class="problem" role="alert">${/** @type {Error} */ (error).message}</p>`);
  }
}

/** Whether a file begins as an event log does. @param {File} file */
async function ours(file) {
  return /\.jsonl(\.gz)?$/.test(file.name) || (await file.slice(0, 7).text()) === '{"seq":';
}

/** @param {{name: string, text: string}[]} files @param {Blob} these */
async function tell(files, these) {
  const told = await ask({ op: "logs", files });
  if (chosen === these) show(html`<${Told} ...${told} />`);
}

/** What of a log is not shown. @param {{name: string, cut: boolean, early: boolean, damaged?: [number, string]}} props */
function Left({ name, cut, early, damaged }) {
  return html`${cut && html`<p role="status">The last line of ${name} was cut short; it is left out.</p>`}
    ${early && html`<p role="status">The packing of ${name} is damaged, or cut short: what could be read of it is shown.</p>`}
    ${damaged && html`<p role="status">${damaged[0]} ${damaged[0] > 1 ? "lines are" : "line is"} left out; the first: ${damaged[1]}</p>`}`;
}

/** @param {{name: string, picture: import("./view.js").Picture, cut: boolean, early: boolean, damaged?: [number, string], reading: [number, number]|undefined, copied: any, run: (scenario: string) => void}} props */
function Opened({ name, picture, cut, early, damaged, reading, copied, run }) {
  return html`<div><${Reading} reading=${reading} /><${Left} name=${name} cut=${cut} early=${early} damaged=${damaged} />
    <${Foretelling} picture=${picture} name=${name} more=${more} judged=${true} jump=${jumpOfLink()} />
    ${!reading && picture.groups.length > 0 && html`<${Quiz} ask=${() => ask({ op: "quiz" })} />`}
    ${!reading && html`<${Copy} groups=${picture.groups} copy=${copy} run=${run} />`}
    ${copied && html`<section class="branch" aria-label="the copy"><h2>The copy, run in the simulator</h2><${Foretelling} picture=${copied} name="the copy" /></section>`}</div>`;
}

/** One of the site's own logs. @param {string} name */
async function take(name) {
  const answer = await fetched(`${name}.gz`);
  if (answer.ok) open(await answer.blob(), name);
}

/** @param {any} what */
function show(what) {
  render(what, place);
}

const input = /** @type {HTMLInputElement} */ (document.getElementById("file"));
input.addEventListener("click", () => { input.value = ""; });  // the same file once more is a new one
input.addEventListener("change", () => input.files?.length && read([...input.files]));
document.getElementById("tell")?.addEventListener("click", async () => {
  const text = /** @type {HTMLTextAreaElement} */ (document.getElementById("pasted")).value, these = chosen = new Blob([text]);
  show(html`<p class="live" role="status">Reading what was pasted …</p>`);
  await tell([{ name: "paste", text }], these).catch((error) => chosen === these && show(html`<p class="problem" role="alert">${error.message}</p>`));
});
for (const sample of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-sample]"))) sample.addEventListener("click", () => take(sample.dataset.sample ?? ""));
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const files = [...(event.dataTransfer?.files ?? [])];
  if (files.length) read(files);
});
document.body.dataset.ready = "yes";
