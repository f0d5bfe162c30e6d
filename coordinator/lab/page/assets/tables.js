// @ts-check
/** What the picture shows, as tables: for readers who do not see it, and at the cursor's instant for everybody. */
import { WORDS } from "./draw.js";
import { QueueTables, inHand } from "./queues.js";
import { at, html, instant, letter, lostUntil, number } from "./view.js";

/** @typedef {import("./view.js").Group} Group */

/** Who has what at an instant. @param {{group: Group, now: number}} props */
export function Now({ group, now }) {
  const state = at(group.states, now), number = at(group.numbers, now);
  return html`<table><caption>At ${instant(now)}: ${state ? state[2] : "no group yet"}${number ? `, ${kindOf(group)} ${number[2]}` : ""}</caption>
    <thead><tr><th scope="col">member</th><th scope="col">does</th><th scope="col">${group.protocol === "share" ? "has in hand" : "owns"}</th></tr></thead>
    <tbody>${group.lanes.map((lane) => html`<tr><th scope="row">${letter(lane.index)} ${lane.label ?? lane.name}${at(lane.leads, now) ? " (leader)" : ""}</th>
      <td>${doing(lane, now)}</td><td>${owned(group, lane.index, now)}</td></tr>`)}</tbody></table>`;
}

/** @param {Group} group */
const kindOf = (group) => (group.protocol === "classic" ? "generation" : "group epoch");

/** @param {import("./view.js").Lane} lane @param {number} now */
export function doing(lane, now) {
  const does = at(lane.activity, now), believes = at(lane.belief, now);
  return `${does ? WORDS[does[2]] ?? does[2] : "does not run"}${believes ? ", believes that it owns partitions, and is no member" : ""}`;
}

/** @param {Group} group @param {number} index @param {number} now */
export function owned(group, index, now) {
  if (group.protocol === "share") return inHand(group, index, now);
  const rows = group.raster.filter((row) => at(row.spans, now)?.[2].includes(index)).map((row) => `${row.label ?? row.topic}-${row.partition}`);
  return rows.length > 12 ? `${rows.length} partitions` : rows.join(", ") || "nothing";
}

/** The whole picture in rows, up to the horizon. @param {{group: Group, replicas: import("./view.js").Moved[], horizon: number}} props */
export function Whole({ group, replicas, horizon }) {
  /** @param {any[]} span */
  const until = (span) => instant(Math.min(span[1], horizon));
  return html`<div class="tables" tabindex="0" role="region" aria-label="the picture as tables">
    <table><caption>The coordinator: states of the group</caption><thead><tr><th scope="col">state</th><th scope="col">from</th><th scope="col">to</th></tr></thead>
      <tbody>${group.states.filter((span) => span[0] <= horizon).map((span) => html`<tr><td>${span[2]}</td><td>${instant(span[0])}</td><td>${until(span)}</td></tr>`)}</tbody></table>
    <table><caption>${kindOf(group)}s</caption><thead><tr><th scope="col">${kindOf(group)}</th><th scope="col">from</th></tr></thead>
      <tbody>${group.numbers.filter((span) => span[0] <= horizon).map((span) => html`<tr><td>${span[2]}</td><td>${instant(span[0])}</td></tr>`)}</tbody></table>
    <table><caption>Members</caption><thead><tr><th scope="col">member</th><th scope="col">does</th><th scope="col">from</th><th scope="col">to</th></tr></thead>
      <tbody>${group.lanes.map((lane) => lane.activity.filter((span) => span[0] <= horizon).map((span) => html`<tr><th scope="row">${lane.label ?? lane.name}</th>
        <td>${WORDS[span[2]] ?? span[2]}</td><td>${instant(span[0])}</td><td>${until(span)}</td></tr>`))}</tbody></table>
    <${QueueTables} group=${group} horizon=${horizon} />
    ${group.protocol !== "share" && html`<table><caption>Partitions: ${number(lostUntil(group, horizon))} partition-seconds lost</caption>
      <thead><tr><th scope="col">partition</th><th scope="col">owner</th><th scope="col">from</th><th scope="col">to</th></tr></thead>
      <tbody>${group.raster.slice(0, 200).map((row) => row.spans.filter((span) => span[0] <= horizon).map((span) => html`<tr><th scope="row">${row.label ?? row.topic}-${row.partition}</th>
        <td>${span[2].map((each) => group.lanes[each].label ?? group.lanes[each].name).join(" and ") || "nobody"}${span[3] ? `, ${span[3] === "silent" ? "silent" : "not at work"}` : ""}</td>
        <td>${instant(span[0])}</td><td>${until(span)}</td></tr>`))}</tbody></table>`}
    ${replicas.length > 0 && html`<table><caption>Replicas of partitions that were reassigned</caption>
      <thead><tr>${["partition", "all (AR)", "original (OAR)", "target (RAR)", "leader", "from", "to"].map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
      <tbody>${replicas.map((row) => row.spans.filter((span) => span[0] <= horizon).map((span) => html`<tr><th scope="row">${row.name}</th>
        <td>${span[2].all.join(", ")}</td><td>${span[2].original.join(", ")}</td><td>${span[2].target.join(", ")}</td><td>${span[2].leader}</td>
        <td>${instant(span[0])}</td><td>${until(span)}</td></tr>`))}</tbody></table>`}</div>`;
}

/** Deadlines and sessions that run at an instant. @param {Group} group @param {number} now @returns {string[]} */
export function timers(group, now) {
  const rows = group.deadlines.filter((each) => each.at_ms <= now && now < (each.until_ms ?? each.due_ms))
    .map((each) => `${each.kind} phase: until ${instant(each.due_ms)} at the latest`);
  for (const lane of group.lanes) {
    if (!lane.session_timeout_ms || !at(lane.member, now)) continue;
    const sign = lane.signs.filter((each) => each <= now).at(-1);
    if (sign !== undefined && sign + lane.session_timeout_ms >= now) {
      rows.push(`session of ${lane.label ?? lane.name}: last sign of life at ${instant(sign)}, ends at ${instant(sign + lane.session_timeout_ms)} without another`);
    }
  }
  return rows;
}
