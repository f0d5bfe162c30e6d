// @ts-check
/** A lesson on a projector (?present) or in a frame (?embed) fills its screen: the question, its answers and the button stand there without scrolling,
 * in the largest type that fits, and the picture takes the height that is left. Knows no lesson. */

/** The largest and the smallest type of each kind, in pixels, and from which size on the text that tells the scene stays open. @type {Record<string, [number, number, number]>} */
const TYPE = { present: [30, 14, 19], embed: [16, 13, 14] };

/** Which kind this page is, if it is one. */
export const kind = () => ["present", "embed"].find((each) => document.body.classList.contains(each));

/** How much larger than drawn a picture may be, so that it uses a height. @param {number} there the height that there is @param {number} drawn its own */
export function larger(there, drawn) {
  const most = kind() === "present" ? 2.2 : 1.4;
  return Math.max(1, Math.min(most, there / Math.max(1, drawn)));
}

/** Choose the type of a page that fills its screen. */
export function fit() {
  const of = kind(), idea = document.getElementById("idea"), setting = /** @type {HTMLDetailsElement|null} */ (document.querySelector(".setting"));
  if (!of || !idea) return;
  const [most, least, open] = TYPE[of], asked = document.body.dataset.card === "question";
  const fits = () => idea.scrollHeight <= idea.clientHeight + 1 && idea.scrollWidth <= idea.clientWidth + 1;
  const tried = (/** @type {number} */ size) => { document.body.style.setProperty("--base", `${size}px`); return fits(); };
  for (const shown of setting && asked ? [true, false] : [undefined]) {
    if (setting && shown !== undefined) setting.open = shown;
    for (let size = most; size >= (shown ? open : least); size--) if (tried(size)) return;
  }
}

/** Fit now, and whenever what stands there or the screen changes. */
export function keepFitting() {
  if (!kind()) return;
  document.body.classList.add("fills");
  let seen = "";
  const again = () => {
    const now = `${innerWidth} ${innerHeight} ${document.body.dataset.card} ${document.body.dataset.ready}`;
    if (now !== seen) { seen = now; fit(); }
  };
  addEventListener("resize", again);
  new MutationObserver(again).observe(document.body, { attributes: true, attributeFilter: ["data-card", "data-ready"] });
  document.fonts?.ready.then(() => { seen = ""; again(); });
  const idea = document.getElementById("idea");
  if (idea) new MutationObserver(() => requestAnimationFrame(fit)).observe(idea, { childList: true, subtree: true });
  again();
}
