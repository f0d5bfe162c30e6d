// Pictures as SVG text: a JSON array on standard input, an array of texts on standard output. Of each: {picture, window} for a group over time, {picture, now} for one at an instant. Over time it may have `label`, what a
// reader hears of it; `open`, the lanes that are drawn in full; `compact`; `happens`, spans [from, to, text] that are named above the axis; `curve`, {name, unit, steps} with steps [at, value], that is drawn there.
import { readFileSync } from "node:fs";
import { renderToString } from "preact-render-to-string";
import { Drawing, GUTTER, scale } from "../../coordinator/lab/page/assets/draw.js";
import { Space } from "../../coordinator/lab/page/assets/space.js";
import { html, instant } from "../../coordinator/lab/page/assets/view.js";

const ROW = 19, CURVE = 44, LETTER = 7;

/** The spans in rows, so that neither they nor their texts meet. */
function inRows(happens, window) {
  const x = scale(window), ends = [];
  return happens.map(([from, to, text]) => {
    const left = Math.max(GUTTER, x(from)), right = Math.max(left + 3, Math.min(x(to), window.width - 8)), words = text.length * LETTER + 8;
    const inside = right - left > words, before = !inside && right + words > window.width, begin = before ? left - words : left, end = inside || before ? right : right + words;
    let row = ends.findIndex((each) => each <= begin);
    if (row < 0) row = ends.length;
    ends[row] = end;
    return { left, right, row, text, at: inside ? left + 4 : before ? left - 4 : right + 4, before };
  });
}

/** What happens and a curve, above a picture of that height; [how high it is, its SVG]. */
function above(happens, curve, window, height) {
  const rows = inRows(happens, window), x = scale(window), tall = curve ? CURVE : 0, many = Math.max(-1, ...rows.map((each) => each.row)) + 1, top = -many * ROW - tall;
  const seen = (curve?.steps ?? []).filter(([at]) => at <= window.to), begun = seen.findLast(([at]) => at <= window.from)?.[1] ?? 0, steps = [[window.from, begun], ...seen.filter(([at]) => at > window.from)];
  const most = Math.max(1, ...steps.map((each) => each[1])), up = (value) => -4 - (value / most) * (CURVE - 12);
  const line = steps.filter((each, at) => at === steps.length - 1 || Math.round(x(each[0])) !== Math.round(x(steps[at + 1][0]))).map(([at, value]) => `H${Math.round(x(at))}V${Math.round(up(value))}`).join("");
  return [-top, html`<g class="happens">
    ${many > 0 && html`<text x="4" y=${top + 14}>happens</text>`}
    ${tall > 0 && html`<text x="4" y=${-CURVE + 18}>${curve.name}</text><text class="right" x=${GUTTER - 6} y=${-CURVE + 18}>${most}${curve.unit}</text><text class="right" x=${GUTTER - 6} y="-4">0</text>
      <path class="curve" d=${`M${GUTTER} -4${line}H${x(window.to)}V-4z`} />`}
    ${rows.map(({ left, right, row, text, at, before }) => html`<path class="reach" d=${`M${left} ${top + row * ROW + 16}V${height}${right - left > 4 ? `M${right} ${top + row * ROW + 16}V${height}` : ""}`} />
      <rect class="cause" x=${left} y=${top + row * ROW + 2} width=${right - left} height=${ROW - 4} /><text class=${before ? "right" : right - left > text.length * LETTER + 8 ? "within" : undefined} x=${at} y=${top + row * ROW + 14}>${text}</text>`)}
  </g>`];
}

function overTime({ picture, window, label, open, compact, happens = [], curve }) {
  const words = label ?? `States of the coordinator, members and owners of partitions until ${instant(window.horizon)}`;
  const drawn = renderToString(html`<${Drawing} group=${picture.groups[0]} replicas=${picture.replicas} window=${window} open=${open && new Set(open)} compact=${compact} label=${words} />`);
  if (!happens.length && !curve) return drawn;
  const [, wide, tall] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(drawn), [high, shapes] = above(happens, curve, window, tall), whole = Number(tall) + high;
  return drawn.replace(/viewBox="[^"]*"/, `viewBox="0 ${-high} ${wide} ${whole}"`).replace(/ height="[^"]*"/, ` height="${whole}"`).replace(/<\/svg>$/, `${renderToString(shapes)}</svg>`);
}

const asked = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(asked.map((each) => each.now === undefined ? overTime(each)
  : renderToString(html`<${Space} group=${each.picture.groups[0]} now=${each.now} from=${each.now} />`))));
