// The labelling grid: keyboard, options, undo, panels. The table comes from the server; no text is ever turned into markup here.
import { note, paint, reveal, setLabel, setState, warn } from "./cells.js";
import { digitOf, inTurnWith } from "./keys.js";
import { mark } from "../mentions.js";
import { Panel } from "./panel.js";
import { Queue, request } from "./queue.js";
import { announce, leaving, showState, showTrouble, tell } from "./saving.js";

const FAST_VOTES_PER_QUESTION = 20;
const PAGE = 8;
const $ = (id) => document.getElementById(id);
const settings = JSON.parse($("grid-settings").textContent);
const grid = $("grid");
const rows = [...grid.tBodies[0].rows];
const cells = rows.map((row) => [...row.cells].slice(1));
const flat = cells.flat();
const byPlace = new Map(flat.map((cell) => [`${cell.parentElement.dataset.proposition} ${cell.dataset.dimension}`, cell]));
const options = new Map([...$("options").querySelectorAll(".options")].map((group) => [group.dataset.dimension, group]));
const story = $("story-text").firstChild;
const find = ({ proposition, dimension }) => byPlace.get(`${proposition} ${dimension}`);
const dimensionName = (cell) => options.get(cell.dataset.dimension).getAttribute("aria-label");
const rowName = (row) => gettext("{actor}, row {number}", { actor: row.querySelector("[data-actor]").textContent, number: rows.indexOf(row) + 1 });

let active = null;
let focusedAt = 0;
let questioned = null; // the cell of a vote that came too quickly: it is saved, and a question about it stands
let fastVotes = 0;
const firstSeen = new Map();

const queue = new Queue({
  ...settings,
  url: settings.urls.save,
  on: { queued, saved, refused, warnings, trouble, state },
});

const panel = new Panel({ ...settings, active: () => active, rows });

// --- what becomes of a vote ----------------------------------------------------------------------------------------------
function show(cell, label, state) {
  setLabel(cell, label, state);
  if (cell === active) press();
}

function queued(change) {
  const cell = find(change);
  if (!cell) return;
  note(cell.parentElement, "row-refusal", [], change.dimension);
  show(cell, change.label, "saving");
  progress();
}

function saved(change, row, isLast) {
  const cell = find(row);
  if (!cell || !isLast) return;
  if (row.revealed && !cell.dataset.suggested) {
    reveal(cell, row.revealed);
    if (cell === active) press();
    if (row.revealed[0] !== row.label) announce(gettext("The model suggests {label} in {dimension} of {row}.", { dimension: dimensionName(cell), row: rowName(cell.parentElement), label: row.revealed[0] }));
  }
  if (row.label !== change.label) announce(gettext("A later change of yours stands in {dimension} of {row}: {label}.", { dimension: dimensionName(cell), row: rowName(cell.parentElement), label: row.label || gettext("no label") }));
  show(cell, row.label, "saved");
  progress();
}

function refused(change, sentence) {
  const cell = find(change);
  if (!cell) return announce(gettext("A vote in another story was refused: {sentence}", { sentence }));
  show(cell, change.previous ?? "", "refused");
  note(cell.parentElement, "row-refusal", [gettext("{dimension} not saved: {sentence}", { dimension: dimensionName(cell), sentence })], change.dimension);
  announce(gettext("Refused: {sentence}", { sentence }));
  progress();
}

function warnings(byProposition) {
  for (const row of rows) if (row.dataset.proposition in byProposition) warn(row, byProposition[row.dataset.proposition]);
}

// --- what the page says --------------------------------------------------------------------------------------------------
const TROUBLES = {
  offline: gettext("The server does not answer. Your votes are kept in this browser and sent again by themselves; you can go on labelling."),
  login: gettext("You are logged out. Your votes are kept in this browser and are sent when you have logged in again."),
  gone: gettext("This story is no longer assigned to you. Your unsent votes are kept in this browser; ask an admin."),
};

function trouble(error) {
  if (error) for (const cell of queue.pending().map(find)) if (cell) setState(cell, "failed");
  showTrouble(error, TROUBLES, settings.urls.login);
}

function state() {
  const changed = (kind, text) => {
    if (kind !== "saving") announce(text);
    finished();
  };
  showState(queue, changed, (count) => ngettext("{count} vote", "{count} votes", count));
}

function progress() {
  const done = flat.filter((cell) => cell.dataset.label).length;
  $("progress").value = done;
  $("progress-text").textContent = `${done} / ${flat.length}`;
  finished();
}

function finished() {
  const done = flat.every((cell) => cell.dataset.label) && !queue.pending().length;
  if (done && $("finished").hidden) announce(gettext("All cells of this story are labelled and saved. Press s for the next story."));
  $("finished").hidden = !done;
  if (done && questioned && questioned.parentElement !== active.parentElement) closeQuestion(); // left unanswered long ago
}

// --- moving --------------------------------------------------------------------------------------------------------------
function activate(cell, focus = true) {
  if (!cell) return;
  const row = cell.parentElement;
  if (cell !== active) {
    if (active) {
      active.tabIndex = -1;
      active.parentElement.removeAttribute("data-active");
      options.get(active.dataset.dimension).removeAttribute("data-active");
    }
    active = cell;
    cell.tabIndex = 0;
    row.setAttribute("data-active", "");
    options.get(cell.dataset.dimension).setAttribute("data-active", "");
    if (!firstSeen.has(row)) firstSeen.set(row, performance.now());
    focusedAt = performance.now();
    press();
    mark(story, row.querySelector("[data-actor]").textContent);
    panel.follow();
  }
  if (focus) {
    cell.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" }); // of a table that is wider than the window
  }
}

function press() {
  const { dimension, label, suggested, source } = active.dataset;
  const place = options.get(dimension);
  for (const option of place.querySelectorAll(".option")) {
    option.setAttribute("aria-pressed", String(option.dataset.value === label));
    option.toggleAttribute("data-suggested", option.dataset.value === suggested);
  }
  const line = place.querySelector(".options-suggestion");
  line.hidden = !suggested;
  if (suggested) line.firstElementChild.textContent = gettext("{source} suggests {label}", { source, label: suggested });
  line.lastElementChild.hidden = label === suggested;
}

const limit = (value, count) => Math.max(0, Math.min(count - 1, value));
function move(down, right) {
  const y = rows.indexOf(active.parentElement);
  const x = cells[y].indexOf(active);
  activate(cells[limit(y + down, rows.length)][limit(x + right, cells[y].length)]);
}
const onward = () => activate(flat[Math.min(flat.indexOf(active) + 1, flat.length - 1)]);

function seek(test, none) {
  const at = flat.indexOf(active);
  const cell = [...flat.slice(at + 1), ...flat.slice(0, at)].find(test);
  if (cell) activate(cell);
  else tell(none);
}

// --- choosing, withdrawing, undoing --------------------------------------------------------------------------------------
const duration = () => Math.round(performance.now() - focusedAt);

function choose(label) {
  if (active === questioned) closeQuestion();
  if (active.dataset.label === label) return label ? onward() : undefined;
  const read = performance.now() - firstSeen.get(active.parentElement);
  vote(active, label, duration());
  if (label && read < settings.speedFloor && fastVotes++ % FAST_VOTES_PER_QUESTION === 0) ask(active, label);
  if (label) onward();
  return undefined;
}

function vote(cell, label, milliseconds, undoes = "", accepted = false) {
  const place = { proposition: cell.parentElement.dataset.proposition, dimension: cell.dataset.dimension };
  const took = Math.min(milliseconds, settings.longestDuration);
  queue.add({ ...place, label, duration_ms: took, previous: cell.dataset.label, ...(undoes && { undoes }), ...(cell.dataset.suggested && { saw: true }), ...(accepted && { accepted }) });
}

// One key takes one suggestion, another those of the row; nothing takes more than a row at once.
function accept() {
  const { suggested, label } = active.dataset;
  if (!suggested) return tell(gettext("No suggestion stands in this cell."));
  if (label !== suggested) vote(active, suggested, duration(), "", true);
  onward();
}
function acceptRow() {
  const open = [...active.parentElement.cells].slice(1).filter((cell) => cell.dataset.suggested && !cell.dataset.label);
  if (!open.length) return tell(gettext("This row has no suggestion that is still open."));
  const took = Math.round(duration() / open.length);
  for (const cell of open) vote(cell, cell.dataset.suggested, took, "", true);
  announce(ngettext("{count} suggestion of {row} taken over.", "{count} suggestions of {row} taken over.", open.length, { row: rowName(active.parentElement) }));
  seek((cell) => !cell.dataset.label, gettext("Every cell has a label."));
}

// The vote stands and the next digit is one for the next cell: nothing that is typed meanwhile is lost or goes elsewhere.
function ask(cell, label) {
  questioned = cell;
  $("quick-label").textContent = label;
  $("quick-cell").textContent = gettext("{first}, {second}", { first: dimensionName(cell), second: rowName(cell.parentElement) });
  $("quick").hidden = false;
}
function closeQuestion() {
  questioned = null;
  $("quick").hidden = true;
}
function lookAgain() {
  const cell = questioned;
  closeQuestion();
  activate(cell);
}

const inTurn = inTurnWith(takeBack);
const undo = () => inTurn(takeBack);
async function takeBack() {
  const unsent = queue.lastUnsent();
  if (unsent) return takenBack({ ...unsent, label: unsent.previous, undoes: unsent.idempotency_key });
  if (!(await queue.drained())) return tell(gettext("Undo waits until the votes before it are saved."));
  try {
    const { undo: last } = await request(settings.urls.undo);
    if (!last) return tell(gettext("There is nothing to undo in this story."));
    queue.notBefore(last.changed_at);
    takenBack(last);
  } catch (error) {
    trouble(error);
  }
}
function takenBack({ undoes, label, ...place }) {
  const cell = find(place);
  if (!cell) return;
  if (cell === questioned) closeQuestion();
  activate(cell);
  vote(cell, label, 0, undoes);
  announce(gettext("Undone: {dimension} of {row} is {label} again.", { dimension: dimensionName(cell), row: rowName(cell.parentElement), label: label || gettext("unlabelled") }));
}

// Unlike the pages of tables it asks where votes still wait.
async function leave(href) {
  await queue.drained();
  location.href = href;
}

// --- keys and clicks -----------------------------------------------------------------------------------------------------
const commands = {
  undo, keep: closeQuestion, lookAgain, close: () => panel.close(),
  next: () => seek((cell) => !cell.dataset.label, gettext("Every cell has a label.")),
  flagged: () => seek((cell) => cell.cellIndex === 1 && cell.parentElement.dataset.flag, gettext("No proposition is flagged.")),
  help: () => $("help").showModal(),
  retry: () => queue.flush(),
  meanings: () => {
    const brief = $("options").toggleAttribute("data-brief");
    localStorage.setItem("credence:brief", brief ? "1" : "");
  },
};
const KEYS = {
  ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1), ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0),
  Home: () => move(0, -Infinity), End: () => move(0, Infinity), PageUp: () => move(-PAGE, 0), PageDown: () => move(PAGE, 0),
  " ": accept, a: acceptRow, Enter: onward, Delete: () => choose(""), Backspace: () => choose(""),
  n: commands.next, f: commands.flagged, m: commands.meanings, "?": commands.help,
  g: () => (panel.shows === "guideline" ? panel.close() : panel.open("guideline")),
  c: () => panel.open("comments"), x: () => panel.open("flag"), s: () => leave(settings.urls.next),
};

function chooseDigit(digit) {
  const option = options.get(active.dataset.dimension).querySelector(`[data-digit="${digit}"]`);
  if (option) return choose(option.dataset.value);
  return tell(gettext("{dimension} has no option {digit}. Nothing was chosen.", { dimension: dimensionName(active), digit }));
}

function onKey(event) {
  const { key, target } = event;
  const control = event.ctrlKey || event.metaKey;
  const writing = target.closest("textarea, input, select");
  if ($("help").open) return undefined;
  if (control && key.toLowerCase() === "z" && !event.shiftKey && !writing) return takeBack;
  if (control && key === "Enter" && writing) return () => writing.form.requestSubmit();
  if (key === "Escape" && questioned) return lookAgain;
  if (key === "Escape" && panel.shows) return commands.close;
  if (event.altKey || writing) return undefined;
  if (control) return { Home: () => activate(flat[0]), End: () => activate(flat.at(-1)) }[key];
  if (target.closest("button, a, summary") && (key === "Enter" || key === " ")) return undefined;
  const digit = digitOf(event, KEYS);
  if (digit) return () => chooseDigit(digit);
  if (key === "Enter" && questioned) return closeQuestion;
  if (target.closest(".grid-story, .grid-panel") && key.length > 1) return undefined;
  return KEYS[key];
}
document.addEventListener("keydown", (event) => {
  const action = onKey(event);
  if (!action) return;
  event.preventDefault();
  inTurn(action);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-leave]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    leave(link.href);
  }
  commands[event.target.closest("[data-command]")?.dataset.command]?.();
});
$("options").addEventListener("click", (event) => {
  const option = event.target.closest(".option");
  if (option) choose(option.dataset.value);
});
grid.addEventListener("focusin", (event) => activate(event.target.closest("td"), false));
grid.addEventListener("click", (event) => activate(event.target.closest("td")));
grid.addEventListener("mouseover", (event) => {
  const row = event.target.closest("tbody tr") ?? active.parentElement;
  mark(story, row.querySelector("[data-actor]").textContent);
});
grid.addEventListener("mouseleave", () => mark(story, active.parentElement.querySelector("[data-actor]").textContent));
addEventListener("beforeunload", (event) => { if (!leaving && queue.pending().length) event.preventDefault(); });
addEventListener("online", () => queue.flush());
document.addEventListener("visibilitychange", () => { if (!document.hidden && queue.failing) queue.flush(); });

// --- start ---------------------------------------------------------------------------------------------------------------
$("options").toggleAttribute("data-brief", Boolean(localStorage.getItem("credence:brief")));
for (const cell of flat) if (cell.dataset.label || cell.dataset.suggested) paint(cell);
queue.pending().forEach(queued);
progress();
const [proposition, dimension, kind] = location.hash.slice(1).split("/");
const asked = find({ proposition, dimension });
activate(asked ?? flat.find((cell) => !cell.dataset.label) ?? flat[0]);
if (asked && ["comments", "flag"].includes(kind)) panel.open(kind);
queue.flush();
performance.mark("grid-ready");
document.documentElement.dataset.gridReady = String(Math.round(performance.now()));
