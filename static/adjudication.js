// Keyboard for the adjudication screen. Decisions are htmx forms, and work without this file too.
import { mark } from "./mentions.js";

const $ = (id) => document.getElementById(id);
const cells = () => [...document.querySelectorAll("[data-cell]")];
const panel = $("panel");
let current = null;
let awaitsTag = false;

// --- where the expert is -------------------------------------------------------------------------------------------------
function show(cell, { focus = true } = {}) {
  if (!cell) return;
  if (current !== cell) {
    current?.classList.remove("cell-current");
    current = cell;
    mark($("story-text").firstChild, cell.dataset.actor);
  }
  cell.classList.add("cell-current"); // also for the same cell: settling an answer resets its classes
  if (focus) cell.focus({ preventScroll: true });
  cell.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = cells();
  const at = all.indexOf(current);
  show(all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]);
}

function nextToDo() {
  const all = cells();
  const at = all.indexOf(current);
  const found = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))].find((cell) => cell.dataset.todo === "1");
  if (found) show(found);
  else hint("Nothing is left to decide here. n opens the next story.");
}

let hintTimer = null;
function hint(text) {
  $("hint").textContent = text;
  $("hint").hidden = !text;
  clearTimeout(hintTimer);
  if (text) hintTimer = setTimeout(() => hint(""), 4000);
}

// --- what the keys do ----------------------------------------------------------------------------------------------------
const press = (selector) => {
  const target = current?.querySelector(selector);
  if (target) target.click();
  return Boolean(target);
};
// A reason or tag that is added to one's own decision is saved at once, by deciding the same again.
const amend = () => { if (current?.dataset.label) press('.chip[aria-pressed="true"]'); };

const commands = {
  j: () => step(1), ArrowDown: () => step(1),
  k: () => step(-1), ArrowUp: () => step(-1),
  Enter: nextToDo,
  n: () => $("next-story").click(),
  "?": () => $("help").showModal(),
  r: () => current?.querySelector("[name=reason]")?.focus(),
  e: () => { awaitsTag = Boolean(current?.querySelector("[data-tag]")); if (awaitsTag) hint("Why annotators erred: 1 to 5, or 0 for none."); },
  l: () => press("[data-file]"),
  u: () => press("[name=undo]") || hint("Only your own decision can be taken back."),
  h: () => press("[data-panel]:last-of-type"),
};

function digit(key) {
  if (!awaitsTag) return press(`.chip[data-digit="${key}"]`) || hint(`No label here has the digit ${key}.`);
  awaitsTag = false;
  hint("");
  if (press(`[data-tag="${key}"]`)) current.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return escape(event);
  const typing = event.target.closest("input:not([type=radio]), textarea, select");
  if (typing) {
    if (event.key === "Enter" && typing.name === "reason") {
      event.preventDefault();
      current.focus({ preventScroll: true });
      amend();
    }
    return;
  }
  if (!panel.hidden && panel.contains(event.target)) return;
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  const isDigit = /^[0-9]$/.test(event.key);
  if (!isDigit && !commands[event.key]) return;
  event.preventDefault();
  if (isDigit) return digit(event.key);
  awaitsTag = false;
  commands[event.key]();
});

function escape(event) {
  awaitsTag = false;
  hint("");
  if (!panel.hidden) closePanel();
  else if (event.target.closest("[data-cell]")) show(event.target.closest("[data-cell]"));
}

document.addEventListener("focusin", (event) => {
  const cell = event.target.closest("[data-cell]");
  if (cell) show(cell, { focus: false });
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-tag]")) amend();
});

// --- history and comments ------------------------------------------------------------------------------------------------
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-panel]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const url = new URL(link.href);
  panel.hidden = false;
  htmx.ajax("GET", url.pathname, { target: "#panel-body", swap: "innerHTML" }).then(() => {
    $("panel-body").focus();
    if (url.hash) $("comments")?.scrollIntoView();
  });
});
function closePanel() {
  panel.hidden = true;
  $("panel-body").replaceChildren();
  current?.focus({ preventScroll: true });
}
$("panel-close").addEventListener("click", closePanel);

// --- answers -------------------------------------------------------------------------------------------------------------
// What is typed while an answer is on its way is carried over into the new cell.
let draft = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  const field = document.activeElement;
  const cell = event.target.closest("[data-cell]");
  draft = cell?.contains(field) && field.name === "reason" ? { id: cell.id, value: field.value, at: field.selectionStart } : null;
});
document.addEventListener("htmx:afterSwap", (event) => {
  const cell = event.target.closest("[data-cell]");
  if (!cell || current?.id !== cell.id) return;
  const field = draft?.id === cell.id && cell.querySelector("[name=reason]");
  if (field) {
    field.value = draft.value;
    field.focus();
    field.setSelectionRange(draft.at, draft.at);
  }
  draft = null;
  show(cell, { focus: !cell.contains(document.activeElement) });
});
document.addEventListener("htmx:afterSettle", (event) => {
  const cell = event.target.closest("[data-cell]");
  if (!cell) return;
  if (current?.id === cell.id) show(cell, { focus: false });
  const left = cells().filter((one) => one.dataset.todo === "1").length;
  $("todo").textContent = left;
  if (!left && cell.dataset.label) hint("Nothing is left to decide here. n opens the next story.");
});
// Not before htmx has read the page, which it does at this event too: a key before that would send a form without it.
document.addEventListener("DOMContentLoaded", () => {
  show($(location.hash.slice(1)) ?? cells().find((cell) => cell.dataset.todo === "1") ?? cells()[0]);
  $("decisions").dataset.keys = "";
});
