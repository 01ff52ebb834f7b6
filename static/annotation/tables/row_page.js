// What pages of rows share: the keys that mean the same in the editor, the pairs and alignment, the row that is walked to, and
// the row that is dragged onto another.

// `actionOf` says what a key does; nothing where the key is left to the browser.
export function onKeys(actionOf) {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.isComposing) return;
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

// Help, undo, redo and the next story work wherever the focus is. `commands` are the page's own, by name.
export function commonAction({ key, code, shiftKey, altKey, ctrlKey, metaKey }, commands) {
  const control = ctrlKey || metaKey;
  if (key === "F1") return commands.help;
  if (control && key.toLowerCase() === "z") return shiftKey ? commands.redo : commands.undo;
  if (control && key.toLowerCase() === "y") return commands.redo;
  return altKey && !control && code === "KeyN" ? commands.away : undefined;
}

export function onCommands(commands) {
  document.addEventListener("click", ({ target }) => commands[target.closest("[data-command]")?.dataset.command]?.());
}

// Of all rows in `place` one is active, and it alone is reached by Tab.
export function activate(place, line) {
  place.querySelector("[data-active]")?.removeAttribute("data-active");
  for (const other of place.querySelectorAll("[data-row][tabindex='0']")) other.tabIndex = -1;
  line.tabIndex = 0;
  line.setAttribute("data-active", "");
}

// `dropped` hears which row was dragged onto which other one, and of the event.
export function onDrop(place, dropped) {
  let dragged = null;
  const rowOf = (target) => target.closest("[data-row]")?.dataset.row ?? null;
  place.addEventListener("dragstart", ({ target, dataTransfer }) => {
    dragged = rowOf(target);
    dataTransfer.setData("text/plain", dragged);
    dataTransfer.effectAllowed = "link";
  });
  place.addEventListener("dragover", (event) => { if (dragged && rowOf(event.target)) event.preventDefault(); });
  place.addEventListener("drop", (event) => {
    const other = rowOf(event.target);
    event.preventDefault();
    if (dragged && other && other !== dragged) dropped(dragged, other, event);
    dragged = null;
  });
}
