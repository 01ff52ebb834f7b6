// Keyboard for the adjudication screen; decisions themselves are htmx forms.
const cells = () => [...document.querySelectorAll("[data-cell]")];
const current = () => document.activeElement.closest("[data-cell]");
const focus = (cell) => { cell?.focus({ preventScroll: true }); cell?.scrollIntoView({ block: "nearest" }); };

function step(by) {
  const all = cells();
  const at = all.indexOf(current());
  focus(all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]);
}

function count() {
  document.getElementById("todo").textContent = cells().filter((cell) => cell.dataset.needs === "1").length;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  const cell = current();
  if (typing) {
    if (event.key === "Enter" || event.key === "Escape") { event.preventDefault(); focus(cell); }
    return;
  }
  if (event.key === "?") { event.preventDefault(); document.getElementById("help").showModal(); return; }
  if (event.key === "n") { location.href = document.getElementById("next-story").href; return; }
  if (event.key === "j" || event.key === "ArrowDown") { event.preventDefault(); step(1); return; }
  if (event.key === "k" || event.key === "ArrowUp") { event.preventDefault(); step(-1); return; }
  if (!cell) return;
  const target = {
    r: () => cell.querySelector("[name=reason]")?.focus(),
    e: () => cell.querySelector("[name=error_tag]")?.focus(),
    l: () => cell.querySelector("[name=guideline_flag]")?.click(),
    u: () => cell.querySelector("[name=undo]")?.click(),
    h: () => cell.querySelector("[data-history]")?.click(),
  }[event.key] ?? (/^[0-9]$/.test(event.key) ? () => cell.querySelector(`[data-digit="${event.key}"]`)?.click() : null);
  if (target) { event.preventDefault(); target(); }
});

// The server answers 409 and 422 with the cell and its sentence: they are shown like any other answer.
document.addEventListener("htmx:beforeSwap", (event) => {
  if ([409, 422].includes(event.detail.xhr.status)) { event.detail.shouldSwap = true; event.detail.isError = false; }
});
let decided = null;
document.addEventListener("htmx:beforeRequest", (event) => { decided = event.target.closest("[data-cell]")?.id ?? null; });
document.addEventListener("htmx:afterSettle", () => {
  count();
  const cell = decided && document.getElementById(decided);
  decided = null;
  if (!cell) return;
  const open = cells().find((one) => one.dataset.needs === "1" && cell.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
  focus(cell.querySelector(".callout-error") || !open ? cell : open);
});

focus(document.getElementById(location.hash.slice(1)) ?? cells().find((cell) => cell.dataset.needs === "1"));
