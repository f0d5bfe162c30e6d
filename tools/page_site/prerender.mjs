// Pictures as SVG text: a JSON array of {picture, window}, or {picture, now} for a group at one instant, on standard input, an array of texts on standard output.
import { readFileSync } from "node:fs";
import { renderToString } from "preact-render-to-string";
import { Drawing } from "../../coordinator/page/assets/draw.js";
import { Space } from "../../coordinator/page/assets/space.js";
import { html, instant } from "../../coordinator/page/assets/view.js";

const asked = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(asked.map(({ picture, window, now }) => renderToString(now !== undefined ? html`<${Space} group=${picture.groups[0]} now=${now} from=${now} />` : html`<${Drawing} group=${picture.groups[0]} replicas=${picture.replicas} window=${window}
  label=${`States of the coordinator, members and owners of partitions until ${instant(window.horizon)}`} />`))));
