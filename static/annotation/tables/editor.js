// The editor of a draft: keyboard, autosave, undo, versions. Every change of a row goes through the queue of the labelling grid.
import { isWorld } from "../actor_names.js";
import { complete, namesOf, NumberedNames } from "./actors.js";
import { Queue, request } from "../grid/queue.js";
import { announce, leave, letLeave, sendBeforeLeaving, showState, showTrouble, tell } from "../grid/saving.js";
import { ModelDraft } from "./model_draft.js";
import { forgetRefused, keepRefused, refusedRows } from "./refused.js";
import { commonAction, onKeys } from "./row_page.js";
import { EMPTY, isEmpty, newKey, newUid, pasted, Rows, withoutSentence } from "./rows.js";
import * as shown from "./story.js";
import { PAUSE, Typing } from "./typing.js";

const FIELDS = ["actor", "belief", "order", "remark"];
const PAGE = 8;
const NAMES = 9;
const $ = (id) => document.getElementById(id);
const settings = JSON.parse($("draft-settings").textContent);
const body = $("rows");
const story = $("story-text");
const texts = [...document.querySelectorAll("[data-language]")].map((text) => text.textContent);
const numbered = new NumberedNames(settings.names, texts, NAMES);
const rows = new Rows();
const model = settings.model && new ModelDraft(settings.model);
let active = null; // { uid, field }
let acting = false;
let warnings = settings.warnings;

const queue = new Queue({
  ...settings, url: settings.urls.save, kind: "rows", cellOf: (change) => change.row, delay: PAUSE,
  on: { queued, saved, refused, warnings: (latest) => { warnings = latest; showWarnings(); }, trouble, state },
});
const typing = new Typing(queue);
const fieldOf = (uid, field) => body.querySelector(`[data-row="${uid}"] [data-field="${field}"]`);
const numberOf = (uid) => rows.ordered().findIndex((row) => row.uid === uid) + 1;

// --- what the table shows ------------------------------------------------------------------------------------------------
function element(uid) {
  const line = $("row").content.firstElementChild.cloneNode(true);
  line.dataset.row = uid;
  return line;
}

function render() {
  const lines = new Map([...body.rows].map((line) => [line.dataset.row, line]));
  let last = null;
  rows.ordered().forEach((row, at) => {
    const line = lines.get(row.uid) ?? element(row.uid);
    lines.delete(row.uid);
    if ((last ? last.nextElementSibling : body.firstElementChild) !== line) {
      const focused = line.contains(document.activeElement) ? document.activeElement : null;
      last ? last.after(line) : body.prepend(line);
      focused?.focus({ preventScroll: true });
    }
    fill(line, row, at + 1);
    last = line;
  });
  for (const line of lines.values()) line.remove();
  showWarnings();
  showNames();
}

function fill(line, row, number) {
  line.querySelector(".row-number").textContent = number;
  line.toggleAttribute("data-taken", !row.stored && Boolean(row.state.actor || row.state.order));
  const mark = model?.markOf(row) ?? "";
  line.querySelector(".row-origin").hidden = !mark;
  line.querySelector(".row-origin").textContent = mark;
  for (const name of FIELDS) {
    const field = line.querySelector(`[data-field="${name}"]`);
    if (field.value !== row.state[name]) field.value = row.state[name];
    const named = gettext("{field} of row {number}", { field: field.placeholder, number });
    field.setAttribute("aria-label", mark ? gettext("{first}, {second}", { first: named, second: mark }) : named);
    grow(field);
  }
}

const grows = CSS.supports("field-sizing", "content");
function grow(field) {
  if (grows || field.tagName !== "TEXTAREA") return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}

function showWarnings() {
  const ordered = rows.ordered();
  let count = 0;
  for (const row of ordered) {
    const warned = isEmpty(row.state) ? [] : warnings[row.uid] ?? [];
    count += warned.length;
    const line = body.querySelector(`[data-row="${row.uid}"]`);
    const notes = line?.querySelector(".row-notes");
    if (!notes || notes.dataset.shown === JSON.stringify(warned)) continue;
    notes.dataset.shown = JSON.stringify(warned);
    notes.replaceChildren(...warned.map((warning) => Object.assign(document.createElement("li"), { textContent: warning.text, className: "row-warning" })));
    for (const name of FIELDS) line.querySelector(`[data-field="${name}"]`).toggleAttribute("data-warned", warned.some((warning) => warning.field === name));
  }
  const filled = ordered.filter((row) => !isEmpty(row.state)).length;
  $("count").textContent = ngettext("{count} row", "{count} rows", filled);
  model?.show(ordered.filter((row) => !isEmpty(row.state)));
  $("warning-count").hidden = !count;
  $("warning-count").firstElementChild.textContent = ngettext("{count} warning", "{count} warnings", count);
}

function showNames() {
  const written = active?.field === "actor" ? active.uid : null; // a name that is not yet written to its end takes no number
  const names = numbered.give(namesOf(rows.ordered().filter((row) => row.uid !== written), settings.names));
  if ($("names").dataset.shown === names.join("\n")) return;
  $("names").dataset.shown = names.join("\n");
  $("names").replaceChildren(...names.map((name, at) => {
    const chip = Object.assign(document.createElement("button"), { type: "button", className: "chip", tabIndex: -1 });
    const key = Object.assign(document.createElement("kbd"), { textContent: `Alt ${at + 1}` });
    chip.append(key, " ", Object.assign(document.createElement("bdi"), { textContent: name }));
    chip.dataset.actor = name;
    return chip;
  }));
}

// --- what becomes of a change --------------------------------------------------------------------------------------------
function queued(change) {
  rows.put(change.row, change.state, { stored: true });
  model?.follow(change);
  if (!acting) render();
}

function saved(change, answer, isLast) {
  if (answer.copy) {
    rows.put(answer.copy.row, answer.copy.state);
    model?.follow({ row: answer.copy.row, parent: answer.row });
    announce(gettext("Row {number} was changed elsewhere meanwhile: both wordings are kept, one below the other.", { number: numberOf(answer.row) }));
    $("notice").textContent = gettext("A row was changed in another window meanwhile. Both wordings are kept, one below the other.");
    $("notice").hidden = false;
  }
  if (isLast && rows.get(answer.row)) rows.put(answer.row, answer.state);
  if (answer.copy || isLast) render();
}

const kept = () => refusedRows(settings.annotator, settings.story);
const forgetKept = () => forgetRefused(settings.annotator, settings.story);
function refused(change, sentence) {
  keepRefused(settings.annotator, change);
  announce(gettext("Refused: {sentence}", { sentence }));
  showKept(sentence);
}
function showKept(sentence = "") {
  const left = kept();
  $("kept").hidden = !left.length;
  if (!left.length) return;
  const summary = ngettext("{count} row was not taken. The words are kept in this browser:", "{count} rows were not taken. The words are kept in this browser:", left.length);
  $("kept-text").textContent = gettext("{first} {second}", { first: sentence, second: summary }).trim();
  $("kept-rows").textContent = left.map(({ state }) => [state.actor, state.belief, state.order, state.remark].join("\t")).join("\n");
}

const TROUBLES = {
  offline: gettext("The server does not answer. What you write is kept in this browser and sent by itself; you can go on."),
  login: gettext("You are logged out. What you wrote is kept in this browser and is sent when you have logged in again."),
  gone: gettext("This story is not there any more. What you wrote is kept in this browser; ask an admin."),
};
function trouble(error) { showTrouble(error, TROUBLES, settings.urls.login); }
function state() { showState(queue, (kind, text) => { if (kind === "failed") announce(text); }); }

// --- changing ------------------------------------------------------------------------------------------------------------
// One action: `parts` are rows with their new state. A row that is new to the queue has no base.
function act(kind, parts, more = {}) {
  typing.end();
  acting = true;
  const action = more.action ?? newKey();
  for (const { uid, state: next, origin, parent } of parts) {
    const row = rows.get(uid);
    const base = row?.stored ? row.state : null;
    queue.add({ row: uid, base, state: next, action, kind, ...(more.undoes && { undoes: more.undoes }), ...(origin && { origin }), ...(parent && { parent }) });
  }
  acting = false;
  if (kind !== "tidy" && rows.crowded()) return act("tidy", rows.ordered().filter((row) => row.stored).map((row, at) => ({ uid: row.uid, state: { ...row.state, place: at + 1 } })), { action });
  return render();
}

function type(uid, field, value) {
  const row = rows.get(uid);
  const next = { ...row.state, [field]: value };
  if (field === "actor") next.order = orderOf(row, value);
  const fitting = withoutSentence(next, settings.longest);
  if (fitting !== next) return sentence(row, fitting);
  return typing.put(field, { row: uid, base: row.stored ? row.state : null, state: next, kind: "type" });
}

// A sentence was written as an order.
function sentence(row, fitting) {
  if (!fitting) {
    render();
    return tell(gettext("The order is a number, {orders}. This is too long for the remark, too; nothing of it was taken.", { orders: settings.orders_told }));
  }
  act("type", [{ uid: row.uid, state: fitting }]);
  focus(row.uid, "remark", fitting.remark.length);
  return tell(gettext("The order is a number, {orders}. What you wrote stands in the remark.", { orders: settings.orders_told }));
}

// Narrated facts have order 0, where there is one, and beliefs of an actor do not; whatever else the expert wrote stays.
const OWN = settings.orders.includes("1") ? "1" : "";
function orderFor(actor, order) {
  if (!settings.orders.includes("0")) return order;
  return isWorld(actor) ? "0" : order === "0" ? OWN : order;
}
// The order that a new row took over is of the actor there: nobody wrote it of another one, who begins with a belief of their own.
function orderOf(row, actor) {
  const { actor: before, order } = row.state;
  const isAnothers = !row.stored && order && actor.trim() !== before.trim();
  return orderFor(actor, isAnothers ? OWN : order);
}

// A row that is only opened: it is stored with its first letter.
function open(after, begin = {}) {
  const uid = newUid();
  const [place] = rows.placesAfter(after);
  rows.put(uid, { ...EMPTY, ...begin, place }, { stored: false });
  render();
  return uid;
}

const current = () => rows.get(active?.uid);
function addBelow() {
  const row = current();
  if (!row) return focus(open(rows.ordered().at(-1)?.uid ?? null), "actor");
  if (isEmpty(row.state)) return focus(row.uid, row.state.actor ? "belief" : "actor");
  const { actor, order } = row.state;
  focus(open(row.uid, { actor, order }), "belief");
  taken(row);
}
// A new row begins with what most often comes next; it is said, and marked until the row has words of its own.
function taken({ state: { actor, order } }) {
  if (actor) announce(order ? gettext("New row with actor {actor} and order {order}.", { actor, order }) : gettext("New row with actor {actor}.", { actor }));
}
function addAbove() {
  const row = current();
  if (!row) return addBelow();
  const before = rows.ordered()[numberOf(row.uid) - 2];
  const { actor, order } = row.state;
  focus(open(before?.uid ?? null, { actor, order }), "belief");
  taken(row);
}
function split() {
  const row = current();
  const field = row && fieldOf(row.uid, "belief");
  if (!row || document.activeElement !== field) return tell(gettext("Put the caret where the proposition is to be split."));
  const [left, right] = [field.value.slice(0, field.selectionStart).trim(), field.value.slice(field.selectionEnd).trim()];
  if (!left || !right) return tell(gettext("There is nothing to split at the caret."));
  const [place] = rows.placesAfter(row.uid);
  const uid = newUid();
  const second = right.replace(/^(?:[,;，；]\s*)?(?:(?:and|but|because|while)\s+|(?:而且|但是|因为))?/i, "");
  act("split", [{ uid: row.uid, state: { ...row.state, belief: left.replace(/[,;，；]$/, "") } }, { uid, parent: row.uid, state: { ...row.state, belief: second || right, remark: "", place } }]);
  focus(uid, "belief", 0);
}
function merge() {
  const row = current();
  const above = row && rows.ordered()[numberOf(row.uid) - 2];
  if (!above) return tell(gettext("There is no row above."));
  if (!row.stored) return drop();
  const joined = (name, between) => [above.state[name].trim(), row.state[name].trim()].filter(Boolean).join(between);
  const caret = above.state.belief.trim().length;
  act("merge", [{ uid: above.uid, state: { ...above.state, belief: joined("belief", " "), remark: joined("remark", "; ") } }, { uid: row.uid, state: { ...row.state, removed: true } }]);
  focus(above.uid, "belief", caret);
}
function shift(down) {
  const row = current();
  if (!row) return;
  const ordered = rows.ordered();
  const at = ordered.indexOf(row);
  const target = down ? ordered[at + 1] : ordered[at - 2] ?? (at > 0 ? null : undefined);
  if (target === undefined) return tell(down ? gettext("This is the last row.") : gettext("This is the first row."));
  const [place] = rows.placesAfter(target?.uid ?? null);
  if (row.stored) act("move", [{ uid: row.uid, state: { ...row.state, place } }]);
  else rows.put(row.uid, { ...row.state, place });
  render();
  focus(row.uid, active.field);
  announce(gettext("Row {number} of {all}.", { number: numberOf(row.uid), all: ordered.length }));
}
function duplicate() {
  const row = current();
  if (!row || isEmpty(row.state)) return;
  const [place] = rows.placesAfter(row.uid);
  const uid = newUid();
  act("copy", [{ uid, parent: row.uid, state: { ...row.state, place } }]);
  focus(uid, "belief", [0, row.state.belief.length]);
}
function drop() {
  const row = current();
  if (!row) return;
  const ordered = rows.ordered();
  const at = ordered.indexOf(row);
  if (row.stored) act("delete", [{ uid: row.uid, state: { ...row.state, removed: true } }]);
  else rows.byUid.delete(row.uid);
  render();
  const next = ordered[at + 1] ?? ordered[at - 1];
  focus(next ? next.uid : open(null), next ? active.field : "actor");
}
function setActor(name) {
  const row = current();
  if (!row) return;
  const next = { ...row.state, actor: name, order: orderOf(row, name) };
  if (row.stored) act("actor", [{ uid: row.uid, state: next }]);
  else taken(rows.put(row.uid, next));
  render();
  focus(row.uid, active.field === "actor" ? "belief" : active.field);
}
function paste(event) {
  const table = pasted(event.clipboardData.getData("text/plain"), current()?.state.actor ?? "", settings.longest);
  const pastedRows = table?.rows ?? [];
  if (!pastedRows.length && !table?.problem) return;
  event.preventDefault();
  $("notice").textContent = table.problem;
  $("notice").hidden = !table.problem;
  if (table.problem) return announce(table.problem);
  const row = current();
  const places = rows.placesAfter(row.uid, pastedRows.length);
  if (!row.stored && isEmpty(row.state)) rows.byUid.delete(row.uid);
  const parts = pastedRows.map((words, at) => ({ uid: newUid(), origin: "pasted", state: { ...EMPTY, ...words, order: orderFor(words.actor, words.order), place: places[at] } }));
  act("paste", parts);
  queue.flush();
  focus(parts.at(-1).uid, "belief");
  announce(ngettext("{count} row pasted.", "{count} rows pasted.", pastedRows.length));
}

// --- undo and versions ---------------------------------------------------------------------------------------------------
let turn = Promise.resolve();
const inTurn = (step) => { turn = turn.then(step, step); return turn; };

async function takeBack(redo) {
  typing.end();
  if (!(await queue.drained())) return unsentBack(redo);
  try {
    const { undo } = await request(settings.urls.undo + (redo ? "?redo=1" : ""));
    if (!undo) return tell(redo ? gettext("There is nothing to do again.") : gettext("There is nothing to undo in this table."));
    restored(redo ? "redo" : "undo", undo.rows, undo.action);
  } catch (error) {
    trouble(error);
  }
}
// While the server does not answer, what it has not seen can be taken back here.
function unsentBack(redo) {
  const pending = queue.pending();
  const back = new Set(pending.map((change) => change.undoes));
  const last = redo ? null : pending.filter((change) => !change.undoes && !back.has(change.action)).at(-1);
  if (!last) return tell(gettext("Undo waits until what was written before is saved."));
  const first = new Map();
  for (const change of pending.filter((other) => other.action === last.action)) {
    if (!first.has(change.row)) first.set(change.row, { row: change.row, state: change.base ?? { ...change.state, removed: true } });
  }
  restored("undo", [...first.values()], last.action);
}
function restored(kind, changed, undoes) {
  act(kind, changed.map(({ row, state: before }) => ({ uid: row, state: before })), { undoes });
  const back = changed.find(({ state: before }) => !before.removed);
  const ordered = rows.ordered();
  focus(back?.row ?? ordered.at(-1)?.uid ?? open(null), active?.field ?? "belief");
  announce(kind === "undo" ? gettext("Undone.") : gettext("Done again."));
}

async function showVersions() {
  if (!(await queue.drained())) return tell(gettext("Versions wait until everything is saved."));
  const { versions } = await request(settings.urls.versions);
  const list = $("version-list");
  list.replaceChildren(...versions.map((version, at) => {
    const line = document.createElement("li");
    const when = new Date(version.at).toLocaleString(document.documentElement.lang);
    line.append(`${when} · ${ngettext("{count} row", "{count} rows", version.rows)} `);
    if (at === 0) line.append(gettext("(as it stands)"));
    else line.append(Object.assign(document.createElement("button"), { type: "button", className: "button button-small", textContent: gettext("Go back to this"), value: version.id }));
    return line;
  }));
  if (!versions.length) list.textContent = gettext("Nothing has been saved yet.");
  $("versions").showModal();
}
async function restoreVersion(id) {
  const { rows: saved } = await request(`${settings.urls.versions}?version=${id}`);
  const there = new Set(saved.map((row) => row.row));
  const gone = rows.ordered().filter((row) => row.stored && !there.has(row.uid)).map((row) => ({ uid: row.uid, state: { ...row.state, removed: true } }));
  const back = saved.map(({ row, state: before }) => ({ uid: row, state: before }))
    .filter(({ uid, state: before }) => (rows.get(uid) ? JSON.stringify(rows.get(uid).state) !== JSON.stringify(before) : !before.removed));
  $("versions").close();
  if (gone.length + back.length) act("restore", [...gone, ...back]);
  queue.flush();
  announce(gettext("The table is as it was then. Ctrl Z takes that back."));
}

// A row of the model's draft that was deleted stands again as it came, where it stood.
function putBack(uid) {
  const { actor, belief, order, number } = model.rows.get(uid);
  const above = rows.ordered().filter((row) => (model.rows.get(row.uid)?.number ?? Infinity) < number).at(-1);
  const [place] = rows.placesAfter(above?.uid ?? null);
  act("restore", [{ uid, state: { ...EMPTY, actor, belief, order, place } }]);
  focus(uid, "belief");
}

// --- moving --------------------------------------------------------------------------------------------------------------
function focus(uid, field = "belief", caret = null) {
  const place = fieldOf(uid, field);
  if (!place) return;
  place.focus({ preventScroll: true });
  place.closest("tr").scrollIntoView({ block: "nearest" });
  if (caret !== null) place.setSelectionRange(...(Array.isArray(caret) ? caret : [caret, caret]));
}
function step(count) {
  const ordered = rows.ordered();
  const at = Math.max(0, Math.min(ordered.length - 1, numberOf(active.uid) - 1 + count));
  focus(ordered[at].uid, active.field);
}
// In a long proposition the arrows move within the text first.
function vertical(event, count) {
  const { target } = event;
  if (target.tagName === "TEXTAREA" && target.scrollHeight > 2.2 * parseFloat(getComputedStyle(target).lineHeight)) {
    const edge = count < 0 ? 0 : target.value.length;
    if (target.selectionStart !== edge || target.selectionEnd !== edge) return undefined;
  }
  return () => step(count);
}
function nextWarning() {
  const ordered = rows.ordered();
  const at = active ? numberOf(active.uid) : 0;
  const warned = [...ordered.slice(at), ...ordered.slice(0, at)].find((row) => !isEmpty(row.state) && warnings[row.uid]?.length);
  if (!warned) return tell(gettext("No row has a warning."));
  focus(warned.uid, warnings[warned.uid][0].field);
  announce(warnings[warned.uid].map((warning) => warning.text).join(" "));
}
function translate() {
  if (shown.translate()) highlight();
}
const highlight = (name = current()?.state.actor ?? "") => shown.highlight(name);

async function handIn() {
  typing.end();
  if (!(await queue.drained())) return tell(gettext("The table is not saved yet: hand it in when the server answers."));
  const filled = rows.ordered().filter((row) => !isEmpty(row.state));
  const count = filled.filter((row) => warnings[row.uid]?.length).length;
  $("hand-in-rows").value = filled.length;
  const summary = count
    ? ngettext("{count} row, {warned} of them with a warning.", "{count} rows, {warned} of them with a warning.", filled.length, { warned: count })
    : ngettext("{count} row, none with a warning.", "{count} rows, none with a warning.", filled.length);
  $("hand-in-text").textContent = model && !count ? gettext("{first} {second}", { first: summary, second: model.sentence(filled) }) : summary;
  $("hand-in").showModal();
}

// --- keys and clicks -----------------------------------------------------------------------------------------------------
const commands = {
  undo: () => inTurn(() => takeBack(false)), redo: () => inTurn(() => takeBack(true)), versions: showVersions, warning: nextWarning,
  away: () => leave(queue, settings.urls.next),
  translate, help: () => $("help").showModal(), handIn, add: addBelow, retry: () => queue.flush(),
  split, merge, duplicate, drop, up: () => shift(false), down: () => shift(true),
  keptBack: () => {
    const left = kept();
    const places = rows.placesAfter(rows.ordered().at(-1)?.uid ?? null, left.length);
    forgetKept();
    act("paste", left.map(({ state: words }, at) => ({ uid: newUid(), state: { ...words, removed: false, place: places[at] } })));
    showKept();
  },
  keptAway: () => { forgetKept(); showKept(); },
};
const ALT = {
  Enter: split, Backspace: merge, ArrowUp: commands.up, ArrowDown: commands.down, Delete: drop,
  KeyD: duplicate, KeyT: translate, KeyW: nextWarning, KeyV: showVersions, KeyH: handIn, KeyA: addAbove,
};

function onKey(event) {
  const { key, code, target, shiftKey, altKey } = event;
  const control = event.ctrlKey || event.metaKey;
  const common = commonAction(event, commands);
  if (common) return common;
  if (altKey && !control && /^Digit[1-9]$/.test(code)) return () => setActor($("names").children[Number(code.at(-1)) - 1]?.dataset.actor ?? current().state.actor);
  if (altKey && !control) return ALT[key] ?? ALT[code];
  if (!target.matches("[data-field]")) return key === "?" ? commands.help : undefined;
  if (control) return undefined;
  if (key === "Enter") return shiftKey ? addAbove : addBelow;
  if (shiftKey) return undefined;
  if (key === "ArrowUp" || key === "ArrowDown") return vertical(event, key === "ArrowUp" ? -1 : 1);
  return { PageUp: () => step(-PAGE), PageDown: () => step(PAGE) }[key];
}
onKeys(onKey);
body.addEventListener("input", (event) => {
  const { target } = event;
  const uid = target.closest("tr").dataset.row;
  if (target.dataset.field === "actor") complete(target, event, namesOf(rows.ordered().filter((row) => row.uid !== uid), settings.names));
  target.value = target.value.replace(/[\r\n]+/g, " ");
  type(uid, target.dataset.field, target.value);
  if (target.dataset.field === "actor") highlight(target.value);
  grow(target);
});
body.addEventListener("focusin", ({ target }) => {
  const line = target.closest("tr");
  if (!target.matches("[data-field]")) return;
  if (active?.uid !== line.dataset.row) body.querySelector("tr[data-active]")?.removeAttribute("data-active");
  line.setAttribute("data-active", "");
  active = { uid: line.dataset.row, field: target.dataset.field };
  $("order-hint").hidden = active.field !== "order";
  highlight();
  showNames();
});
body.addEventListener("focusout", () => { typing.end(); if (queue.pending().length && !queue.failing) queue.flush(); });
body.addEventListener("paste", paste);
document.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-actor]");
  if (chip) return setActor(chip.dataset.actor);
  const version = event.target.closest("#version-list button");
  if (version) return restoreVersion(version.value);
  const gone = event.target.closest("[data-put-back]");
  if (gone) return putBack(gone.dataset.putBack);
  return commands[event.target.closest("[data-command]")?.dataset.command]?.();
});
$("hand-in-form").addEventListener("submit", letLeave);
sendBeforeLeaving(queue);
addEventListener("online", () => queue.flush());
document.addEventListener("visibilitychange", () => { if (queue.pending().length) queue.flush(); });

// --- start ---------------------------------------------------------------------------------------------------------------
for (const { row, state: stands } of settings.rows) rows.put(row, stands);
for (const change of queue.pending()) {
  rows.put(change.row, change.state, { stored: true });
  model?.follow(change);
}
const last = rows.ordered().at(-1);
render();
showKept();
if (model?.isUntouched(rows.ordered())) focus(rows.ordered()[0].uid);
else focus(last?.uid ?? open(null), last ? "belief" : "actor", last ? last.state.belief.length : null);
if (story && !active) highlight("");
queue.flush();
document.documentElement.dataset.draftReady = "1";
