// @ts-check
/** The page of `coordinator watch` and `coordinator serve --page`: the picture of one log, redrawn when the log has grown. */
import { render } from "./vendor/preact.mjs";
import { Copy } from "./copy.js";
import { Foretelling } from "./predicting.js";
import { html } from "./view.js";

const place = /** @type {HTMLElement} */ (document.getElementById("stage"));

/** @param {string} text */
function problem(text) {
  render(html`<p class="problem" role="alert">${text}</p>`, place);
}

/** @param {number} begin @param {number} end */
async function more(begin, end) {
  const answer = await fetch(`steps?begin=${begin}&end=${end}`);
  return (await answer.json()).steps ?? [];
}

/** @param {string} group */
async function copy(group) {
  const body = await (await fetch(`scenario?group=${encodeURIComponent(group)}`)).json();
  if (body.error) throw new Error(body.error);
  return body;
}

let busy = false, again = false;
async function load() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  try {
    const answer = await fetch("picture"), body = await answer.json();
    if (body.error) problem(body.error);
    else {
      const title = /** @type {HTMLElement} */ (document.getElementById("title"));
      title.textContent = body.name;
      document.title = `coordinator: ${body.name}`;
      render(html`<div><${Foretelling} picture=${body.picture} more=${more} follow=${true} name=${body.name} now=${body.picture.end_ms} />
        <${Copy} groups=${body.picture.groups} copy=${copy} /></div>`, place);
    }
  } catch (error) {
    problem(`The server that shows this log does not answer (${error}). Is \`coordinator watch\` still running?`);
  }
  busy = false;
  if (again) {
    again = false;
    load();
  }
}

await load();
const events = new EventSource("events");
events.addEventListener("grown", load);
