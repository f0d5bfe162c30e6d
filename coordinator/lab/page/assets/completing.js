// @ts-check
/** What may be written next in a scenario file: the engine's own list of tables, keys and words. Pure. */

/** @typedef {{key: string, doc: string, choices: string[], kind: string}} Key
 * @typedef {Record<string, {several: boolean, keys: Key[]}>} Tables
 * @typedef {{text: string, doc: string}} Choice  `text` stands where what was begun stood */

/** @param {string} line @param {string} begun */
const starts = (line, begun) => line.startsWith(begun) && line !== begun;

/** What can follow a text, and how many of its last letters it replaces. @param {string} before the file up to the caret @param {Tables} tables @returns {{begun: number, choices: Choice[]}} */
export function completions(before, tables) {
  const lines = before.split("\n"), line = lines.at(-1) ?? "";
  const header = lines.slice(0, -1).findLast((each) => /^\s*\[/.test(each))?.replace(/[[\]\s]/g, "") ?? "";
  const opened = /^\s*(\[{1,2})([\w.]*)$/.exec(line);
  if (opened) {
    const found = Object.entries(tables).filter(([name]) => name && name.startsWith(opened[2]));
    return { begun: opened[1].length + opened[2].length, choices: found.map(([name, table]) => ({ text: table.several ? `[[${name}]]\n` : `[${name}]\n`, doc: table.several ? "one of several" : "one table" })) };
  }
  const table = tables[header], value = /^\s*(\w+)\s*=\s*"([\w-]*)$/.exec(line), key = /^\s*(\w+)$/.exec(line);
  if (!table) return { begun: 0, choices: [] };
  if (value) {
    const words = table.keys.find((each) => each.key === value[1])?.choices ?? [];
    return { begun: value[2].length, choices: words.filter((each) => starts(each, value[2])).map((each) => ({ text: `${each}"`, doc: "" })) };
  }
  if (!key) return { begun: 0, choices: [] };
  return { begun: key[1].length, choices: table.keys.filter((each) => starts(each.key, key[1])).map((each) => ({ text: `${each.key} = ${["text", "duration"].includes(each.kind) || each.choices.length ? '"' : ""}`, doc: each.doc })) };
}
