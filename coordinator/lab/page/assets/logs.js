// @ts-check
/** What the logs of somebody else's cluster tell, drawn from the frame of `coordinator diagnose --json`: nothing is ranked or worded anew. */
import { Drawing, Legend } from "./draw.js";
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

const NOT_KNOWN = "not known", WIDTH = 960, MOST = 2000;
/** @param {{frame: Frame, quotes: [string, number, string][], causes: Record<string, string[]>, picture: import("./view.js").Picture}} props */
export function Told({ frame, quotes, causes, picture }) {
  const lines = new Map(quotes.map(([file, line, text]) => [`${file}:${line}`, text]));
  const names = Object.keys(frame.groups);
  return html`<div class="told">${names.map((name) => html`<${Story} key=${name} name=${name} group=${frame.groups[name]} causes=${causes[name]} quotes=${lines}
      drawn=${picture.groups.find((each) => each.group === name && each.lanes.length > 0)} end=${picture.end_ms} />`)}
    ${names.length === 0 && html`<p class="problem" role="alert">These lines name no group.</p>`}
    <${Files} files=${frame.files} />
    <p><a href=${`data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(frame, null, 2))}`} download="diagnosis.json">save this as diagnosis.json</a>;
    <code>coordinator diagnose FILES</code> tells the same in a terminal.</p></div>`;
}

/** @param {{name: string, group: Group, causes: string[], quotes: Quotes, drawn: import("./view.js").Group|undefined, end: number}} props */
function Story({ name, group, causes, quotes, drawn, end }) {
  const count = group.rebalances.length;
  return html`<section class="group" aria-label=${name === "?" ? "a group that no line names" : `group ${name}`}>
    <h2>${name === "?" ? "A group that no line names" : `Group ${name}`}${group.protocol && ` (${group.protocol})`}: ${count} rebalance${count === 1 ? "" : "s"} ${count ? "" : "in these lines"}</h2>
    ${group.findings.map((each) => html`<div class="finding"><b>${each.id}</b> <small>${each.certainty}</small><br />${each.sentence}<${Shown} evidence=${each.evidence} quotes=${quotes} /></div>`)}
    ${drawn && end > 0 && html`<${InTime} group=${drawn} end=${end} />`}
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

/** The group over time: its generations and join phases, a lane for each member that the lines name. @param {{group: import("./view.js").Group, end: number}} props */
function InTime({ group, end }) {
  const window = { from: 0, to: Math.ceil(end * 1.03), width: WIDTH, horizon: end };
  return html`<figure><${Drawing} group=${group} window=${window} label="the group over time, as far as these lines tell" uid=${group.group} /><${Legend} group=${group} until=${end} />
    <figcaption>Members that no line names have no lane. Partitions are not drawn: these logs do not tell who owned which.</figcaption></figure>`;
}

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
