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

// Rows of what was pasted, or null where it is plain text for the field: one line without a tab or a stroke.
export function pasted(text, actor, longest) {
  const plain = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "");
  const piped = !plain.includes("\t") && plain.includes("|");
  if (!plain.includes("\n") && !plain.includes("\t") && !piped) return null;
  const lines = piped ? plain.split("\n").map((line) => line.trim().replace(/^\||\|$/g, "").split("|")) : cellsOf(plain);
  const rows = lines.map((cells) => cells.map((cell) => cell.trim()))
    .filter((cells) => cells.some((cell) => cell && !/^:?-{3,}:?$/.test(cell)));
  if (rows[0]?.[0].replaceAll("*", "").toLowerCase() === "actor") rows.shift();
  return rows.map((cells) => {
    const [first, belief, order, remark] = cells.length > 1 ? cells : [actor, cells[0]];
    const row = { order: order ?? "", remark: remark ?? "" };
    const { order: number, remark: words } = withoutSentence(row, longest) ?? row;
    const texts = { actor: first, belief: belief ?? "", order: number, remark: words };
    return Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, text.slice(0, longest[field])]));
  });
}
