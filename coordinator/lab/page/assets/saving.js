// @ts-check
/** A picture as a file of its own, SVG or PNG: with its title, what its signs mean, and a link to where it can be stepped through. It takes the shapes that
 * are on the page, with the rules of style that concern them, in light colours; nothing is fetched. */

const EDGE = 16, LINE = 20, LETTER = 7.2;
const SVG = "http://www.w3.org/2000/svg";

/** The rules of this page's style that a drawing uses. @param {Element} drawn */
function rules(drawn) {
  const light = new Map(), kept = [];
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules) {
    if (!(rule instanceof CSSStyleRule)) continue;  // dark colours and small screens are of this page alone
    if (rule.selectorText === ":root") for (const name of rule.style) light.set(name, rule.style.getPropertyValue(name));
    else if (matching(drawn, rule.selectorText)) kept.push(`${rule.selectorText} {${rule.style.cssText}}`);
  }
  return `:root {${[...light].filter(([name]) => name.startsWith("--")).map(([name, value]) => `${name}:${value}`).join(";")}}\n${kept.join("\n")}`;
}

/** @param {Element} drawn @param {string} selector */
function matching(drawn, selector) {
  try {
    return drawn.matches(selector) || drawn.querySelector(selector) !== null;
  } catch {
    return false;
  }
}

/** @param {string} text */
const safe = (text) => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);

/** The pictures of a stage as one SVG. @param {HTMLElement} root @param {string} title @param {string} link */
export function asSvg(root, title, link) {
  const whole = document.createElementNS(SVG, "svg"), wide = Math.max(...[...root.querySelectorAll("svg.picture")].map((each) => /** @type {SVGSVGElement} */ (each).viewBox.baseVal.width));
  let top = EDGE;
  const add = (/** @type {string} */ text, /** @type {string} */ how, /** @type {number} */ high) => {
    whole.insertAdjacentHTML("beforeend", `<text x="${EDGE}" y="${top + high - 6}" style="${how}">${safe(text)}</text>`);
    top += high;
  };
  add(title, "font-size:18px;font-weight:600", 28);
  for (const plot of root.querySelectorAll(".plot")) {
    const heading = plot.closest(".branch")?.querySelector("h2")?.firstChild?.textContent?.trim();
    if (heading) add(heading, "font-size:15px;font-weight:600", 26);
    const headline = plot.parentElement?.querySelector(":scope > .headline")?.textContent?.replace(/\s+/g, " ").trim();
    if (headline) add(headline, "font-size:13px", LINE);
    const layers = [plot.querySelector("svg.picture"), plot.querySelector("svg.over")];
    for (const layer of layers) {
      if (!layer) continue;
      const copy = /** @type {SVGSVGElement} */ (layer.cloneNode(true)), { width, height } = copy.viewBox.baseVal;
      for (const [name, value] of /** @type {[string, number][]} */ ([["x", EDGE], ["y", top], ["width", width], ["height", height]])) copy.setAttribute(name, `${value}`);
      whole.append(copy);
    }
    top += /** @type {SVGSVGElement} */ (layers[0]).viewBox.baseVal.height + EDGE;
  }
  top = legend(whole, root, top, wide);
  add(link, "font-size:12px;fill:#5d6a76", LINE);
  const high = top + EDGE;
  for (const [name, value] of [["xmlns", SVG], ["width", `${wide + 2 * EDGE}`], ["height", `${high}`], ["viewBox", `0 0 ${wide + 2 * EDGE} ${high}`], ["font-family", "system-ui, 'Liberation Sans', sans-serif"], ["font-size", "12.5"]]) whole.setAttribute(name, value);
  whole.insertAdjacentHTML("afterbegin", `<style>${safe(rules(whole)).replaceAll("&#62;", ">").replaceAll("&#34;", '"')}</style><rect class="paper" width="100%" height="100%" />`);
  return new XMLSerializer().serializeToString(whole);
}

/** What the signs mean, in rows. @param {Element} whole @param {HTMLElement} root @param {number} top @param {number} wide */
function legend(whole, root, top, wide) {
  let left = EDGE;
  const rows = root.querySelectorAll(".legend li");
  for (const each of rows) {
    const text = each.textContent?.trim() ?? "", takes = 34 + text.length * LETTER + 16, sign = /** @type {SVGSVGElement} */ (each.querySelector("svg")?.cloneNode(true));
    if (left + takes > wide && left > EDGE) { left = EDGE; top += LINE + 2; }
    sign.querySelector("defs")?.remove();  // the picture has them
    sign.setAttribute("x", `${left}`);
    sign.setAttribute("y", `${top}`);
    whole.append(sign);
    const words = each.lastChild?.textContent ?? "";
    whole.insertAdjacentHTML("beforeend", `<text x="${left + 34}" y="${top + 14}">${safe(words)}</text>`);
    left += takes;
  }
  return top + (rows.length ? LINE + 10 : 0);
}

/** An SVG's bytes as a PNG, twice as large. @param {string} svg @returns {Promise<string>} a data URL */
async function asPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas"), context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  canvas.width = image.naturalWidth * 2;
  canvas.height = image.naturalHeight * 2;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

/** Save the pictures of a stage. @param {HTMLElement} root @param {"svg"|"png"} kind @param {string} name of what is shown */
export async function save(root, kind, name) {
  const svg = asSvg(root, name, location.href), link = document.createElement("a");
  link.href = kind === "svg" ? `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` : await asPng(svg);
  link.download = `${name.replace(/[^\w]+/g, "_").replace(/^_|_$/g, "").toLowerCase() || "picture"}.${kind}`;
  link.click();
}
