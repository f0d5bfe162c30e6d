// @ts-check
/** The picture with its cursor, its controls and what is said beside the cursor. Shows a picture; changes none. */
import { Component, render } from "./vendor/preact.mjs";
import { AXIS, Definitions, Drawing, GUTTER, Legend, NOTED, axis, invert, layout, scale } from "./draw.js";
import { kind, larger } from "./fit.js";
import { costSpread, costUntil } from "./queues.js";
import { save } from "./saving.js";
import { People } from "./space.js";
import { Now, Whole, timers } from "./tables.js";
import { at, html, instant, stepAt } from "./view.js";

/** @typedef {import("./view.js").Group} Group
 * @typedef {import("./view.js").Picture} Picture
 * @typedef {import("./view.js").Step} Step
 * @typedef {{at_ms?: number, lane?: number, text: string, kind: "guess"|"truth"|"action"}} Note
 * @typedef {{picture: Picture, group?: string, from?: number, to?: number, now?: number, jump?: {at_ms: number}, horizon?: number, notes?: Note[], name?: string, seq?: number, since?: number, whole?: {from: number, to: number, before?: Picture}, open?: Set<string>, bare?: boolean, listed?: boolean, compact?: boolean, below?: any, menu?: any, onTouch?: (spot: Spot, x: number, y: number) => void,
 *   more?: (begin: number, end: number) => Promise<Step[]>, onCursor?: (now: number, group: string) => void, onGroup?: (group: string) => void, onPick?: (lane: string) => void, follow?: boolean, anew?: number,
 *   home?: [number, number], onWindow?: (from: number, to: number) => void, over?: (x: (ms: number) => number, place: ReturnType<typeof layout>, window: import("./draw.js").Window) => any,
 *   onKey?: (event: KeyboardEvent, window: import("./draw.js").Window) => boolean, onMark?: (type: string, spot: Spot) => boolean}} Props
 *   `whole`: the window whose cost stands above the picture wherever the cursor is, and the run that it is compared with; `listed`: which group is chosen elsewhere; `anew`: another value shows the end of what there is, in the window that it began with
 * @typedef {{ms: number, slack: number, lane?: number, row?: number}} Spot  where somebody points: an instant, milliseconds within which
 *   one has not moved, and the lane or the partition's row, if any */

const STILL = typeof matchMedia === "function" && matchMedia("(prefers-reduced-motion: reduce)").matches;
const NARROW = typeof matchMedia === "function" && matchMedia("(max-width: 48rem)").matches;
const CHUNK = 500;
/** The narrowest window: one millisecond is a quarter of it. */
const NARROWEST_MS = 4;
let count = 0;
const HELP = "Left and right: step. Page up and down: ten steps. Home, end: first, last. Space: play. Plus, minus, 0, control and wheel: zoom. Shift with left, right or wheel: move along. M: step by message, event or deadline. P: mark a prediction. In a lesson, enter: what can be done here; B: two settings side by side.";

/** Patterns that are always there. A picture's own ones stand in each picture, for a saved one needs them; but a reference leads to the first of that name on the page, which may be in a picture that is hidden, and then nothing is filled. */
function patterns() {
  if (document.querySelector("body > .patterns")) return;
  const host = document.createElement("div");
  host.className = "patterns";
  document.body.prepend(host);
  render(html`<svg aria-hidden="true" width="0" height="0"><${Definitions} /></svg>`, host);
}

/** The drawing alone, drawn again only when what it shows has changed. @extends Component<any> */
class Still extends Component {
  /** @param {any} next */
  shouldComponentUpdate(next) {
    const { group, window } = this.props;
    return next.group !== group || next.label !== this.props.label || next.open !== this.props.open || next.compact !== this.props.compact || ["from", "to", "width", "horizon"].some((key) => next.window[key] !== window[key]);
  }

  render() {
    return html`<${Drawing} ...${this.props} />`;
  }
}

export class Stage extends Component {
  /** @param {Props} props */
  constructor(props) {
    super(props);
    /** @type {any} */
    this.state = { now: props.now ?? Math.min(props.from ?? 0, this.end(props)), from: props.from ?? 0, to: props.to ?? this.last(props),
      group: props.group, width: 960, playing: false, by: "event", spoken: "", table: false, chunks: {}, seq: null, signs: !NARROW };
    /** @type {any} */
    this.root = null;
    this.frame = 0;
    this.uid = count++;
  }

  /** @param {Props} props */
  last(props) {
    return Math.max(1, props.picture.end_ms);
  }

  /** How far may be seen. @param {Props} props */
  end(props) {
    return Math.min(props.horizon ?? Infinity, this.last(props));
  }

  componentDidMount() {
    patterns();
    this.measure = () => {
      const plot = this.root.querySelector(".plot"), group = this.group, scale = kind() && plot && group ? larger(plot.clientHeight, this.place(group).height) : 1;
      const width = Math.max(320, Math.round((this.root.clientWidth || 960) / scale));
      if (Math.abs(width - this.state.width) > 1) this.setState({ width });
    };
    if (typeof ResizeObserver === "function") {
      this.watcher = new ResizeObserver(this.measure);
      this.watcher.observe(this.root);
    }
    this.measure();
  }

  componentWillUnmount() {
    this.watcher?.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** @param {Props} before */
  componentDidUpdate(before) {
    const props = /** @type {Props} */ (this.props);
    if (kind()) this.measure?.();
    const moved = props.follow === undefined && props.now !== undefined && props.now !== before.now && props.now !== this.state.now, now = moved ? props.now ?? 0 : this.state.now;
    if (props.jump && props.jump !== before.jump) this.go(props.jump.at_ms, true);
    if (moved) this.setState({ now: Math.min(now, this.end(props)), seq: props.seq ?? null });
    if (before.anew !== props.anew) {
      const [from, to] = this.home;
      this.setState({ from, to, now: this.end(props), seq: null, index: undefined, ...(before.picture !== props.picture && { chunks: {} }) });
      return;
    }
    if (before.picture === props.picture && before.from === props.from && before.to === props.to) return;
    const followed = props.follow && this.state.now >= this.end(before);
    this.setState({ ...this.grown(before, Boolean(followed)), ...(before.picture !== props.picture && { chunks: {} }),
      now: followed ? this.end(props) : Math.min(now, this.end(props)) });
  }

  /** What is seen now that there is more. Who follows a log is not moved away from what he looks at, and keeps his zoom. @param {Props} before @param {boolean} followed */
  grown(before, followed) {
    const props = /** @type {Props} */ (this.props), { from, to } = this.state, own = before.from !== from || before.to !== to;
    if (before.to !== undefined && props.follow !== undefined) {
      const along = (props.to ?? 0) - before.to;
      return !followed ? {} : own ? { from: from + along, to: to + along } : { from: props.from ?? 0, to: props.to };
    }
    return { to: before.to !== props.to || to >= this.last(before) ? props.to ?? this.last(props) : to, from: before.from !== props.from ? props.from ?? 0 : from };
  }

  /** @returns {Group|undefined} */
  get group() {
    const { picture } = /** @type {Props} */ (this.props);
    return picture.groups.find((each) => each.group === this.state.group) ?? picture.groups[0];
  }

  /** The steps that can be stepped through by event, message or deadline. @returns {Step[]} */
  get steps() {
    const { picture } = /** @type {Props} */ (this.props), group = this.group?.group, by = this.state.by;
    if (this.memo?.picture !== picture || this.memo.group !== group || this.memo.by !== by) {
      const due = new Set(this.group?.deadlines.map((each) => each.seq));
      const steps = picture.steps.filter((step) => (step.group === null || step.group === group)
        && (by === "event" || (by === "message" ? step.message : due.has(step.seq) || step.type === "MemberRemoved" || step.type === "PendingMemberRemoved")));
      this.memo = { picture, group, by, steps };
    }
    return this.memo.steps;
  }

  /** The step at the cursor: the one that was stepped to, else the last before it. @returns {Step|undefined} */
  get current() {
    const { picture } = /** @type {Props} */ (this.props);
    if (picture.steps.length || !picture.step_count) {
      const steps = this.steps, chosen = steps.find((step) => step.seq === this.state.seq && step.at_ms === this.state.now);
      return chosen ?? steps[stepAt(steps, this.state.now)];
    }
    const index = this.far();
    const chunk = this.state.chunks[Math.floor(index / CHUNK)];
    if (chunk === undefined) this.fetch(Math.floor(index / CHUNK));
    return Array.isArray(chunk) ? chunk[index % CHUNK] : undefined;
  }

  /** In a long log: the number of the step at the cursor. */
  far() {
    const { picture } = /** @type {Props} */ (this.props), all = picture.step_index;
    if (this.state.index !== undefined && all[this.state.index] === this.state.now) return this.state.index;
    let low = 0, high = all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (all[middle] <= this.state.now) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** @param {number} chunk */
  fetch(chunk) {
    const { more } = /** @type {Props} */ (this.props);
    this.state.chunks[chunk] = null;
    more?.(chunk * CHUNK, (chunk + 1) * CHUNK).then((steps) => this.setState({ chunks: { ...this.state.chunks, [chunk]: steps } }));
  }

  /** Put the cursor somewhere. @param {number} ms @param {boolean} speak @param {any} more */
  go(ms, speak = false, more = { seq: null, index: undefined }) {
    const props = /** @type {Props} */ (this.props);
    const now = Math.max(0, Math.min(this.end(props), Math.round(ms)));
    const { from, to } = this.state, wide = to - from;
    const moved = now < from || now > to ? { from: Math.max(0, now - wide / 2), to: Math.max(0, now - wide / 2) + wide } : {};
    this.setState({ now, ...moved, ...more }, () => {
      if (speak) this.speak();
      if (moved.to !== undefined) props.onWindow?.(this.state.from, this.state.to);
      props.onCursor?.(this.state.now, this.group?.group ?? "");
    });
  }

  speak() {
    const step = this.current;
    this.setState({ spoken: step ? `${instant(step.at_ms)}. ${step.say}` : `${instant(this.state.now)}. Nothing has happened yet.` });
  }

  /** @param {number} count */
  step(count) {
    const props = /** @type {Props} */ (this.props);
    if (!props.picture.steps.length && props.picture.step_count) {
      const index = Math.max(0, Math.min(props.picture.step_count - 1, this.far() + count));
      this.go(props.picture.step_index[index], true, { index });
      return;
    }
    const steps = this.steps, step = this.current, here = step ? steps.indexOf(step) : -1;
    const back = count < 0 && step && step.at_ms < this.state.now ? 1 : 0;
    const next = steps[Math.max(0, Math.min(steps.length - 1, here + count + back))];
    if (next && next.at_ms <= this.end(props)) this.go(next.at_ms, true, { seq: next.seq });
    else if (count > 0) this.go(this.end(props), true);
  }

  play() {
    const playing = !this.state.playing;
    this.setState({ playing });
    if (!playing) return;
    const props = /** @type {Props} */ (this.props), speed = (this.state.to - this.state.from) / 20_000;
    if (this.state.now >= this.end(props)) this.go(Math.min(this.state.from, this.end(props)));
    let before = performance.now();
    const turn = (/** @type {number} */ time) => {
      if (!this.state.playing) return;
      if (STILL) {
        if (time - before > 1500) { before = time; this.step(1); }
      } else {
        this.go(this.state.now + Math.max(1, (time - before) * speed));
        before = time;
      }
      if (this.state.now >= this.end(props)) this.setState({ playing: false });
      else this.frame = requestAnimationFrame(turn);
    };
    this.frame = requestAnimationFrame(turn);
  }

  /** Show more or less time; what is at `anchor` stays where it is. @param {number} factor @param {number} anchor */
  zoom(factor, anchor = this.state.now) {
    const { from, to } = this.state;
    const wide = Math.max(NARROWEST_MS, Math.min(this.longest, (to - from) * factor));
    this.look(anchor - ((anchor - from) / (to - from)) * wide, wide);
  }

  /** Move along the axis by a part of what is seen. @param {number} part */
  pan(part) {
    const { from, to } = this.state;
    this.look(from + (to - from) * part, to - from);
  }

  /** @param {number} begin @param {number} wide */
  look(begin, wide) {
    const from = Math.round(Math.max(0, Math.min(begin, this.longest - wide))), to = from + Math.max(NARROWEST_MS, Math.round(wide));
    this.setState({ from, to });
    /** @type {Props} */ (this.props).onWindow?.(from, to);
  }

  /** The widest window. */
  get longest() {
    const props = /** @type {Props} */ (this.props);
    return Math.max(this.home[1], this.last(props), NARROWEST_MS);
  }

  /** The window to which "whole" goes back. @returns {[number, number]} */
  get home() {
    const props = /** @type {Props} */ (this.props);
    return props.home ?? [props.from ?? 0, props.to ?? this.last(props)];
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const along = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!along && !event.ctrlKey && !event.metaKey) return;  // the wheel alone scrolls the page
    event.preventDefault();
    const turned = (event.deltaX || event.deltaY) * [1, 16, 400][event.deltaMode];
    if (along) this.pan(turned / 800);
    else this.zoom(2 ** (turned / 120), this.spot(event).ms);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const props = /** @type {Props} */ (this.props), along = event.shiftKey && { ArrowRight: 0.25, ArrowLeft: -0.25 }[event.key];
    if (props.onKey?.(event, this.window)) {
      event.preventDefault();
      return;
    }
    if (along) {
      event.preventDefault();
      this.pan(along);
      return;
    }
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), PageDown: () => this.step(10), PageUp: () => this.step(-10),
      Home: () => this.go(0, true), End: () => this.go(this.end(props), true), " ": () => this.play(), "+": () => this.zoom(0.5), "=": () => this.zoom(0.5),
      "-": () => this.zoom(2), 0: () => this.fit(), m: () => this.by(), M: () => this.by(),
    };
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  }

  by() {
    const kinds = ["event", "message", "deadline"], by = kinds[(kinds.indexOf(this.state.by) + 1) % 3];
    this.setState({ by, spoken: `Steps go by ${by} now.` });
  }

  fit() {
    const [from, to] = this.home;
    this.look(from, to - from);
  }

  /** @param {Group} group */
  place(group) {
    const props = /** @type {Props} */ (this.props);
    return layout(group, props.picture.replicas, this.state.unfolded ? undefined : props.open, props.compact, this.window);
  }

  /** Where in the picture a pointer is. @param {MouseEvent} event @returns {Spot} */
  spot(event) {
    const box = this.root.querySelector("svg.picture").getBoundingClientRect(), each = this.state.width / box.width;
    const y = (event.clientY - box.top) * each, group = this.group, place = group && this.place(group);
    const lane = place?.laneAt(y), row = place ? Math.floor((y - place.rasterTop) / place.cell) : -1;
    const ms = invert(this.window, (event.clientX - box.left) * each), slack = invert(this.window, GUTTER + 4) - this.state.from;
    return { ms, slack, ...(lane !== undefined && { lane }), ...(group?.raster[row] && { row }) };
  }

  /** @param {PointerEvent} event */
  point(event) {
    if (event.type === "pointermove" && !(event.buttons & 1)) return;
    const props = /** @type {Props} */ (this.props), spot = this.spot(event);
    if (event.type === "pointerdown") {
      /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
      this.pressed = [event.clientX, event.clientY];
    }
    if (props.onMark?.(event.type, spot)) return;
    if (event.type === "pointerup") {
      const [x, y] = this.pressed ?? [0, 0], box = this.root.getBoundingClientRect();
      if (Math.hypot(event.clientX - x, event.clientY - y) < 5) props.onTouch?.(spot, event.clientX - box.left, event.clientY - box.top);
      return;
    }
    const lane = spot.lane === undefined ? undefined : this.group?.lanes[spot.lane];
    if (lane && event.type === "pointerdown") props.onPick?.(lane.name);
    this.go(spot.ms);
  }

  get window() {
    const { from, to, width } = this.state;
    return { from, to, width, horizon: this.end(/** @type {Props} */ (this.props)) };
  }

  render() {
    const props = /** @type {Props} */ (this.props), group = this.group, { now, playing, by, spoken, table } = this.state;
    if (!group) return html`<div class="stage" ref=${(/** @type {any} */ root) => { if (root) this.root = root; }}><p class="empty">No group is in this log: none of its clients joined one.</p></div>`;
    const window = this.window, x = scale(window), place = this.place(group), step = this.current, horizon = this.end(props);
    const since = now < (props.since ?? 0) ? 0 : props.since, [, counts] = costUntil(group, Math.min(now, horizon), since), named = props.name ? `: ${props.name}` : "";
    const label = `${group.name}: states of the coordinator, members and owners of partitions from ${instant(window.from)} to ${instant(Math.min(window.to, horizon))}; a table follows`;
    return html`<div class="stage" ref=${(/** @type {any} */ root) => { if (root) this.root = root; }}>
      ${!props.listed && props.picture.groups.length > 1 && html`<label class="choose">group <select value=${group.group} onChange=${(/** @type {any} */ event) => this.setState({ group: event.target.value }, () => props.onGroup?.(this.state.group))}>
        ${props.picture.groups.map((each) => html`<option value=${each.group}>${each.name}</option>`)}</select></label>`}
      ${props.whole ? this.cost(group, props.whole) : html`<p class="headline"><strong class="lost">${costSpread(group, Math.min(now, horizon), since)}</strong> ${counts} ${since ? `from ${instant(since)} ` : ""}up to <strong>${instant(now)}</strong></p>`}
      ${!props.compact && !props.bare && html`<${People} group=${group} now=${Math.min(now, horizon)} wide=${window.width} />`}
      ${props.picture.commits_not_drawn > 0 && html`<p>${props.picture.commits_not_drawn} requests of commits are not drawn in a log this long; step to see them.</p>`}
      <div class="plot" tabindex="0" role="group" aria-label=${`${props.name ?? "picture"}. ${HELP}`} onKeyDown=${(/** @type {any} */ event) => this.key(event)}
          onPointerDown=${(/** @type {any} */ event) => this.point(event)} onPointerMove=${(/** @type {any} */ event) => this.point(event)}
          onPointerUp=${(/** @type {any} */ event) => this.point(event)} onWheel=${(/** @type {any} */ event) => this.wheel(event)}>
        <div class="sticky"><svg viewBox=${`0 0 ${window.width} ${AXIS}`} aria-hidden="true">${axis(window, x, AXIS)}</svg></div>
        <${Still} group=${group} replicas=${props.picture.replicas} window=${window} label=${label} uid=${this.uid} open=${this.state.unfolded ? undefined : props.open} compact=${props.compact} />
        <svg class="over" viewBox=${`0 0 ${window.width} ${place.height}`} aria-hidden="true">
          ${props.over?.(x, place, window)}
          ${noted(props.notes ?? [], x, place, window)}
          ${now >= window.from && now <= window.to && html`<line class="cursor" x1=${x(now)} x2=${x(now)} y1="0" y2=${place.height} />`}
        </svg>
      </div>
      ${props.menu}${props.below}
      ${!props.bare && html`<div class="controls">
        <button type="button" onClick=${() => this.step(-1)} aria-label="step back">◀ step</button>
        <button type="button" onClick=${() => this.step(1)} aria-label="step forward">step ▶</button>
        <button type="button" class="play" onClick=${() => this.play()} aria-pressed=${playing}>${playing ? "pause" : "play"}</button>
        <input type="range" class="scrub" aria-label="instant" min="0" max=${horizon} value=${now} aria-valuetext=${instant(now)}
          onInput=${(/** @type {any} */ event) => this.go(Number(event.target.value))} />
        <label>by <select value=${by} onChange=${(/** @type {any} */ event) => this.setState({ by: event.target.value })}>
          <option>event</option><option>message</option><option>deadline</option></select></label>
        <button type="button" onClick=${() => this.zoom(0.5)} aria-label="zoom in">+</button>
        <button type="button" onClick=${() => this.zoom(2)} aria-label="zoom out">−</button>
        <button type="button" onClick=${() => this.fit()}>whole</button>
        ${place.folded.length > 0 && html`<button type="button" class="unfold" onClick=${() => this.setState({ unfolded: true })}>show all ${group.lanes.length} members</button>`}
      </div>
      <section class="panel" aria-label=${`at the cursor${named}`}>
        ${step ? html`<p class="say"><span class="type">${step.type}</span> ${step.say}</p>` : html`<p class="say">Nothing has happened yet.</p>`}</section>
      <details class="signs" open=${this.state.signs && !kind()}><summary>What the signs mean</summary><${Legend} group=${group} until=${horizon} /></details>
      <p class="save">Save the picture as ${/** @type {const} */ (["svg", "png"]).map((each) => html`<button type="button" class="link" data-save=${each} onClick=${() => save(this.root, each, props.name ?? group.name)}>${each.toUpperCase()}</button> `)}</p>
      <details class="more" open=${this.state.more} onToggle=${(/** @type {any} */ event) => this.setState({ more: event.target.open })}>
        <summary>More at this instant: the message's fields, timers, who has what</summary>${this.state.more && html`<div class="beside"><div class="fields">
          ${step && html`<h3>${instant(step.at_ms)} <span class="type">${step.type}</span></h3>
            ${step.fields.length > 0 && html`<dl>${step.fields.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`}
            ${step.cause !== null && html`<button type="button" class="link" onClick=${() => this.cause(step)}>what made it happen</button>`}`}
          ${timers(group, now).length > 0 && html`<h3>Timers</h3><ul>${timers(group, now).map((row) => html`<li>${row}</li>`)}</ul>`}</div>
        <section class="now" aria-label=${`members at the cursor${named}`}><${Now} group=${group} now=${now} /></section></div>`}</details>
      <details class="whole" open=${table} onToggle=${(/** @type {any} */ event) => this.setState({ table: event.target.open })}>
        <summary>The picture as tables</summary>${table && html`<${Whole} group=${group} replicas=${props.picture.replicas} horizon=${horizon} />`}</details>`}
      <p class="live" aria-live="polite">${spoken}</p>
    </div>`;
  }

  /** What a window costs, here and in the run that it is compared with. @param {Group} group @param {{from: number, to: number, before?: Picture}} whole */
  cost(group, { from, to, before }) {
    const text = (/** @type {Group} */ each) => costSpread(each, to, from), [, counts] = costUntil(group, to, from), theirs = before?.groups.find((each) => each.group === group.group) ?? before?.groups[0];
    return html`<p class="headline whole-window">${theirs && html`<strong class="lost">${text(theirs)}</strong> → `}<strong class="lost">${text(group)}</strong> ${counts} from ${instant(from)} to ${instant(to)}</p>`;
  }

  /** @param {Step} step */
  cause(step) {
    const { picture } = /** @type {Props} */ (this.props), found = picture.steps.find((each) => each.seq === step.cause);
    if (found) this.setState({ by: "event" }, () => this.go(found.at_ms, true, { seq: found.seq }));
  }
}

/** Predictions, the truth or actions, marked on the picture. A text that a later one would cover stands a line above it, or below it where the band is above.
 * @param {Note[]} notes @param {(ms: number) => number} x @param {ReturnType<typeof layout>} place @param {import("./draw.js").Window} window */
function noted(notes, x, place, window) {
  const placed = notes.map((note) => {
    const left = note.at_ms === undefined ? GUTTER + 4 : x(Math.max(window.from, Math.min(window.to, note.at_ms))), long = note.text.length * 7.6;
    const y = note.lane === undefined || !place.isOpen[note.lane] ? NOTED : place.lane(note.lane) - 4;
    return { note, left, y, text: { x: Math.min(left + 4, window.width - long - 8), y, long } };
  });
  placed.forEach(({ text: one }, at) => placed.slice(0, at).reverse().forEach(({ text: other }) => {
    if (Math.abs(one.y - other.y) < 14 && one.x < other.x + other.long && other.x < one.x + one.long) other.y = one.y + (one.y === NOTED ? 14 : -14);
  }));
  return placed.map(({ note, left, y, text }) => html`<g class=${`note ${note.kind}`}>
    ${note.at_ms !== undefined && html`<line x1=${left} x2=${left} y1=${note.lane === undefined ? AXIS : y - 10} y2=${note.lane === undefined ? place.height : y + 24} />`}
    <text x=${text.x} y=${text.y}>${note.text}</text></g>`);
}

/** What the state of a group is called at an instant, for titles. @param {Group} group @param {number} now */
export function stateAt(group, now) {
  return at(group.states, now)?.[2] ?? "no group yet";
}
