// @ts-check
/** The groups of a log, each with what is known of it now: one list, from which one is chosen. */
import { at, html } from "./view.js";

/** @param {{picture: import("./view.js").Picture, group: string, onGroup: (group: string) => void}} props */
export function Groups({ picture, group, onGroup }) {
  if (picture.groups.length < 2) return null;
  return html`<nav class="groups" aria-label="groups">${picture.groups.map((each) => html`<button type="button" aria-current=${each.group === group ? "true" : undefined} onClick=${() => onGroup(each.group)}>
    <strong>${each.name}</strong> <small>${told(each, picture.end_ms)}</small></button>`)}</nav>`;
}

/** @param {import("./view.js").Group} group @param {number} now */
function told(group, now) {
  const state = at(group.states, now)?.[2] ?? "no group", count = group.lanes.filter((lane) => at(lane.member, now)).length;
  return `${state}, ${count} ${count === 1 ? "member" : "members"}`;
}
