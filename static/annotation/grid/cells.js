// What a cell and the notes under its row show. A cell says what happens to it in icon and text.
const STATES = { saving: gettext("saving"), saved: gettext("saved"), failed: gettext("not saved"), refused: gettext("refused") };
export const spread = (label) => label.replaceAll("/", "/\u200b") || "–"; // long labels may break after a slash

export function setState(cell, state) {
  if (state) cell.dataset.state = state;
  else delete cell.dataset.state;
  cell.querySelector(".cell-state").textContent = STATES[state] ?? "";
}

export function setLabel(cell, label, state) {
  cell.dataset.label = label;
  paint(cell);
  setState(cell, state);
}

// A suggestion looks like one: it is marked, names its model on hover, and is not a label until somebody votes.
export function paint(cell) {
  const { label, suggested, source } = cell.dataset;
  const text = cell.querySelector(".cell-label");
  const open = !label && suggested;
  text.textContent = open ? spread(suggested) : spread(label);
  cell.toggleAttribute("data-ghost", Boolean(open));
  if (!suggested) return;
  const sentence = gettext("{source} suggests {label}", { source, label: suggested });
  cell.title = sentence;
  const mark = cell.querySelector(".cell-suggestion") ?? cell.insertBefore(document.createElement("span"), cell.querySelector(".cell-state"));
  mark.className = "cell-suggestion";
  mark.textContent = open ? gettext("model") : label === suggested ? "" : gettext("model {label}", { label: suggested });
}

// A mark keeps its place in a row that was drawn with it, so that taking a suggestion moves nothing; here there was none.
export function reveal(cell, [label, source]) {
  Object.assign(cell.dataset, { suggested: label, source, revealed: "" });
  paint(cell);
}

// Replaces the notes of one kind under a row (of one dimension, where one is named) by these sentences.
export function note(row, kind, sentences, dimension = "") {
  const notes = row.querySelector(".row-notes");
  for (const old of notes.querySelectorAll(`.${kind}`)) if (!dimension || old.dataset.dimension === dimension) old.remove();
  for (const textContent of sentences) {
    const line = Object.assign(document.createElement("span"), { className: kind, textContent });
    line.dataset.dimension = dimension;
    notes.append(line);
  }
}

// `list`: what the cross-check says of the row, each with its dimension and message.
export function warn(row, list) {
  note(row, "row-warning", list.map((warning) => warning.message));
  const warned = new Set(list.map((warning) => warning.dimension));
  for (const cell of [...row.cells].slice(1)) cell.toggleAttribute("data-warned", warned.has(cell.dataset.dimension));
}

export function commented(row, dimension) {
  const cell = row.querySelector(`td[data-dimension="${dimension}"]`);
  cell.dataset.thread = "own";
  cell.querySelector(".cell-thread").textContent = gettext("comment");
}

export function flagged(row) {
  row.dataset.flag = "open";
  row.querySelector(".row-flag").textContent = gettext("flagged");
}
