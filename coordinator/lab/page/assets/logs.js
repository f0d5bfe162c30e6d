// @ts-check
/** What the logs of somebody else's cluster tell, drawn from the frame of `coordinator diagnose --json`: nothing is ranked or worded anew. */
import { html } from "./view.js";

/** @typedef {{file: string, line: number}} Evidence
 * @typedef {{generation: number, at: string|null, cause: string, member: string|null, held_up_by: string|null, removed: string[], join_phase_s: number|null, members: number|null,
 *   returns: boolean|null, empty: boolean, certainty: string|null, evidence: Evidence[]}} Rebalance
 * @typedef {{at: string|null, kind: string, sentence: string, certainty: string, evidence: Evidence[]}} Occurrence
 * @typedef {{at: string|null, state: string|null, members: number|null, owners: string[], lag: number|null, evidence: Evidence[]}} State
 * @typedef {{id: string, certainty: string, sentence: string, evidence: Evidence[]}} Finding
 * @typedef {{protocol: string|null, rebalances: Rebalance[], events: Occurrence[], findings: Finding[], states: State[], not_known: string[]}} Group
 * @typedef {{dialect: string|null, lines: number, understood: number, clock_offset_ms: number|null}} Read
 * @typedef {{files: Record<string, Read>, groups: Record<string, Group>}} Frame
 * @typedef {Map<string, string>} Quotes */

const NOT_KNOWN = "not known", WIDTH = 960, HEIGHT = 64, MOST = 2000;
/** Causes by what they are: somebody came, went, was lost, or the topics changed. @type {Record<string, string>} */
const KINDS = { "first-join": "came", joined: "came", "static-restart": "came", left: "went", expired: "lost", "poll-timeout": "lost", "member-fenced": "lost", "twin-fenced": "lost",
  "topic-grew": "grew", unknown: "unknown" };

/** @param {{frame: Frame, quotes: [string, number, string][], causes: Record<string, string[]>}} props */
export function Told({ frame, quotes, causes }) {
  const lines = new Map(quotes.map(([file, line, text]) => [`${file}:${line}`, text]));
  const names = Object.keys(frame.groups);
  return html`<div class="told">${names.map((name) => html`<${Story} key=${name} name=${name} group=${frame.groups[name]} causes=${causes[name]} quotes=${lines} />`)}
    ${names.length === 0 && html`<p class="problem" role="alert">These lines name no group.</p>`}
    <${Files} files=${frame.files} />
    <p><a href=${`data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(frame, null, 2))}`} download="diagnosis.json">save this as diagnosis.json</a>;
    <code>coordinator diagnose FILES</code> tells the same in a terminal.</p></div>`;
}

/** @param {{name: string, group: Group, causes: string[], quotes: Quotes}} props */
function Story({ name, group, causes, quotes }) {
  const count = group.rebalances.length;
  return html`<section class="group" aria-label=${name === "?" ? "a group that no line names" : `group ${name}`}>
    <h2>${name === "?" ? "A group that no line names" : `Group ${name}`}${group.protocol && ` (${group.protocol})`}: ${count} rebalance${count === 1 ? "" : "s"} ${count ? "" : "in these lines"}</h2>
    ${group.findings.map((each) => html`<div class="finding"><b>${each.id}</b> <small>${each.certainty}</small><br />${each.sentence}<${Shown} evidence=${each.evidence} quotes=${quotes} /></div>`)}
    <${InTime} rebalances=${group.rebalances} causes=${causes} />
    ${count > 0 && html`<${Rebalances} rebalances=${group.rebalances} causes=${causes} quotes=${quotes} />`}
    ${group.events.length + group.states.length > 0 && html`<h3>Besides</h3><ul>
      ${group.events.map((each) => html`<li><time>${each.at}</time> ${each.kind}: ${each.sentence} <${Shown} evidence=${each.evidence} quotes=${quotes} /></li>`)}
      ${group.states.map((each) => html`<li><time>${each.at}</time> ${described(each)} <${Shown} evidence=${each.evidence} quotes=${quotes} /></li>`)}</ul>`}
    ${group.not_known.length > 0 && html`<h3>Not known from these lines</h3><ul class="unknown">${group.not_known.map((each) => html`<li>${each}</li>`)}</ul>`}
  </section>`;
}

/** @param {{rebalances: Rebalance[], causes: string[], quotes: Quotes}} props */
function Rebalances({ rebalances, causes, quotes }) {
  return html`<table><caption>Rebalances</caption><thead><tr><th scope="col">at</th><th scope="col">generation</th><th scope="col">why</th><th scope="col">join phase</th><th scope="col">members</th></tr></thead>
    <tbody>${rebalances.slice(0, MOST).map((each, index) => html`<tr><td><time>${each.at ?? NOT_KNOWN}</time></td><th scope="row">${each.generation}</th>
      <td>${causes[index]}${each.returns && "; it was in the group before"} <small>${each.certainty}</small><${Shown} evidence=${each.evidence} quotes=${quotes} /></td>
      <td>${each.join_phase_s === null ? NOT_KNOWN : `${each.join_phase_s.toFixed(1)} s`}${each.held_up_by && html`<br />held up by ${each.held_up_by}`}</td>
      <td>${each.empty ? "none" : each.members ?? NOT_KNOWN}</td></tr>`)}</tbody></table>
    ${rebalances.length > MOST && html`<p>and ${rebalances.length - MOST} more</p>`}`;
}

/** A bar for each rebalance: where it lies in time, and how long its join phase took. @param {{rebalances: Rebalance[], causes: string[]}} props */
function InTime({ rebalances, causes }) {
  const marks = rebalances.slice(0, MOST).map((each, index) => ({ each, says: causes[index], end: moment(each.at), long: (each.join_phase_s ?? 0) * 1000 })).filter(({ end }) => !Number.isNaN(end));
  if (marks.length < 2) return null;
  const first = Math.min(...marks.map(({ end, long }) => end - long)), span = Math.max(...marks.map(({ end }) => end)) - first || 1, scale = (WIDTH - 20) / span;
  return html`<svg class="in-time" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="rebalances in time">${marks.map(({ each, says, end, long }) => {
    const width = Math.max(long * scale, 2);
    return html`<rect class=${KINDS[each.cause] ?? "other"} x=${10 + (end - first) * scale - width} y="8" width=${width} height=${HEIGHT - 16}><title>${each.at}: generation ${each.generation}, ${says}</title></rect>`;
  })}</svg>`;
}

/** An instant in ms; of a time without a day that of the first day there is. @param {string|null} at */
const moment = (at) => Date.parse(at === null ? "" : at.startsWith("T") ? `1970-01-01${at}` : at);

/** @param {State} state */
function described(state) {
  const owners = state.owners.length ? state.owners.join(", ") : NOT_KNOWN;
  return `described as ${state.state ?? NOT_KNOWN}; members: ${state.members ?? NOT_KNOWN}; owners: ${owners}; lag: ${state.lag ?? NOT_KNOWN}`;
}

/** The lines that show something. @param {{evidence: Evidence[], quotes: Quotes}} props */
function Shown({ evidence, quotes }) {
  if (evidence.length === 0) return null;
  return html`<details class="lines"><summary>${evidence.length} line${evidence.length === 1 ? "" : "s"}</summary>
    ${evidence.slice(0, 6).map(({ file, line }) => html`<pre>${file}:${line}: ${quotes.get(`${file}:${line}`)}</pre>`)}</details>`;
}

/** @param {{files: Record<string, Read>}} props */
function Files({ files }) {
  return html`<table><caption>What was read</caption><thead><tr><th scope="col">file</th><th scope="col">written by</th><th scope="col">lines</th><th scope="col">understood</th><th scope="col">clock</th></tr></thead>
    <tbody>${Object.entries(files).map(([name, file]) => html`<tr><th scope="row">${name}</th><td>${file.dialect ?? NOT_KNOWN}</td><td>${file.lines}</td><td>${file.understood}</td>
      <td>${file.clock_offset_ms === null ? NOT_KNOWN : `${(file.clock_offset_ms / 1000).toFixed(1)} s`}</td></tr>`)}</tbody></table>`;
}
