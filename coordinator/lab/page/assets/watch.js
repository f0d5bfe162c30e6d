// @ts-check
/** The page of `coordinator watch` and `coordinator serve --page`: the picture of one log, redrawn when the log has grown; where to come when nobody is there. */
import { Component, render } from "./vendor/preact.mjs";
import { Acts, may } from "./acts.js";
import { Copy } from "./copy.js";
import { Foretelling } from "./predicting.js";
import { Groups } from "./groups.js";
import { Pair, pairOfLink } from "./pair.js";
import { Reading } from "./reading.js";
import { jumpOfLink, linkedGroup } from "./verdict.js";
import { html } from "./view.js";

const place = /** @type {HTMLElement} */ (document.getElementById("stage"));
/** How much of the run is seen: its last so many milliseconds; 0: all of it. */
const SPANS = /** @type {[number, string][]} */ ([[30_000, "the last 30 s"], [60_000, "the last minute"], [300_000, "the last 5 minutes"], [3_600_000, "the last hour"], [0, "the whole run"]]);

/** @param {string} text */
function problem(text) {
  render(html`<p class="problem" role="alert">${text}</p>`, place);
}

/** @param {number} begin @param {number} end @param {string} [log] */
async function more(begin, end, log = "") {
  const answer = await fetch(`steps?begin=${begin}&end=${end}${log}`);
  return (await answer.json()).steps ?? [];
}

/** @param {string} group */
async function copy(group) {
  const body = await (await fetch(`scenario?group=${encodeURIComponent(group)}`)).json();
  if (body.error) throw new Error(body.error);
  return body;
}

/** Nobody has come yet: where to, and how. @param {{address: string}} props */
function Nobody({ address }) {
  const script = `from kafka import KafkaConsumer\nfor record in KafkaConsumer("orders", group_id="billing", bootstrap_servers="${address.split(",")[0]}"):\n    print(record.value)`;
  return html`<section class="nobody"><p>Nobody is here yet.${address && html` Connect a consumer to <strong class="address">${address}</strong>
      <button type="button" onClick=${() => navigator.clipboard?.writeText(address)}>copy the address</button>`}</p>
    ${address && html`<p>In Python, with kafka-python:</p><pre>${script}</pre>`}
    ${!address && html`<p>No client of this log has joined a group. When one does, it is drawn here.</p>`}</section>`;
}

/** @extends Component<{picture: import("./view.js").Picture, name: string, here: {address: string, acts: boolean}, reading: [number, number]|undefined}, any> */
class Watch extends Component {
  /** @param {any} props */
  constructor(props) {
    super(props);
    /** @type {any} */
    this.state = { group: linkedGroup, span: props.here.address ? 60_000 : 0, touched: null, again: 0 };
  }

  get group() {
    const { groups } = this.props.picture;
    return groups.find((each) => each.group === this.state.group) ?? groups[0];
  }

  /** @param {number} span */
  see(span) {
    this.setState({ span });
  }

  render() {
    const { picture, name, here, reading } = this.props, { span, touched, again } = this.state, group = this.group, end = picture.end_ms;
    if (!group) return reading ? html`<${Reading} reading=${reading} />` : html`<${Nobody} address=${here.address} />`;
    const window = span ? { from: Math.max(0, end - span), to: Math.max(end, 1) } : {}, home = span ? [window.from, window.to] : undefined;
    const acting = here.acts && may();
    return html`<div><${Reading} reading=${reading} /><${Groups} picture=${picture} group=${group.group} onGroup=${(/** @type {string} */ chosen) => this.setState({ group: chosen, touched: null })} />
      <p class="tools"><label>show <select class="span" value=${String(span)} onChange=${(/** @type {any} */ event) => this.see(Number(event.target.value))}>
        ${SPANS.map(([ms, text]) => html`<option value=${String(ms)}>${text}</option>`)}</select></label>
        ${acting && html`<span>Point at a member, or press Enter at the cursor, for what can be done to it.</span>`}</p>
      <${Foretelling} key=${`${group.group} ${span}`} anew=${again} picture=${picture} group=${group.group} more=${more} follow=${true} judged=${true} jump=${jumpOfLink()} name=${name} now=${end} home=${home} ...${window} listed=${true}
        menu=${acting && html`<${Acts} group=${group} touched=${touched} onDone=${() => this.setState({ again: again + 1 })} onClose=${() => this.setState({ touched: null })} />`}
        onTouch=${acting ? (/** @type {any} */ spot, /** @type {number} */ x, /** @type {number} */ y) => this.setState({ touched: { lane: spot.lane, x, y } }) : undefined}
        onPick=${(/** @type {string} */ member) => { this.picked = member; }}
        onKey=${(/** @type {KeyboardEvent} */ event) => acting && event.key === "Enter" && this.entered()} />
      <${Copy} groups=${[group]} copy=${copy} /></div>`;
  }

  /** The menu opens for the member that was pointed at last, or for the only one, else for the group. */
  entered() {
    const members = this.group.lanes.filter((lane) => lane.member_id), picked = members.find((lane) => lane.name === this.picked);
    this.setState({ touched: { lane: (picked ?? (members.length === 1 ? members[0] : undefined))?.index, x: 120, y: 120 } });
    return true;
  }
}

let busy = false, again = false, /** @type {any} */ here = null;
async function load() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  try {
    here ??= await (await fetch("here")).json();
    if (here.beside) await both();
    else await one();
  } catch (error) {
    problem(`The server that shows this log does not answer (${error}). Is \`coordinator watch\` still running?`);
  }
  busy = false;
  if (again) {
    again = false;
    load();
  }
}

const start = pairOfLink();

/** Two logs side by side. */
async function both() {
  const bodies = await Promise.all(["picture", "picture?log=beside"].map(async (path) => (await fetch(path)).json()));
  const wrong = bodies.find((body) => body.error);
  if (wrong) return problem(wrong.error);
  const names = bodies.map((body) => body.name);
  entitle(names.join(" and "));
  const sides = bodies.map(({ picture, reading }, at) => ({ name: names[at], picture, note: html`<${Reading} reading=${reading} />`,
    more: (/** @type {number} */ begin, /** @type {number} */ end) => more(begin, end, at ? "&log=beside" : "") }));
  render(html`<${Pair} sides=${sides} start=${start} />`, place);
}

/** @param {string} name */
function entitle(name) {
  /** @type {HTMLElement} */ (document.getElementById("title")).textContent = name;
  document.title = `coordinator: ${name}`;
}

async function one() {
  const body = await (await fetch("picture")).json();
  if (body.error) return problem(body.error);
  entitle(body.name);
  render(html`<${Watch} picture=${body.picture} name=${body.name} here=${here} reading=${body.reading} />`, place);
}

forget();

/** A live page is no part of the site: a worker that the site left at this address is put away, with what it kept. */
async function forget() {
  for (const each of await navigator.serviceWorker?.getRegistrations() ?? []) await each.unregister();
  for (const name of await globalThis.caches?.keys() ?? []) if (name.startsWith("coordinator-")) await caches.delete(name);
}

await load();
for (const path of here?.beside ? ["events", "events?log=beside"] : ["events"]) new EventSource(path).addEventListener("grown", load);
