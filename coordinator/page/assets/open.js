// @ts-check
/** A log of the reader's own, folded and drawn in the browser while it is read, slice by slice: nothing leaves the machine. */
import { render } from "./vendor/preact.mjs";
import { Copy } from "./copy.js";
import { Diagnosis } from "./diagnose.js";
import { ask } from "./engine.js";
import { fetched } from "./packed.js";
import { Foretelling } from "./predicting.js";
import { Reading } from "./reading.js";
import { html } from "./view.js";

const place = /** @type {HTMLElement} */ (document.getElementById("stage"));
const more = async (/** @type {number} */ begin, /** @type {number} */ end) => (await ask({ op: "steps", begin, end })).steps;
const copy = (/** @type {string} */ group) => ask({ op: "copy", group });
/** The file that was chosen last: an older one is not read on. @type {Blob|null} */
let chosen = null;

/** What a file holds, unpacked if gzip packed it. @param {Blob} file @param {string} name @returns {Promise<Blob>} */
async function unpacked(file, name) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return file;
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob().catch(() => {
    throw new Error(`${name}: its gzip packing is damaged, or cut short.`);
  });
}

/** @param {Blob} file @param {string} name */
async function open(file, name) {
  chosen = file;
  show(html`<p class="live" role="status">Reading ${name} …</p>`);
  try {
    const log = await unpacked(file, name), /** @type {any} */ seen = {};
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

/** @param {{name: string, picture: import("./view.js").Picture, cut: boolean, reading: [number, number]|undefined, copied: any, run: (scenario: string) => void}} props */
function Opened({ name, picture, cut, reading, copied, run }) {
  return html`<div><${Reading} reading=${reading} />${cut && html`<p role="status">The last line of ${name} was cut short; it is left out.</p>`}
    <${Foretelling} picture=${picture} name=${name} more=${more} />
    ${!reading && picture.groups.length > 0 && html`<${Diagnosis} ask=${() => ask({ op: "diagnose" })} />`}
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
input.addEventListener("change", () => input.files?.[0] && open(input.files[0], input.files[0].name));
for (const sample of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-sample]"))) sample.addEventListener("click", () => take(sample.dataset.sample ?? ""));
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (file) open(file, file.name);
});
document.body.dataset.ready = "yes";
