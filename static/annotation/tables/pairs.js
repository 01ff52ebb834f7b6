// Reconciliation: two drafts beside each other, settled row by row. Decisions go through the queue of the labelling grid; links
// between rows, which both experts see at once, are asked of the server.
import { complete, namesOf } from "./actors.js";
import { Queue, request } from "../grid/queue.js";
import { announce, leave, letLeave, sendBeforeLeaving, showState, showTrouble, tell } from "../grid/saving.js";
import { activate, commonAction, onCommands, onDrop, onKeys } from "./row_page.js";
import { newKey, newUid, withoutSentence } from "./rows.js";
import { highlight, translate } from "./story.js";
import { PAUSE, Typing } from "./typing.js";

const FIELDS = ["actor", "belief", "order", "remark"];
const LOOK = 8000; // how often the other expert's decisions are fetched
const $ = (id) => document.getElementById(id);
const settings = JSON.parse($("pair-settings").textContent);
const place = $("pairs");
const sections = [...place.querySelectorAll("[data-kind]")];
const ORDER = sections.map((section) => section.dataset.kind);
const rows = new Map();
let active = null; // uid
let linking = null;
let acting = false;
let asked = null; // another decision on a decided row, which waits for a yes
let agreed = settings.pairs;
let changes = 0; // made on this page: an answer that was asked for before the last of them is out of date

const queue = new Queue({
  ...settings, url: settings.urls.save, kind: "pairs", cellOf: (change) => change.row, delay: PAUSE,
  on: { queued, saved, refused, warnings: () => {}, trouble, state },
});
const typing = new Typing(queue);
const lineOf = (uid) => place.querySelector(`[data-row="${uid}"]`);
const fieldOf = (uid, field) => lineOf(uid)?.querySelector(`[data-field="${field}"]`);
const plain = (text) => text.trim().split(/\s+/).join(" ").toLowerCase().replace(/[.。．]+$/, "");

// Rows as the page shows them: pair by pair, what is to settle first.
function ordered() {
  const rank = (row) => ORDER.indexOf(row.kind);
  return [...rows.values()].sort((x, y) => rank(x) - rank(y) || x.state.place - y.state.place || (x.row < y.row ? -1 : 1));
}
const isOpen = (row) => !row.state.status;
const current = () => rows.get(active);

// --- what the page shows -------------------------------------------------------------------------------------------------
function render() {
  const focused = document.activeElement?.closest?.("[data-row]") ? document.activeElement : null;
  for (const section of sections) {
    const { kind } = section.dataset;
    const own = ordered().filter((row) => row.kind === kind);
    section.hidden = !own.length;
    section.querySelector(".count").textContent = own.length;
    const list = section.querySelector(".pair-list");
    own.forEach((row, at) => {
      const line = lineOf(row.row) ?? element(row.row);
      if (list.children[at] !== line) list.insertBefore(line, list.children[at] ?? null);
      fill(line, row);
    });
  }
  for (const line of place.querySelectorAll("[data-row]")) if (!rows.has(line.dataset.row)) line.remove();
  if (focused && document.activeElement !== focused && focused.isConnected) focused.focus({ preventScroll: true });
  if (!rows.has(active)) active = null;
  if (asked && isStale(asked)) closeQuestion();
  counts();
}

function element(uid) {
  const line = $("pair-row").content.firstElementChild.cloneNode(true);
  line.dataset.row = uid;
  return line;
}

function fill(line, row) {
  for (const side of ["a", "b"]) {
    const words = row[side];
    const part = line.querySelector(`[data-side="${side}"]`);
    part.hidden = !words;
    if (!words) continue;
    part.querySelector(".pair-belief").textContent = words.belief;
    part.querySelector(".pair-actor").textContent = words.actor;
    part.querySelector(".pair-order").textContent = words.order ? gettext("order {order}", { order: words.order }) : gettext("order not given");
    part.querySelector(".pair-remark").textContent = words.remark;
  }
  for (const name of FIELDS) {
    const field = line.querySelector(`[data-field="${name}"]`);
    if (field.value !== row.state[name]) field.value = row.state[name];
  }
  line.dataset.status = row.state.status || "open";
  line.toggleAttribute("data-linking", linking === row.row);
  line.querySelector(".pair-status").textContent = statusOf(row);
  line.querySelector(".pair-status").className = `pair-status badge badge-${isOpen(row) ? "open" : "done"}`;
  line.querySelector(".pair-by").textContent = row.by ? gettext("by {name}", { name: row.by }) : "";
  line.querySelector("[data-handle]").hidden = Boolean(row.a && row.b) || row.kind === "new";
  line.querySelector("[data-do=separate]").hidden = !(row.a && row.b);
  line.setAttribute("aria-label", gettext("{kind}: {actor}: {belief}, {status}", { kind: titleOf(row.kind), actor: row.state.actor, belief: row.state.belief, status: statusOf(row) }));
}

// Its heading, without the number of its rows and what it means.
const titleOf = (kind) => $(`pairs-${kind}`).firstChild.textContent.trim();

function statusOf(row) {
  if (isOpen(row)) return gettext("open");
  if (row.state.status === "dropped") return gettext("left out");
  const own = [row.a, row.b].filter(Boolean);
  if (!own.length) return gettext("added");
  const same = own.filter((words) => plain(words.belief) === plain(row.state.belief) && plain(words.actor) === plain(row.state.actor));
  if (!same.length) return gettext("edited");
  if (same.length === 2 || own.length === 1) return gettext("kept");
  return same[0] === row.a ? gettext("A’s words") : gettext("B’s words");
}

function counts() {
  const all = [...rows.values()];
  const left = all.filter(isOpen).length;
  $("count").textContent = left
    ? gettext("{left} of {all} rows to decide", { left, all: all.length })
    : gettext("all {all} rows decided", { all: all.length });
  $("progress").max = Math.max(1, all.length);
  $("progress").value = all.length - left;
  if ($("agree-word")) $("agree-word").textContent = agreed.i_agree ? gettext("Agree no more") : gettext("Agree");
  $("agreed").textContent = agreed.agreed.length ? gettext("agreed: {names}", { names: agreed.agreed.join(gettext(", ")) }) : "";
}

// --- what becomes of a decision ------------------------------------------------------------------------------------------
function queued(change) {
  changes += 1;
  const row = rows.get(change.row) ?? { row: change.row, kind: "new", a: null, b: null, by: "" };
  rows.set(change.row, { ...row, state: change.state });
  if (!acting) render();
}

function saved(change, answer, isLast) {
  if (answer.quicker) {
    $("notice").textContent = gettext("{name} decided this row meanwhile: “{stands}”. Yours was “{yours}”; decide again if it should stand.", { name: answer.quicker, stands: answer.state.belief, yours: change.state.belief });
    $("notice").hidden = false;
    announce($("notice").textContent);
  }
  if (isLast) rows.set(answer.row, { row: answer.row, kind: answer.kind, a: answer.a, b: answer.b, state: answer.state, by: answer.by });
  agreed = { ...agreed, agreed: [], i_agree: false };
  if (answer.gone) look(); // the link of this row was taken back: others stand in its stead
  else if (isLast) render();
}

function refused(change, sentence) {
  const words = change.undoes ? "" : change.state?.belief ?? "";
  $("notice").textContent = words ? gettext("{sentence} What you wrote: “{words}”.", { sentence, words }) : sentence;
  $("notice").hidden = false;
  announce($("notice").textContent);
  look();
}

const TROUBLES = {
  offline: gettext("The server does not answer. Your decisions are kept in this browser and sent by themselves; you can go on."),
  login: gettext("You are logged out. Your decisions are kept in this browser and are sent when you have logged in again."),
  gone: gettext("This story is not there any more. Your decisions are kept in this browser; ask an admin."),
};
function trouble(error) { showTrouble(error, TROUBLES, settings.urls.login); }
function state() { showState(queue); }

function take(pairs) {
  agreed = pairs;
  const pending = new Set(queue.pending().map((change) => change.row));
  const kept = [...rows.values()].filter((row) => pending.has(row.row));
  rows.clear();
  for (const row of pairs.rows) rows.set(row.row, row);
  for (const row of kept) rows.set(row.row, { ...rows.get(row.row), ...row });
  render();
}
async function look() {
  if (queue.pending().length) return;
  const before = changes;
  const answer = await request(settings.urls.rows).catch(() => null);
  if (!answer?.opened || queue.pending().length || changes !== before) return;
  if (answer.settled) location.reload();
  else exchange(answer);
}
// Rows that were linked or separated make way for others: who stood on one of them stands on what came of it.
function exchange(pairs, goes = place.contains(document.activeElement) && !pairs.rows.some((row) => row.row === active)) {
  const before = new Set(rows.keys());
  take(pairs);
  const made = ordered().find((row) => !before.has(row.row));
  if (goes && made) focus(made.row);
}

// --- deciding ------------------------------------------------------------------------------------------------------------
function act(parts, more = {}) {
  typing.end();
  acting = true;
  const action = more.action ?? newKey();
  for (const { row, state: next } of parts) {
    queue.add({ row, base: rows.get(row)?.state ?? null, state: next, action, ...(more.undoes && { undoes: more.undoes }) });
  }
  acting = false;
  render();
}
const put = (row, fields) => act([{ row: row.row, state: { ...row.state, ...fields } }]);

function type(uid, field, value) {
  const row = rows.get(uid);
  const next = { ...row.state, [field]: value };
  const fitting = withoutSentence(next, settings.longest);
  if (fitting !== next) return sentence(row, fitting);
  if (next.status !== "dropped" && field !== "remark") next.status = next.actor.trim() && next.belief.trim() ? "kept" : "";
  return typing.put(field, { row: uid, base: row.state, state: next });
}
// A sentence was written as an order.
function sentence(row, fitting) {
  if (!fitting) {
    render();
    return tell(gettext("The order is a number, {orders}. This is too long for the remark, too; nothing of it was taken.", { orders: settings.orders_told }));
  }
  act([{ row: row.row, state: fitting }]);
  edit("remark");
  return tell(gettext("The order is a number, {orders}. What you wrote stands in the remark.", { orders: settings.orders_told }));
}

// A row that is decided keeps its decision until the question is answered; the same decision again only goes on.
const DECIDES = ["status", "actor", "belief", "order"];
function decide(fields, announcement = "") {
  const row = current();
  if (!row) return undefined;
  const next = { ...row.state, ...fields };
  if (!isOpen(row) && DECIDES.every((name) => next[name] === row.state[name])) return onward();
  if (!isOpen(row) && asked?.row !== row.row) return question(row, fields, announcement);
  if (!isOpen(row) && DECIDES.some((name) => asked.next[name] !== next[name])) return question(row, fields, announcement);
  closeQuestion();
  put(row, fields);
  if (announcement) announce(announcement);
  return onward();
}
function question(row, fields, announcement) {
  asked = { row: row.row, fields, announcement, state: row.state, next: { ...row.state, ...fields } };
  const what = fields.status === "dropped" ? gettext("left out") : [asked.next.belief, asked.next.order && gettext("order {order}", { order: asked.next.order })].filter(Boolean).join(", ");
  $("replace-text").textContent = gettext("This row is decided ({status}). Replace that by: {what}?", { status: statusOf(row), what });
  $("replace").hidden = false;
}
// What is asked about is not decided as it was: it was opened again, taken back, or decided by somebody else.
function isStale({ row, state }) {
  const stands = rows.get(row)?.state;
  return !stands || DECIDES.some((name) => stands[name] !== state[name]);
}
function closeQuestion() {
  asked = null;
  $("replace").hidden = true;
}
function replace() {
  const { row, fields, announcement } = asked;
  if (active !== row) focus(row);
  decide(fields, announcement);
}

function adopt(side) {
  const row = current();
  const words = row?.[side];
  if (!words) return tell(gettext("{side} did not write this row.", { side: side.toUpperCase() }));
  const other = row[side === "a" ? "b" : "a"];
  // An order that was left out is the other's, but where only the orders differ: leaving it out can be chosen, too.
  const order = row.kind === "order" ? words.order : words.order || other?.order || "";
  const fields = { status: "kept", actor: words.actor, belief: words.belief, order };
  return decide(fields, gettext("{side}’s words are kept.", { side: side.toUpperCase() }));
}
const drop = () => decide({ status: "dropped" });
function reopen() {
  if (current()) put(current(), { status: "" });
}
function setOrder(digit) {
  const row = current();
  if (!row) return undefined;
  if (row.kind === "order" || !isOpen(row)) return decide({ order: digit, status: row.state.status || "kept" });
  return put(row, { order: digit });
}
function add() {
  const row = current();
  const after = row?.state.place ?? Math.max(0, ...[...rows.values()].map((other) => other.state.place));
  const next = Math.min(...[...rows.values()].map((other) => other.state.place).filter((at) => at > after));
  const uid = newUid();
  const begin = { status: "", actor: row?.state.actor ?? "", belief: "", order: row?.state.order ?? "", remark: "", place: Number.isFinite(next) ? (after + next) / 2 : after + 1 };
  act([{ row: uid, state: begin }]);
  focus(uid, "belief");
}

async function linked(body) {
  if (!(await queue.drained())) return tell(gettext("Links wait until everything is saved."));
  try {
    const answer = await request(settings.urls.link, { ...body, idempotency_key: newKey() });
    linking = null;
    if (answer.refused) {
      announce(answer.error);
      $("notice").textContent = answer.error;
      $("notice").hidden = false;
      return look();
    }
    exchange(answer, true);
  } catch (error) {
    trouble(error);
  }
}
function link() {
  const row = current();
  if (!row) return;
  if (linking && linking !== row.row) return linked({ row: linking, other: row.row });
  linking = linking ? null : row.row;
  render();
  tell(linking ? gettext("Go to the row that says the same, and press l again.") : gettext("No row is to be linked."));
}
function separate() {
  const row = current();
  if (!row?.a || !row?.b) return tell(gettext("This row is not linked."));
  linked({ row: row.row });
}

async function takeBack(redo) {
  typing.end();
  if (!(await queue.drained())) return tell(gettext("Undo waits until everything is saved."));
  try {
    const { undo, error } = await request(settings.urls.undo + (redo ? "?redo=1" : ""));
    if (error) return tell(error);
    if (!undo) return tell(redo ? gettext("There is nothing to do again.") : gettext("There is nothing of yours to undo here."));
    if (!undo.rows.every((change) => rows.has(change.row))) await look(); // linked in another tab, or brought back a moment ago
    const present = undo.rows.filter((change) => rows.has(change.row));
    act(present, { undoes: undo.action });
    if (present.length) focus(present[0].row);
    announce(redo ? gettext("Done again.") : gettext("Undone."));
  } catch (error) {
    trouble(error);
  }
}

// --- moving --------------------------------------------------------------------------------------------------------------
function focus(uid, field = "") {
  const target = field ? fieldOf(uid, field) : lineOf(uid);
  target?.focus({ preventScroll: true });
  lineOf(uid)?.scrollIntoView({ block: "nearest" });
}
function step(count) {
  const all = ordered();
  const at = all.findIndex((row) => row.row === active);
  focus(all[Math.max(0, Math.min(all.length - 1, at + count))].row);
}
function onward() {
  const all = ordered();
  const at = all.findIndex((row) => row.row === active);
  const next = [...all.slice(at + 1), ...all.slice(0, at)].find(isOpen);
  if (next) focus(next.row);
  else tell(gettext("Every row is decided. Press f to make the table."));
}
function openFirst() {
  if (!current() || !isOpen(current())) onward();
}
function edit(field) {
  if (!current()) return;
  focus(active, field);
  const target = fieldOf(active, field);
  target.setSelectionRange(target.value.length, target.value.length);
}

// The words as they stand are kept, also where nothing was typed; a remark decides nothing.
function keepWritten(field) {
  typing.end();
  focus(active);
  const row = current();
  if (field !== "remark" && isOpen(row) && row.state.actor.trim() && row.state.belief.trim()) put(row, { status: "kept" });
  onward();
}

// Whether all is saved and decided; where not, it is said and shown.
async function isWhole() {
  if (!(await queue.drained())) return tell(gettext("Wait until everything is saved.")), false;
  const left = [...rows.values()].filter(isOpen).length;
  if (left) openFirst(), tell(ngettext("{count} row is still to decide.", "{count} rows are still to decide.", left));
  return !left;
}
async function ask(dialog) {
  if (!(await isWhole())) return;
  letLeave();
  $(dialog).showModal();
}
// Nobody agrees to what the other expert wrote since this page looked.
const standing = () => JSON.stringify(ordered().map((row) => [row.row, row.state]));
async function agree() {
  if (!(await isWhole())) return;
  const seen = standing();
  await look();
  if (standing() !== seen) return tell(gettext("Rows were changed meanwhile: look at them, then press the key again."));
  letLeave();
  $("agree-value").value = agreed.i_agree ? "0" : "1";
  $("agree-form").requestSubmit();
}

// --- keys and clicks -----------------------------------------------------------------------------------------------------
const commands = {
  undo: () => takeBack(false), redo: () => takeBack(true), help: () => $("help").showModal(), next: onward, finish: () => ask("finish"),
  agree, translate, retry: () => queue.flush(), add, replace, lookAgain: closeQuestion, away: () => leave(queue, settings.urls.next),
};
const KEYS = {
  ArrowUp: () => step(-1), ArrowDown: () => step(1), k: () => step(-1), j: () => step(1), n: onward,
  a: () => adopt("a"), b: () => adopt("b"), e: () => edit("belief"), Enter: () => edit("belief"), x: drop, Delete: drop, o: reopen,
  r: () => edit("remark"), i: add, l: link, s: separate, t: translate, y: agree, f: commands.finish, "?": commands.help,
};
function onKey(event) {
  const { key, target } = event;
  const common = commonAction(event, commands);
  if (common || event.ctrlKey || event.metaKey || event.altKey) return common;
  if (target.matches("[data-field]")) {
    if (key === "Escape") return () => focus(active);
    if (key === "Enter") return () => keepWritten(target.dataset.field);
    return undefined;
  }
  if (target.closest("button, a, summary") && (key === "Enter" || key === " ")) return undefined;
  if (asked && (key === "Enter" || key === "Escape")) return key === "Enter" ? replace : closeQuestion;
  if (key === "Escape" && linking) return link;
  if (settings.orders.includes(key)) return () => setOrder(key);
  return KEYS[key];
}
onKeys(onKey);
place.addEventListener("input", (event) => {
  const { target } = event;
  const uid = target.closest("[data-row]").dataset.row;
  if (target.dataset.field === "actor") complete(target, event, namesOf([...rows.values()].filter((row) => row.row !== uid), settings.names));
  target.value = target.value.replace(/[\r\n]+/g, " ");
  type(uid, target.dataset.field, target.value);
});
place.addEventListener("focusin", ({ target }) => {
  const line = target.closest("[data-row]");
  if (!line) return;
  activate(place, line);
  if (asked && asked.row !== line.dataset.row) closeQuestion();
  active = line.dataset.row;
  highlight(current()?.state.actor ?? "");
});
place.addEventListener("focusout", () => { typing.end(); if (queue.pending().length && !queue.failing) queue.flush(); });
place.addEventListener("click", ({ target }) => {
  const line = target.closest("[data-row]");
  if (!line) return;
  const what = target.closest("[data-do]")?.dataset.do;
  if (!target.matches("[data-field]")) focus(line.dataset.row);
  ({ a: () => adopt("a"), b: () => adopt("b"), drop, separate }[what])?.();
});
onDrop(place, (row, other) => linked({ row, other }));
onCommands(commands);
sendBeforeLeaving(queue);
addEventListener("online", () => queue.flush());
setInterval(() => { if (!document.hidden && !document.querySelector("dialog[open]") && !document.activeElement.matches("[data-field]")) look(); }, LOOK);

// --- start ---------------------------------------------------------------------------------------------------------------
for (const row of settings.pairs.rows) rows.set(row.row, row);
for (const change of queue.pending()) {
  const row = rows.get(change.row) ?? { row: change.row, kind: "new", a: null, b: null, by: "" };
  rows.set(change.row, { ...row, state: change.state });
}
render();
const first = ordered().find(isOpen) ?? ordered()[0];
if (first) focus(first.row);
queue.flush();
document.documentElement.dataset.pairsReady = "1";
