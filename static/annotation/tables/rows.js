// Rows of a draft as the page knows them, without a document: order, places between neighbours, text from a spreadsheet.
const ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";
const NARROW = 1e-6;
export const newUid = () => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => ALPHABET[byte % 32]).join("");
export const newKey = () => newUid() + newUid();
export const EMPTY = { actor: "", belief: "", order: "", remark: "", place: 0, removed: false };
// An order is a number: a sentence in its place goes to the remark, so that nothing of it is cut. Null where it does not fit there.
// `longest` is how many characters each text may have, as the page says.
export function withoutSentence(state, longest) {
  if (state.order.length <= longest.order) return state;
  const remark = [state.remark.trim(), state.order.trim()].filter(Boolean).join("; ");
  return remark.length <= longest.remark ? { ...state, order: "", remark } : null;
}
export const isEmpty = (state) => !(state.belief.trim() || state.remark.trim());

export class Rows {
  constructor() { this.byUid = new Map(); }

  get(uid) { return this.byUid.get(uid); }

  // `stored`: some change of it went to the queue; a row that was only opened goes when the page does.
  put(uid, state, more = {}) {
    const row = { stored: true, ...this.byUid.get(uid), uid, state, ...more };
    this.byUid.set(uid, row);
    return row;
  }

  ordered() {
    const order = (row) => [row.state.place, row.uid];
    return [...this.byUid.values()].filter((row) => !row.state.removed).sort((a, b) => {
      const [x, y] = [order(a), order(b)];
      return x[0] - y[0] || (x[1] < y[1] ? -1 : 1);
    });
  }

  // `count` places after the row of that uid, or before all where it is null.
  placesAfter(uid, count = 1) {
    const rows = this.ordered();
    const at = uid === null ? -1 : rows.findIndex((row) => row.uid === uid);
    const low = rows[at]?.state.place;
    const high = rows[at + 1]?.state.place;
    const steps = Array.from({ length: count }, (_, step) => step + 1);
    if (low === undefined) return steps.map((step) => (high ?? count + 1) - count + step - 1);
    if (high === undefined) return steps.map((step) => low + step);
    return steps.map((step) => low + ((high - low) * step) / (count + 1));
  }

  // True where the next row would hardly fit between two others.
  crowded() {
    const places = this.ordered().map((row) => row.state.place);
    return places.some((place, at) => at > 0 && place - places[at - 1] < NARROW);
  }
}

// Cells of a spreadsheet: tabs between them, quotes around those that hold a tab, a quote or a line's end.
function cellsOf(text) {
  const rows = [[""]];
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    const row = rows.at(-1);
    if (quoted && letter === '"' && text[at + 1] === '"') { row[row.length - 1] += '"'; at += 1; }
    else if (quoted && letter === '"') quoted = false;
    else if (!quoted && letter === '"' && row.at(-1) === "" && closes(text, at)) quoted = true;
    else if (!quoted && letter === "\t") row.push("");
    else if (!quoted && letter === "\n") rows.push([""]);
    else if (quoted && letter === "\n") row[row.length - 1] += " ";
    else row[row.length - 1] += letter;
  }
  return rows;
}
// A quote opens a cell only where one closes it again at the end of a cell.
const closes = (text, at) => /^"(?:[^"]|"")*"(?=\t|\n|$)/.test(text.slice(at));

const FIELDS = ["actor", "belief", "order", "remark"];
const SPELLINGS = { proposition: "belief", ordertext: "order" };
// The field that a name of a column means, as the importers of files compare names; undefined where it means none.
function fieldOf(name) {
  const key = name.normalize("NFKC").toLowerCase().replace(/[\s_.*\-\u200b-\u200f\u2060\ufeff]+/g, "");
  return SPELLINGS[key] ?? FIELDS.find((field) => field === key);
}

// Rows of what was pasted, or null where it is plain text for the field: one line without a tab or a stroke. `problem` says what
// would be lost; nothing is pasted then.
export function pasted(text, actor, longest) {
  const plain = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "");
  const piped = !plain.includes("\t") && plain.includes("|");
  if (!plain.includes("\n") && !plain.includes("\t") && !piped) return null;
  const lines = piped ? plain.split("\n").map((line) => line.trim().replace(/^\||\|$/g, "").split("|")) : cellsOf(plain);
  const table = lines.map((cells) => cells.map((cell) => cell.trim()))
    .filter((cells) => cells.some((cell) => cell && !/^:?-{3,}:?$/.test(cell)));
  const named = table[0]?.some((cell) => fieldOf(cell) === "actor") ? table.shift() : null;
  const columns = named?.map(fieldOf) ?? FIELDS;
  const unknown = named?.filter((name, at) => name && !columns[at]) ?? [];
  if (unknown.length) return { rows: [], problem: gettext("Nothing was pasted: columns that have no place here: {names}.", { names: unknown.join(", ") }) };
  const rows = table.map((cells) => (cells.length > 1 || named ? rowOf(cells, columns) : { ...rowOf(["", cells[0]], FIELDS), actor }));
  const at = rows.indexOf(null);
  if (at >= 0) return { rows: [], problem: gettext("Nothing was pasted: row {row} has cells without a column.", { row: at + 1 }) };
  const fitting = rows.map((row) => withoutSentence(row, longest) ?? row);
  const long = fitting.findIndex((row) => FIELDS.some((field) => row[field].length > longest[field]));
  if (long >= 0) return { rows: [], problem: gettext("Nothing was pasted: row {row} has a text that is too long.", { row: long + 1 }) };
  return { rows: fitting, problem: "" };
}
// The row of some cells, null where a cell has text and no column.
function rowOf(cells, columns) {
  if (cells.some((cell, at) => cell && !columns[at])) return null;
  return Object.fromEntries(FIELDS.map((field) => [field, cells[columns.indexOf(field)] ?? ""]));
}
