// Adjudication by keyboard: the page of a story, and that of similar cells. Decisions go through the queue of the labelling grid and
// come back as the cell that the server shows then; without this file each is a form.
import { digitOf, inTurnWith } from "./grid/keys.js";
import { Panel } from "./grid/panel.js";
import { Queue, request } from "./grid/queue.js";
import { announce, leave, sendBeforeLeaving, showState, showTrouble } from "./grid/saving.js";
import { mark } from "./mentions.js";

const CLAIM = 60000; // how often a claim is kept up by who is at work
const TALL = 620; // windows in which the guideline stands beside the decision from the start
const $ = (id) => document.getElementById(id);
const settings = JSON.parse($("decision-settings").textContent);
const place = $("decisions");
const cells = () => [...place.querySelectorAll("[data-cell]")];
const find = ({ proposition, dimension }) => $(`${proposition}-${dimension}`);
const isOpen = (cell) => cell.dataset.todo === "1";
const nameOf = (cell) => cell.querySelector("h3").textContent;
const field = (cell, name) => cell.querySelector(`[name="${name}"]`);
const tagOf = (cell) => cell.querySelector("[name=error_tag]:checked")?.value ?? "";

let current = null;
let awaitsTag = false;
let unconfirmed = null; // what waits for "yes"
let acted = false;

const queue = new Queue({
  ...settings, url: settings.urls.save, kind: "decisions", on: { queued, saved, refused, warnings: () => {}, trouble, state },
});
const panel = new Panel({ ...settings, active: () => current, reads: true });

// --- what becomes of a decision ------------------------------------------------------------------------------------------
const STATES = { saving: `↑ ${gettext("saving")}`, failed: `⚠ ${gettext("not saved yet")}` };
function say(cell, state) {
  cell.dataset.state = state;
  cell.querySelector("[data-saving]").textContent = STATES[state] ?? "";
}

function queued({ label, ...change }) {
  const cell = find(change);
  if (!cell) return;
  Object.assign(cell.dataset, { decided: label, own: "1", todo: "0" });
  for (const chip of cell.querySelectorAll(".chip")) {
    if (chip.value === label) chip.setAttribute("aria-pressed", "true");
    else chip.removeAttribute("aria-pressed");
  }
  tell(cell, "");
  say(cell, "saving");
  progress();
}

function saved(change, row, isLast) {
  const cell = find(row);
  if (cell && isLast && row.html) replace(cell, row.html, change);
}

// Shows what stands, with what was typed and why it was not taken.
async function refused(change, sentence) {
  if (!find(change)) return announce(gettext("A decision on another page was refused: {sentence}", { sentence }));
  const html = await fragment(change);
  const cell = html ? replace(find(change), html) : find(change);
  if (!html) say(cell, "");
  if (field(cell, "reason")) {
    field(cell, "reason").value = change.reason;
    const tag = [...cell.querySelectorAll("[name=error_tag]")].find((radio) => radio.value === change.error_tag);
    if (tag) tag.checked = true;
  }
  tell(cell, sentence);
  show(cell);
  announce(sentence);
}

async function fragment({ proposition, dimension }) {
  const url = settings.urls.cell.replace("PROPOSITION", proposition).replace("DIMENSION", dimension);
  const answer = await fetch(url, { headers: { "HX-Request": "true" } }).catch(() => null);
  return answer?.status === 200 ? answer.text() : "";
}

function tell(cell, sentence) {
  const problem = cell.querySelector("[data-problem]");
  problem.textContent = sentence;
  problem.hidden = !sentence;
}

// What was typed after the decision had been sent is carried over into the new cell. The markup is the server's own.
function replace(cell, html, sent = null) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const fresh = template.content.firstElementChild;
  const old = field(cell, "reason");
  const writes = old && document.activeElement === old;
  const typed = old && sent && old.value !== sent.reason ? old.value : null;
  const at = writes ? old.selectionStart : 0;
  const focused = cell.contains(document.activeElement);
  cell.replaceWith(fresh);
  window.htmx.process(fresh);
  const reason = field(fresh, "reason");
  if (reason && typed !== null) reason.value = typed;
  if (current === cell) current = null;
  if (!current) show(fresh, { focus: focused && !writes });
  if (writes && reason) {
    reason.focus({ preventScroll: true });
    reason.setSelectionRange(at, at);
  }
  progress();
  return fresh;
}

// --- what the page says --------------------------------------------------------------------------------------------------
const TROUBLES = {
  offline: gettext("The server does not answer. Your decisions are kept in this browser and sent again by themselves; you can go on."),
  login: gettext("You are logged out. Your decisions are kept in this browser and are sent when you have logged in again."),
  gone: gettext("You are no longer an expert of this project. Your unsent decisions are kept in this browser; ask an admin."),
};

function trouble(error) {
  if (error) for (const cell of queue.pending().map(find)) if (cell) say(cell, "failed");
  showTrouble(error, TROUBLES, settings.urls.login);
}

function state() {
  showState(queue, (kind, text) => { if (kind !== "saving") announce(text); }, (count) => ngettext("{count} decision", "{count} decisions", count));
}

const LAST_OPEN = gettext("This is the last open cell.");
const NOTHING_LEFT = gettext("Nothing is left to decide here. Enter goes on.");
let left = null;
function progress() {
  const before = left;
  left = cells().filter(isOpen).length;
  $("todo").textContent = left;
  if (before !== null && $("left-in-all")) leftInAll(left - before);
  if (!left && before) hint(NOTHING_LEFT);
}

// What is decided here is decided in the project, too; what others decide meanwhile shows with the next page.
let inAll = Number($("left-in-all")?.textContent.replace(/\D/g, "") ?? 0);
function leftInAll(change) {
  inAll = Math.max(0, inAll + change);
  $("left-in-all").textContent = inAll.toLocaleString(document.documentElement.lang);
}

let hintTimer = null;
function hint(text) {
  $("hint").textContent = text;
  $("hint").hidden = !text;
  announce(text);
  clearTimeout(hintTimer);
  if (text) hintTimer = setTimeout(() => { $("hint").hidden = true; }, 4000);
}

// --- where the expert is -------------------------------------------------------------------------------------------------
function show(cell, { focus = true } = {}) {
  if (!cell) return;
  if (current !== cell) {
    if (unconfirmed) closeQuestion();
    current?.classList.remove("cell-current");
    current = cell;
    tellStory(cell);
    panel.follow();
  }
  cell.classList.add("cell-current"); // also for the same cell: settling an answer of htmx resets its classes
  if (focus) cell.focus({ preventScroll: true });
  cell.parentElement.scrollIntoView({ block: "nearest" });
  cell.scrollIntoView({ block: "nearest" });
}

function tellStory(cell) {
  const { story } = cell.parentElement.dataset;
  let text = null;
  for (const section of document.querySelectorAll("[data-story-text]")) {
    section.hidden = section.dataset.storyText !== story;
    if (!section.hidden) text = section.querySelector(".story-text").firstChild;
  }
  mark(text, cell.dataset.actor);
}

const limit = (value, count) => Math.max(0, Math.min(count - 1, value));
function step(by) {
  const all = cells();
  show(all[limit(all.indexOf(current) + by, all.length)]);
}

function nextOpen() {
  const all = cells();
  const at = all.indexOf(current);
  return [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))].find(isOpen);
}
function seek() {
  const next = nextOpen();
  if (next) show(next);
  else hint(isLastOpen() ? LAST_OPEN : NOTHING_LEFT);
}
function onward() {
  const next = nextOpen();
  if (next) show(next);
  else if (isLastOpen()) hint(LAST_OPEN);
  else leave(queue, settings.urls.next);
}
const isLastOpen = () => current && isOpen(current);

// --- deciding ------------------------------------------------------------------------------------------------------------
const amended = (cell) => {
  const reason = field(cell, "reason");
  return Boolean(reason) && (reason.value.trim() !== reason.defaultValue.trim() || !cell.querySelector("[name=error_tag]:checked")?.defaultChecked);
};

function adopt(label) {
  const { decided, own } = current.dataset;
  if (unconfirmed?.label) return unconfirmed.label === label ? keep() : ask(label);
  if (decided && decided !== label) return ask(label);
  if (!decided || isOpen(current) || (own === "1" && amended(current))) decide(current, label, decided);
  if (settings.goesOn && nextOpen()) show(nextOpen());
  return undefined;
}

function decide(cell, label, replaces) {
  queue.add({
    proposition: cell.parentElement.dataset.proposition, dimension: cell.dataset.dimension, label,
    revision: Number(field(cell, "revision").value), row: Number(field(cell, "row").value),
    reason: field(cell, "reason").value.trim(), error_tag: tagOf(cell), replaces,
  });
}

// A reason or tag that is added to one's own decision is saved at once, by deciding the same again.
const amend = () => { if (current?.dataset.own === "1" && amended(current)) decide(current, current.dataset.decided, current.dataset.decided); };

// --- questions -----------------------------------------------------------------------------------------------------------
function question(text, what) {
  unconfirmed = what;
  $("replace-text").textContent = text;
  $("replace").hidden = false;
}
function ask(label) {
  question(gettext("{cell} is decided: {decided}. Replace that by {label}?", { cell: nameOf(current), decided: current.dataset.decided, label }), { cell: current, label });
}
function closeQuestion() {
  unconfirmed = null;
  $("replace").hidden = true;
}
function keep() {
  const { cell, label, last } = unconfirmed;
  closeQuestion();
  if (last) return takeAll(last);
  decide(cell, label, cell.dataset.decided);
  if (settings.goesOn && nextOpen()) show(nextOpen());
  return undefined;
}
function lookAgain() {
  closeQuestion();
  current?.focus({ preventScroll: true });
}

// --- taking back ---------------------------------------------------------------------------------------------------------
const inTurn = inTurnWith(takeBack);
async function takeBack() {
  if (unconfirmed) return lookAgain();
  if (!(await queue.drained())) return hint(gettext("Undo waits until the decisions before it are saved."));
  try {
    const { undo: last } = await request(settings.urls.undo);
    if (!last) return hint(gettext("There is no decision of yours to take back."));
    const many = last.cells.length > 1;
    if (last.cells.every(find)) return await takeAll(last);
    question(many
      ? gettext("Take back {count} decisions that you took at once, the first in story {story}?", { count: last.cells.length, story: last.story })
      : gettext("Take back {dimension}: {label}, in story {story}?", last), { last });
  } catch (error) {
    trouble(error);
  }
  return undefined;
}

async function takeAll({ cells: taken, url }) {
  try {
    const answer = await request(settings.urls.undo, { cells: taken });
    if (answer.refused) return hint(answer.error);
    const here = answer.cells.filter((changed) => find(changed) && changed.html);
    for (const changed of here) replace(find(changed), changed.html);
    if (here.length < taken.length) return await leave(queue, url);
    show(find(here[0]));
    announce(gettext("Taken back: {cell} is {label} again.", { cell: nameOf(current), label: current.dataset.decided || gettext("open") }));
  } catch (error) {
    trouble(error);
  }
  return undefined;
}

async function takeThis() {
  const cell = current;
  if (cell?.dataset.own !== "1") return hint(gettext("Only your own decision can be taken back."));
  if (!(await queue.drained())) return hint(gettext("Undo waits until the decisions before it are saved."));
  const [proposition, dimension] = [cell.parentElement.dataset.proposition, cell.dataset.dimension];
  const fresh = find({ proposition, dimension });
  return takeAll({ cells: [{ proposition, dimension, revision: Number(field(fresh, "revision").value) }], url: location.href });
}

function writeReason() {
  const reason = field(current, "reason");
  reason?.focus();
  reason?.setSelectionRange(reason.value.length, reason.value.length);
}

// --- keys and clicks -----------------------------------------------------------------------------------------------------
const press = (selector) => {
  const target = current?.querySelector(selector);
  target?.click();
  return Boolean(target);
};
const GUIDELINE = "credence:guideline";
function guideline() {
  const opens = panel.shows !== "guideline";
  localStorage.setItem(GUIDELINE, opens ? "1" : "0");
  if (opens) panel.open("guideline");
  else panel.close();
}
function close() {
  const back = panel.shows !== "guideline" && standsBeside();
  panel.close();
  if (back) panel.open("guideline");
}
const standsBeside = () => (localStorage.getItem(GUIDELINE) ?? (innerHeight > TALL ? "1" : "0")) === "1";

const commands = {
  undo: () => inTurn(takeBack), keep: () => keep(), lookAgain, guideline, close,
  help: () => $("help").showModal(), retry: () => queue.flush(),
};
const KEYS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  Home: () => show(cells()[0]), End: () => show(cells().at(-1)),
  Enter: onward, n: seek, s: () => leave(queue, settings.urls.next), "?": commands.help, g: guideline,
  r: writeReason,
  e: () => { awaitsTag = Boolean(current.querySelector("[data-tag]")); if (awaitsTag) hint(gettext("Why annotators erred: 1 to 5, or 0 for none.")); },
  l: () => press("[data-file]"), u: takeThis, Delete: takeThis, Backspace: takeThis,
  h: () => panel.open("history"), c: () => panel.open("history"),
};

function chooseDigit(digit) {
  if (!awaitsTag) {
    const chip = current.querySelector(`.chip[data-digit="${digit}"]`);
    return chip ? adopt(chip.value) : hint(gettext("No label here has the digit {digit}.", { digit }));
  }
  awaitsTag = false;
  if (press(`[data-tag="${digit}"]`)) current.focus({ preventScroll: true });
  return undefined;
}

function onKey(event) {
  const { key, target } = event;
  const control = event.ctrlKey || event.metaKey;
  const writing = target.closest("input:not([type=radio], [type=checkbox]), textarea, select");
  if (document.querySelector("dialog[open]")) return undefined;
  if (control && key.toLowerCase() === "z" && !event.shiftKey && !writing) return takeBack;
  if (key === "Escape") return escape(target);
  if (event.altKey || control || !current) return undefined;
  if (writing) return key === "Enter" && writing.name === "reason" ? () => { current.focus({ preventScroll: true }); amend(); } : undefined;
  if ($("panel").contains(target) && key.length > 1) return undefined;
  if (target.closest("button, a, summary") && (key === "Enter" || key === " ")) return undefined;
  const digit = digitOf(event, KEYS);
  if (digit) return () => chooseDigit(digit);
  if (unconfirmed) return key === "Enter" ? keep : KEYS[key] && lookAgain;
  if (!KEYS[key]) return undefined;
  return () => { awaitsTag = false; KEYS[key](); };
}

function escape(target) {
  if (unconfirmed) return lookAgain;
  if (target.closest("[data-cell] input")) return () => show(target.closest("[data-cell]"));
  awaitsTag = false;
  return panel.shows ? close : undefined;
}

document.addEventListener("keydown", (event) => {
  acted = true;
  const action = onKey(event);
  if (!action) return;
  event.preventDefault();
  inTurn(action);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-decision]")) return;
  event.preventDefault();
  const { name, value } = event.submitter ?? {};
  show(event.target.closest("[data-cell]"), { focus: false });
  if (name === "label") inTurn(() => adopt(value));
  if (name === "undo") inTurn(takeThis);
});
document.addEventListener("click", (event) => {
  acted = true;
  const link = event.target.closest("a[data-leave], a[data-panel]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    if (link.matches("[data-leave]")) leave(queue, link.href);
    else {
      show(link.closest("[data-cell]"));
      panel.open("history");
    }
  }
  commands[event.target.closest("[data-command]")?.dataset.command]?.();
});
document.addEventListener("focusin", ({ target }) => {
  const cell = target.closest("[data-cell]");
  if (cell) show(cell, { focus: false });
});
document.addEventListener("change", ({ target }) => { if (target.matches("[data-tag]")) amend(); });
document.addEventListener("htmx:afterSettle", ({ target }) => {
  const cell = target.closest?.("[data-cell]");
  if (cell && (!current || !current.isConnected || current.id === cell.id)) {
    current = null;
    show(cell, { focus: !cell.contains(document.activeElement) });
  }
});
addEventListener("wheel", () => { acted = true; }, { passive: true });
addEventListener("online", () => queue.flush());
sendBeforeLeaving(queue);

// Whoever opens stories with something to decide claims them, and keeps them while at work. A story that another expert
// opened at the same moment is left for the next one.
async function claim(opened) {
  if (!settings.stories.length) return;
  acted = false;
  const { others } = await request(settings.urls.claims, { stories: settings.stories, opened }).catch(() => ({}));
  const name = Object.values(others ?? {})[0];
  if (name && opened && settings.stories.length === 1) leave(queue, settings.urls.next);
  else if (name) hint(gettext("{name} decides here now.", { name }));
}
setInterval(() => { if (acted) claim(false); }, CLAIM);

// --- start ---------------------------------------------------------------------------------------------------------------
// Not before htmx has read the page, which it does at this event too.
document.addEventListener("DOMContentLoaded", () => {
  queue.pending().forEach(queued);
  left = null;
  progress();
  show($(location.hash.slice(1)) ?? cells().find(isOpen) ?? cells()[0]);
  if (current && standsBeside()) panel.open("guideline");
  queue.flush();
  if (left) claim(true);
  place.dataset.keys = "";
});
