// @ts-check
/** The sandbox: a scenario file of the reader's own, edited beside its picture, run, changed by hand and shared. A log becomes a scenario first. */
import { Component, render } from "./vendor/preact.mjs";
import { AsFile } from "./asfile.js";
import { completions } from "./completing.js";
import { ask } from "./engine.js";
import { Stage } from "./stage.js";
import { Menu } from "./touch.js";
import { packed, unpackedText } from "./url.js";
import { html } from "./view.js";
import { told } from "./whatif.js";

const MOST_LETTERS = 200_000, LONGEST_LINK = 8000, MOST_LOG = 200_000_000;

/** @param {any} given */
const isAction = (given) => typeof given?.kind === "string" && Number.isSafeInteger(given.at_ms) && ["string", "undefined"].includes(typeof given.member);

/** @extends Component<{text: string}, any> */
class Sandbox extends Component {
  /** @param {{text: string}} props */
  constructor(props) {
    super(props);
    /** @type {any} */
    this.state = { text: props.text, seed: 1, actions: [], run: null, before: null, offers: {}, changed: [], busy: false, problem: "", spoken: "", tables: null, begun: 0, choices: [], touched: null, member: "", shown: "" };
    /** @type {HTMLTextAreaElement|null} */
    this.area = null;
  }

  async componentDidMount() {
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer?.files[0]) this.take(event.dataTransfer.files[0]);
    });
    try {
      const shared = location.hash.startsWith("#s=") ? await unpackedText(location.hash.slice(3)) : null;
      if (shared) {
        const [text, seed, actions] = shared;
        if (typeof text !== "string" || !Number.isSafeInteger(seed) || !Array.isArray(actions) || !actions.every(isAction)) throw new Error("damaged");
        this.setState({ text: text.slice(0, MOST_LETTERS), seed, actions }, () => this.play(actions));
      }
    } catch {
      this.setState({ problem: "This link is damaged: ask for it again, or begin with the scenario that stands here." });
    }
  }

  /** A scenario file, or a log that becomes one. @param {File} file */
  async take(file) {
    if (file.size > MOST_LOG) {
      this.setState({ problem: `${file.name} has ${Math.round(file.size / 1e6)} MB, more than a page holds.` });
      return;
    }
    this.setState({ busy: true, problem: "", spoken: `Reading ${file.name} …` });
    try {
      let text = await file.text();
      if (/^\s*\{/.test(text)) {
        const { picture } = await ask({ op: "open", as: "taken", name: file.name, text });
        if (!picture.groups.length) throw new Error(`${file.name}: no group is in this log, so there is nothing to run again.`);
        text = (await ask({ op: "copy", as: "taken", group: picture.groups[0].group })).scenario;
      }
      if (text.length > MOST_LETTERS) throw new Error(`${file.name} has ${text.length} letters; a scenario has at most ${MOST_LETTERS}.`);
      this.setState({ text, actions: [], run: null, before: null, busy: false, spoken: "It is there. Run it." });
    } catch (error) {
      this.setState({ busy: false, spoken: "", problem: /** @type {Error} */ (error).message });
    }
  }

  /** Run the text with these actions. @param {any[]} actions */
  async play(actions) {
    const { text, seed, actions: did, run } = this.state, same = run?.text === text && run.seed === seed;
    this.setState({ busy: true, problem: "", spoken: "The engine runs." });
    try {
      const { picture, offers, changed } = await ask({ op: "play", as: "sandbox", scenario: text, name: "scenario", seed, actions, ...(same && { beside: { actions: did } }) },
        (/** @type {any} */ loading) => this.setState({ spoken: loading.text }));
      this.setState({ run: { text, seed, picture }, before: same ? run : null, offers, changed: changed ?? [], actions, busy: false, spoken: "The run is there." }, () => this.keep());
    } catch (error) {
      this.setState({ busy: false, spoken: "", problem: /** @type {Error} */ (error).message });
    }
  }

  /** The address has what is run, so that it is there after a reload; a text that is too long for one is not kept. How long it is, or would be. */
  async keep() {
    const { text, seed, actions } = this.state, hash = `#s=${await packed([text, seed, actions])}`;
    history.replaceState(null, "", hash.length > LONGEST_LINK ? location.pathname : hash);
    return hash.length;
  }

  async share() {
    const long = await this.keep();
    if (long > LONGEST_LINK) {
      this.setState({ spoken: "", problem: `A link with this scenario would have ${long} characters; at most ${LONGEST_LINK}: send the file.` });
      return;
    }
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    this.setState({ spoken: copied ? "The link is copied." : "The link stands in the address of this page." });
  }

  /** Look for what may be written at the caret. */
  async suggest() {
    const area = /** @type {HTMLTextAreaElement} */ (this.area), tables = this.state.tables ?? await ask({ op: "keys" }).catch(() => null);
    this.setState({ tables, ...(tables ? completions(area.value.slice(0, area.selectionStart), tables) : {}) });
  }

  /** @param {string} text */
  complete(text) {
    const area = /** @type {HTMLTextAreaElement} */ (this.area), at = area.selectionStart;
    area.setRangeText(text, at - this.state.begun, at, "end");
    area.focus();
    this.setState({ text: area.value, choices: [] });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { choices } = this.state;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.play([]);
    else if (event.key === " " && event.ctrlKey) this.suggest();
    else if (event.key === "ArrowDown" && event.altKey && choices.length) this.complete(choices[0].text);
    else if (event.key === "Escape" && choices.length) this.setState({ choices: [] });
    else return;
    event.preventDefault();
  }

  /** By keyboard: what can be done to the chosen member at the cursor. @param {KeyboardEvent} event @param {any[]} lanes */
  entered(event, lanes) {
    if (event.key !== "Enter") return false;
    const { member, run } = this.state, lane = lanes.findIndex((each) => each.name === member);
    this.setState({ touched: { at_ms: this.cursor ?? run.picture.end_ms, lane: Math.max(0, lane), x: 20, y: 120 } });
    return true;
  }

  render() {
    const { text, seed, actions, run, before, offers, changed, busy, problem, spoken, choices, touched, member, shown } = this.state;
    const group = run?.picture.groups.find((/** @type {any} */ each) => each.group === shown) ?? run?.picture.groups[0];
    const close = () => this.setState({ touched: null });
    const menu = touched && group && html`<${Menu} touched=${touched} group=${group} offers=${offers} busy=${busy} undo=${actions.length > 0} onClose=${close}
      onAct=${(/** @type {any} */ action) => { close(); this.play([...actions, action]); }} onUndo=${() => { close(); this.play(actions.slice(0, -1)); }} />`;
    return html`<div class="screen"><div class="left">
        ${run ? html`<${Stage} key=${run.text} picture=${run.picture} now=${run.picture.end_ms} name="the scenario" menu=${menu} onGroup=${(/** @type {string} */ name) => this.setState({ shown: name, touched: null })} onCursor=${(/** @type {number} */ at) => { this.cursor = at; }}
            onPick=${(/** @type {string} */ name) => this.setState({ member: name })} onKey=${(/** @type {KeyboardEvent} */ event) => this.entered(event, group.lanes)}
            onTouch=${(/** @type {any} */ spot, /** @type {number} */ x, /** @type {number} */ y) => this.setState({ touched: { at_ms: Math.max(0, spot.ms), lane: spot.lane, row: spot.row, x: Math.max(0, x - 100), y: y + 8 } })} />
          ${group && html`<p class="tools acted-on"><label>the key enter in the picture acts on <select value=${member} onChange=${(/** @type {any} */ event) => this.setState({ member: event.target.value })}>
            ${group.lanes.map((/** @type {any} */ lane) => html`<option value=${lane.name}>${lane.name}</option>`)}</select></label></p>`}
          ${before && html`<section class="branch" aria-label="before"><h2>Before</h2><${Stage} picture=${before.picture} now=${before.picture.end_ms} name="before" bare=${true} compact=${true} /></section>`}`
        : html`<p class="drop">Run it, and its picture stands here. Or drop a scenario file, or a log, which becomes a scenario.</p>`}</div>
      <div class="idea"><label>the scenario (TOML); control and space: what may stand here <textarea class="editor" rows="22" spellcheck="false" ref=${(/** @type {any} */ area) => { this.area = area; }} value=${text}
          onInput=${(/** @type {any} */ event) => { this.setState({ text: event.target.value, choices: [] }); if (this.state.tables) this.suggest(); }} onKeyDown=${(/** @type {KeyboardEvent} */ event) => this.key(event)} /></label>
        ${choices.length > 0 && html`<ul class="completions" aria-label="what may stand here">${choices.slice(0, 12).map((/** @type {any} */ each) => html`<li><button type="button" onClick=${() => this.complete(each.text)}>${each.text.trim()}</button> <small>${each.doc}</small></li>`)}</ul>`}
        <p class="tools"><button type="button" class="primary run" disabled=${busy} onClick=${() => this.play([])}>${busy ? "running …" : "run it"}</button>
          <label>seed <input type="number" min="0" max="1000000" value=${seed} onInput=${(/** @type {any} */ event) => this.setState({ seed: Number(event.target.value) || 0 })} /></label>
          <button type="button" class="share" onClick=${() => this.share()}>copy a link to this</button>
          <label>a file <input type="file" id="file" accept=".toml,.jsonl,.json,.txt" onChange=${(/** @type {any} */ event) => event.target.files[0] && this.take(event.target.files[0])} /></label></p>
        ${problem && html`<p class="problem" role="alert">${problem}</p>`}
        <p class="live" aria-live="polite">${spoken}</p>
        ${actions.length > 0 && html`<p class="done">You did: ${actions.map(told).join("; ")}. <button type="button" disabled=${busy} onClick=${() => this.play(actions.slice(0, -1))}>undo</button></p>`}
        ${changed.length > 0 && html`<p class="changed">${changed.join(" ")}</p>`}
        ${run && html`<${AsFile} key=${JSON.stringify([run.text, actions])} seed=${run.seed} ask=${(/** @type {string} */ op) => ask({ op, scenario: run.text, name: "scenario", seed: run.seed, actions })} />`}</div></div>`;
  }
}

const place = /** @type {HTMLElement} */ (document.getElementById("sandbox"));
const first = place.querySelector("pre")?.textContent ?? "";
place.replaceChildren();
render(html`<${Sandbox} text=${first} />`, place);
document.body.dataset.ready = "yes";
