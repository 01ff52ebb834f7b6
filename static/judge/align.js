// Alignment: a model's table and the gold table of one story side by side. Links and verdicts go through the queue of the
// labelling grid; an expert who decides open rows keeps them on the page until they are sent together.
import { Queue, request } from "../annotation/grid/queue.js";
import { announce, leave, letLeave, sendBeforeLeaving, showState, showTrouble } from "../annotation/grid/saving.js";
import { digitOf } from "../annotation/grid/keys.js";
import { newKey } from "../annotation/tables/rows.js";
import { activate, commonAction, onCommands, onDrop, onKeys } from "../annotation/tables/row_page.js";
import { highlight } from "../annotation/tables/story.js";

const $ = (id) => document.getElementById(id);
const settings = JSON.parse($("align-settings").textContent);
const place = $("tables");
const rows = new Map(settings.rows.map((row) => [row.row, row]));
const NOTHING = { links: [], verdict: "" };
const VERDICTS = { none: gettext("no match"), unclear: gettext("cannot tell") };
const DIGITS = 9;
let answers = structuredClone(settings.answers);
let active = null;
const SEVERAL = settings.most > 1; // whether a compound row can have several links
let linking = null;
let acting = false;
let since = Date.now();
let touched = new Set(settings.decided ?? []); // rows that an expert decided on this page

const deciding = Boolean(settings.methods);
const queue = deciding ? null : new Queue({
  ...settings, url: settings.urls.save, kind: "alignments", cellOf: (change) => change.row,
  on: { queued, saved: () => {}, refused, warnings: () => {}, trouble, state },
});
if (deciding && settings.stories.length) request(settings.urls.claims, { stories: settings.stories }).catch(() => ({})); // nobody else decides there now
const lineOf = (row) => place.querySelector(`[data-row="${row}"]`);
const answerOf = (row) => answers[row] ?? NOTHING;
const isPrediction = (row) => row[0] === "p";
const byPlace = (x, y) => Number(x.slice(1)) - Number(y.slice(1));
const title = (row) => `${isPrediction(row) ? "P" : "G"}${row.slice(1)}`;

// The links of a row of either table: they are kept with the predicted one.
function linksOf(row) {
  if (isPrediction(row)) return answerOf(row).links;
  return Object.entries(answers).filter(([, answer]) => answer.links.includes(row)).map(([name]) => name).sort(byPlace);
}
const verdictOf = (row) => (linksOf(row).length ? "" : answerOf(row).verdict);
function isOpen(row) {
  if (deciding && settings.methods[row] === "open" && !touched.has(row)) return true;
  return !linksOf(row).length && !verdictOf(row);
}
// As the page shows them: each table actor by actor.
function side(letter) {
  return settings.rows.filter((row) => row.row[0] === letter).sort((x, y) => x.group - y.group || byPlace(x.row, y.row)).map((row) => row.row);
}
const ORDER = [...side("p"), ...side("g")];
const sideOf = (row) => ORDER.filter((other) => other[0] === row[0]);
const proposed = (row) => {
  const proposal = settings.proposals[row];
  return proposal && isOpen(row) && !linksOf(proposal.gold).length ? proposal : null;
};
// The rows of the other table that a digit links with: those of the same actor.
const candidates = (row) => ORDER.filter((other) => other[0] !== row[0] && rows.get(other).group === rows.get(row).group).slice(0, DIGITS);

// --- what the page shows -------------------------------------------------------------------------------------------------
function build() {
  const groups = [...new Set(ORDER.map((row) => rows.get(row).group))].sort((x, y) => x - y);
  for (const group of groups) {
    const section = $("group").content.firstElementChild.cloneNode(true);
    const own = ORDER.filter((row) => rows.get(row).group === group);
    section.querySelector(".align-actor").textContent = rows.get(own.find((row) => !isPrediction(row)) ?? own[0]).actor;
    for (const row of own) section.querySelector(`[data-side="${row[0]}"]`).append(element(row));
    place.append(section);
  }
  $("empty").hidden = ORDER.length > 0;
}

function element(row) {
  const line = $("row").content.firstElementChild.cloneNode(true);
  const words = rows.get(row);
  line.dataset.row = row;
  line.querySelector(".align-name").textContent = title(row);
  line.querySelector(".align-belief").textContent = words.belief;
  line.draggable = settings.editable;
  line.querySelector(".align-tools").hidden = !settings.editable;
  return line;
}

function answerText(row) {
  const links = linksOf(row);
  if (links.length) return gettext("linked with {rows}", { rows: links.map(title).join(gettext(", ")) });
  return VERDICTS[verdictOf(row)] ?? gettext("open");
}

function lineText(row, suggestion) {
  const parts = { row: title(row), actor: rows.get(row).actor, belief: rows.get(row).belief, answer: answerText(row) };
  if (!suggestion) return gettext("{row}, {actor}: {belief}, {answer}", parts);
  return gettext("{row}, {actor}: {belief}, {answer}, proposed {gold}", { ...parts, gold: title(suggestion.gold) });
}

function render() {
  const options = active ? candidates(active) : [];
  const proposal = active && isPrediction(active) ? proposed(active) : null;
  for (const row of ORDER) {
    const line = lineOf(row);
    const links = linksOf(row);
    const suggestion = isPrediction(row) ? proposed(row) : null;
    line.dataset.answer = links.length ? "linked" : verdictOf(row) || "open";
    line.querySelector(".align-state").textContent = isOpen(row) ? (suggestion ? `${title(suggestion.gold)}?` : gettext("open")) : links.length ? gettext("linked") : VERDICTS[verdictOf(row)];
    line.querySelector(".align-state").className = `align-state badge badge-${isOpen(row) ? "open" : "done"}`;
    line.querySelector(".align-links").textContent = links.map(title).join(gettext(", "));
    line.querySelector(".align-called").textContent = calledOtherwise(row);
    line.querySelector(".align-votes").textContent = settings.votes?.[row] ?? "";
    line.querySelector("[data-do=accept]").hidden = !suggestion;
    line.toggleAttribute("data-linking", linking === row);
    line.toggleAttribute("data-partner", Boolean(active) && linksOf(active).includes(row));
    line.toggleAttribute("data-proposed", proposal?.gold === row);
    const key = line.querySelector(".align-key");
    key.hidden = !settings.editable || !options.includes(row);
    key.textContent = options.indexOf(row) + 1;
    line.setAttribute("aria-label", lineText(row, suggestion));
  }
  const left = ORDER.filter(isOpen).length;
  $("count").textContent = left ? gettext("{left} of {all} open", { left, all: ORDER.length }) : gettext("all {all} answered", { all: ORDER.length });
  $("progress").max = Math.max(1, ORDER.length);
  $("progress").value = ORDER.length - left;
  if (deciding) showKept();
}
// A link between rows of other names is a person's judgement that both mean the same actor; the page says so.
function calledOtherwise(row) {
  const links = linksOf(row).filter((other) => rows.get(other).group !== rows.get(row).group);
  const own = rows.get(row).actor;
  const heading = lineOf(row).closest(".align-group").querySelector(".align-actor").textContent;
  if (links.length) return gettext("({own}; {others})", { own, others: links.map((other) => rows.get(other).actor).join(gettext(", ")) });
  return own === heading ? "" : gettext("({own})", { own });
}

// --- what becomes of a change --------------------------------------------------------------------------------------------
function take(row, answer) {
  if (answer.links.length || answer.verdict) answers[row] = answer;
  else delete answers[row];
}
function queued(change) {
  take(change.row, change.answer);
  if (!acting) render();
}
async function refused(change, sentence) {
  tell(sentence);
  const latest = await request(settings.urls.answers).catch(() => null);
  if (!latest || queue.pending().length) return;
  answers = latest.answers;
  if (!latest.editable) location.reload();
  render();
}
function tell(sentence) {
  $("notice").textContent = sentence;
  $("notice").hidden = !sentence;
  if (sentence) announce(sentence);
}
const TROUBLES = {
  offline: deciding ? gettext("The server does not answer. Your decisions are kept in this browser; send them again with f.") : gettext("The server does not answer. Your links are kept in this browser and sent by themselves; you can go on."),
  login: deciding ? gettext("You are logged out. Your decisions are kept in this browser; send them with f when you have logged in again.") : gettext("You are logged out. Your links are kept in this browser and are sent when you have logged in again."),
  gone: gettext("This table is not yours any more. Your links are kept in this browser; ask an admin."),
};
function trouble(error) { showTrouble(error, TROUBLES, settings.urls.login); }
function state() { showState(queue); }

// --- answering -----------------------------------------------------------------------------------------------------------
// `parts` in an order in which no row ever has a link too many.
function act(parts, more = {}) {
  if (!settings.editable || !parts.length) return;
  acting = true;
  tell("");
  const action = more.action ?? newKey();
  const duration = Math.min(Date.now() - since, settings.longestDuration);
  since = Date.now();
  for (const [row, answer] of parts) {
    if (deciding) remember(row, answer, action);
    else queue.add({ row, answer, action, accepted: Boolean(more.accepted), duration_ms: duration, ...(more.undoes && { undoes: more.undoes }) });
  }
  acting = false;
  render();
}
const history = []; // of an expert, who has decided nothing before it is sent
function remember(row, answer, action) {
  history.push({ row, before: answerOf(row), action, touched: new Set(touched) });
  take(row, answer);
  for (const name of [row, ...answer.links]) touched.add(name);
  keep();
}
// An expert's decisions wait in this browser until they are sent together, over a reload and a server that is away. Of a table
// that somebody settled anew meanwhile those of rows that are still open come back.
const KEPT = `credence:decisions:${settings.annotator}:${settings.story}`;
function keep() {
  try {
    if (!touched.size && !$("reason").value) localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, JSON.stringify({ reason: $("reason").value, rows: [...touched].map((row) => [row, answerOf(row)]) }));
  } catch { /* the browser refuses storage: the page alone has them */ }
}
function comeBack() {
  let kept = null;
  try { kept = JSON.parse(localStorage.getItem(KEPT)); } catch { /* not ours */ }
  if (!kept || !settings.editable) return;
  $("reason").value = kept.reason;
  for (const [row, answer] of kept.rows) {
    if (settings.methods[row] !== "open") continue;
    take(row, answer);
    touched.add(row);
  }
  if (touched.size) announce(ngettext("{count} decision that was not sent is back.", "{count} decisions that were not sent are back.", touched.size));
}
function showKept() {
  const state = $("save-state");
  state.textContent = touched.size ? ngettext("{count} row decided, not sent", "{count} rows decided, not sent", touched.size) : gettext("all saved");
  state.className = `badge badge-${touched.size ? "open" : "done"}`;
}

// Links of `row` with `others` alone; links of these rows with further ones are taken away first. Null where a link would be one
// too many.
function linked(row, others, adds = false) {
  const predictions = isPrediction(row) ? [row] : others;
  const golds = isPrediction(row) ? others : [row];
  const parts = [];
  if (!adds) {
    for (const name of new Set([...predictions, ...golds.flatMap(linksOf)])) {
      const kept = answerOf(name).links.filter((gold) => !golds.includes(gold) && !predictions.includes(name));
      if (answerOf(name).links.length && kept.length < answerOf(name).links.length) parts.push([name, { links: kept, verdict: "" }]);
    }
    for (const name of predictions) parts.push([name, { links: [...golds], verdict: "" }]);
    return parts;
  }
  const [prediction] = predictions;
  const [gold] = golds;
  const has = answerOf(prediction).links;
  if (has.includes(gold)) return [[prediction, { links: has.filter((other) => other !== gold), verdict: "" }]];
  const [left, right] = [has.length + 1, linksOf(gold).length + 1];
  const chained = has.some((other) => linksOf(other).length > 1) || linksOf(gold).some((other) => answerOf(other).links.length > 1);
  if (Math.max(left, right) > settings.most || (left > 1 && right > 1) || chained) return null;
  return [[prediction, { links: [...has, gold].sort(byPlace), verdict: "" }]];
}
function link(row, other, { adds = false, accepted = false, stay = false } = {}) {
  if (!row || !other || row[0] === other[0]) return announce(gettext("A link goes from one table to the other."));
  const parts = linked(row, [other], adds);
  if (!parts) return tell(settings.most === 1 ? gettext("A row is linked with one row in this study.") : gettext("Of two linked rows only one can have several links, and no more than the study allows."));
  act(parts, { accepted });
  announce(`${title(row)} ${answerText(row)}`);
  return stay || adds ? undefined : onward();
}
function accept(row = active) {
  const proposal = row && isPrediction(row) ? proposed(row) : null;
  if (!proposal) {
    if (deciding && row && linksOf(row).length + verdictOf(row).length) return confirmRow(row);
    return announce(gettext("Nothing is proposed for this row."));
  }
  return link(row, proposal.gold, { accepted: true });
}
// An expert says that an open row stands as its links have it.
function confirmRow(row) {
  history.push({ row, before: answerOf(row), action: newKey(), touched: new Set(touched) });
  touched.add(row);
  keep();
  render();
  onward();
}
function acceptEqual() {
  const equal = ORDER.filter((row) => isPrediction(row) && proposed(row)?.exact);
  act(equal.map((row) => [row, { links: [settings.proposals[row].gold], verdict: "" }]), { accepted: true });
  announce(ngettext("{count} equal row is linked.", "{count} equal rows are linked.", equal.length));
  const left = ORDER.find(isOpen); // from the top: the row at which the person stands may be open still
  if (left) focus(left);
}
// A verdict takes the links of the row away.
function say(verdict, row = active) {
  if (!row) return;
  const parts = linksOf(row).map((other) => (isPrediction(row) ? row : other)).filter((prediction) => prediction !== row)
    .map((prediction) => [prediction, { links: answerOf(prediction).links.filter((gold) => gold !== row), verdict: "" }]);
  act([...parts, [row, { links: [], verdict }]]);
  announce(gettext("{row}: {answer}", { row: title(row), answer: answerText(row) }));
  if (verdict) onward();
}
function rest() {
  const left = ORDER.filter((row) => isOpen(row) && !linksOf(row).length);
  act(left.map((row) => [row, { links: [], verdict: "none" }]));
  announce(ngettext("{count} row has no match.", "{count} rows have no match.", left.length));
}
function choose(digit, adds) {
  const other = active && candidates(active)[digit - 1];
  if (!other) return announce(gettext("No row has this digit."));
  link(active, other, { adds });
}
// With `adds`, of the second row, the links of the first stay.
function mark(adds = false) {
  if (!active) return;
  if (linking && linking[0] !== active[0]) {
    const from = linking;
    linking = null;
    link(from, active, { stay: true, adds });
  } else {
    linking = linking === active ? null : active;
    announce(linking ? gettext("Go to the row of the other table that says the same, and press l again.") : gettext("No row is to be linked."));
  }
  render();
}
async function takeBack(redo) {
  if (deciding) return takeBackHere();
  if (!(await queue.drained())) return announce(gettext("Undo waits until everything is saved."));
  try {
    const { undo } = await request(settings.urls.undo + (redo ? "?redo=1" : ""));
    if (!undo) return announce(redo ? gettext("There is nothing to do again.") : gettext("There is nothing of yours to undo here."));
    act(undo.rows.map(({ row, answer }) => [row, answer]), { undoes: undo.action });
    focus(undo.rows.at(-1).row);
    announce(redo ? gettext("Done again.") : gettext("Undone."));
  } catch (error) {
    trouble(error);
  }
}
function takeBackHere() {
  const action = history.at(-1)?.action;
  if (!action) return announce(gettext("There is nothing of yours to undo here."));
  while (history.at(-1)?.action === action) {
    const last = history.pop();
    take(last.row, last.before);
    touched = last.touched;
    active = last.row;
  }
  keep();
  render();
  focus(active);
}

// --- moving --------------------------------------------------------------------------------------------------------------
function focus(row) {
  lineOf(row)?.focus({ preventScroll: true });
  lineOf(row)?.scrollIntoView({ block: "nearest" });
}
function step(count) {
  const own = sideOf(active ?? ORDER[0]);
  focus(own[Math.max(0, Math.min(own.length - 1, own.indexOf(active) + count))]);
}
// To the linked, the proposed or else the first row of the same actor in the other table.
function across(letter) {
  if (!active || active[0] === letter) return;
  const other = linksOf(active)[0] ?? proposed(active)?.gold ?? candidates(active)[0] ?? ORDER.find((row) => row[0] === letter);
  if (other) focus(other);
}
function onward() {
  const at = ORDER.indexOf(active);
  const next = [...ORDER.slice(at + 1), ...ORDER.slice(0, at)].find(isOpen);
  if (next) focus(next);
  else announce(gettext("Every row has its answer. Press f to finish."));
}
async function finish() {
  const left = ORDER.filter(isOpen).length;
  if (left && !deciding) return announce(ngettext("{count} row is still open.", "{count} rows are still open.", left)), onward();
  if (deciding) {
    if (!touched.size) return announce(gettext("You have decided no row yet."));
    $("finish").showModal();
    return undefined;
  }
  if (!(await queue.drained())) return announce(gettext("Wait until everything is saved."));
  letLeave();
  $("finish").showModal();
  return undefined;
}
async function send(event) {
  event.preventDefault();
  const decisions = [...touched].map((row) => ({ row, answer: answerOf(row) }));
  const body = { annotator: settings.annotator, revision: settings.revision, reason: $("reason").value, decisions };
  $("finish").close();
  try {
    const answer = await request(settings.urls.save, body);
    if (answer.refused) return tell(answer.error);
    localStorage.removeItem(KEPT);
    letLeave();
    location.href = answer.next;
  } catch (error) {
    trouble(error);
  }
  return undefined;
}

// --- keys and clicks -----------------------------------------------------------------------------------------------------
const commands = {
  undo: () => takeBack(false), redo: () => takeBack(true), help: () => $("help").showModal(), next: onward, finish, exact: acceptEqual, rest,
  retry: () => queue?.flush(), away: () => (queue ? leave(queue, settings.urls.next) : location.assign(settings.urls.next)),
};
const KEYS = {
  ArrowUp: () => step(-1), ArrowDown: () => step(1), k: () => step(-1), j: () => step(1), ArrowLeft: () => across("p"), ArrowRight: () => across("g"),
  n: onward, Enter: () => accept(), " ": () => accept(), x: () => say("none"), 0: () => say("none"), u: () => say("unclear"), o: () => say(""),
  Backspace: () => say(""), l: () => mark(), L: () => mark(SEVERAL), r: rest, f: finish, "?": commands.help,
  ...(!deciding && { a: acceptEqual }), // nothing is proposed to an expert
};
function onKey(event) {
  const { key, code, target, shiftKey } = event;
  const common = commonAction(event, commands);
  if (common || event.ctrlKey || event.metaKey || event.altKey) return common;
  if (target.closest("button, a, summary, input, textarea") && (key === "Enter" || key === " ")) return undefined;
  if (key === "Escape" && linking) return () => mark();
  const shifted = shiftKey && /^Digit([1-9])$/.exec(code)?.[1];
  if (shifted) return () => choose(Number(shifted), true);
  const digit = digitOf(event, KEYS);
  if (digit && digit !== "0") return () => choose(Number(digit), false);
  return KEYS[key];
}
onKeys(onKey);
place.addEventListener("focusin", ({ target }) => {
  const line = target.closest("[data-row]");
  if (!line || line.dataset.row === active) return;
  activate(place, line);
  active = line.dataset.row;
  highlight(rows.get(active).actor);
  render();
});
// The row whose digit is pressed must not become the active one: it is linked with that. With Shift held browsers mark text and
// drag nothing, so that the row on which the button goes down is pulled to the one on which it goes up.
let pulled = null;
place.addEventListener("mousedown", (event) => {
  const line = event.target.closest("[data-row]");
  pulled = SEVERAL && settings.editable && event.shiftKey ? line?.dataset.row : null;
  if (pulled || event.target.closest(".align-key")) event.preventDefault();
});
place.addEventListener("mouseup", ({ target }) => {
  const row = target.closest("[data-row]")?.dataset.row;
  if (pulled && row && row !== pulled) link(pulled, row, { stay: true, adds: true });
  pulled = null;
});
place.addEventListener("click", ({ target, shiftKey }) => {
  const line = target.closest("[data-row]");
  if (!line) return;
  const { row } = line.dataset;
  const what = target.closest("[data-do]")?.dataset.do;
  const key = target.closest(".align-key");
  if (key && active && active !== row) return link(active, row, { adds: SEVERAL && shiftKey });
  focus(row);
  return { link: () => mark(SEVERAL && shiftKey), accept: () => accept(row), none: () => say("none", row), unclear: () => say("unclear", row) }[what]?.();
});
onDrop(place, (row, other, { shiftKey }) => link(row, other, { stay: true, adds: SEVERAL && shiftKey }));
onCommands(commands);
if (queue) {
  sendBeforeLeaving(queue);
  addEventListener("online", () => queue.flush());
} else {
  $("decide-form")?.addEventListener("submit", send);
  $("reason")?.addEventListener("input", keep);
}

// --- start ---------------------------------------------------------------------------------------------------------------
build();
if (deciding) comeBack();
for (const change of queue?.pending() ?? []) take(change.row, change.answer);
render();
const first = ORDER.find(isOpen) ?? ORDER[0];
if (first) focus(first);
queue?.flush();
document.documentElement.dataset.alignReady = "1";
