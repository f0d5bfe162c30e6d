// @ts-check
/** A log of the reader's own, folded and drawn in the browser: nothing leaves the machine. */
import { render } from "./vendor/preact.mjs";
import { Copy } from "./copy.js";
import { Diagnosis } from "./diagnose.js";
import { ask } from "./engine.js";
import { fetched } from "./packed.js";
import { Foretelling } from "./predicting.js";
import { html } from "./view.js";

const place = /** @type {HTMLElement} */ (document.getElementById("stage"));
const MOST_BYTES = 200_000_000;

/** Whether the last line was cut short, its writer being stopped in the middle of it. @param {string} text */
function cutShort(text) {
  const last = text.slice(text.lastIndexOf("\n") + 1);
  try {
    return Boolean(last) && JSON.parse(last) === undefined;
  } catch {
    return true;
  }
}

/** @param {{name: string, size: number, text: () => Promise<string>}} file */
async function open(file) {
  if (file.size > MOST_BYTES) {
    show(html`<p class="problem" role="alert">${file.name} has ${Math.round(file.size / 1e6)} MB, more than a page holds: run "coordinator watch" for it.</p>`);
    return;
  }
  show(html`<p class="live" role="status">Reading ${file.name} …</p>`);
  try {
    const text = await file.text(), cut = cutShort(text);
    const { picture } = await ask({ op: "open", name: file.name, text });
    const more = async (/** @type {number} */ begin, /** @type {number} */ end) => (await ask({ op: "steps", begin, end })).steps;
    const copy = (/** @type {string} */ group) => ask({ op: "copy", group });
    const draw = (/** @type {any} */ copied) => show(html`<div key=${file.name}>${cut && html`<p role="status">The last line of ${file.name} was cut short; it is left out.</p>`}<${Foretelling} picture=${picture} name=${file.name} more=${more} />
      ${picture.groups.length > 0 && html`<${Diagnosis} ask=${() => ask({ op: "diagnose" })} />`}
      <${Copy} groups=${picture.groups} copy=${copy} run=${run} />
      ${copied && html`<section class="branch" aria-label="the copy"><h2>The copy, run in the simulator</h2><${Foretelling} picture=${copied} name="the copy" /></section>`}</div>`);
    const run = async (/** @type {string} */ scenario) => draw((await ask({ op: "play", as: "copy", scenario, name: "copy", seed: 1 })).picture);
    draw(null);
  } catch (error) {
    show(html`<p class="problem" role="alert">${/** @type {Error} */ (error).message}</p>`);
  }
}

/** One of the site's own logs. @param {string} name */
async function take(name) {
  const answer = await fetched(`${name}.gz`), body = answer.body;
  if (answer.ok && body) open({ name, size: 0, text: () => new Response(body.pipeThrough(new DecompressionStream("gzip"))).text() });
}

/** @param {any} what */
function show(what) {
  render(what, place);
}

const input = /** @type {HTMLInputElement} */ (document.getElementById("file"));
input.addEventListener("change", () => input.files?.[0] && open(input.files[0]));
for (const sample of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-sample]"))) sample.addEventListener("click", () => take(sample.dataset.sample ?? ""));
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (file) open(file);
});
document.body.dataset.ready = "yes";
