// @ts-check
/** How much of a long log was read: its picture grows meanwhile. */
import { html } from "./view.js";

/** @param {{reading: [number, number]|undefined}} props */
export function Reading({ reading }) {
  if (!reading) return null;
  const [done, of] = reading;
  return html`<p class="reading" role="status">The log is being read: ${Math.floor(100 * done / of)} % of ${Math.round(of / 1e6)} MB are here. <progress max=${of} value=${done} aria-label="the log is read"></progress></p>`;
}
