// Ctrl+Z on the lists of adjudication: says what was decided last, and takes it back when told to.
import { request } from "./grid/queue.js";

const $ = (id) => document.getElementById(id);
const place = $("undo");
let last = null;

function say(text, asks) {
  $("undo-text").textContent = text;
  $("undo-yes").hidden = !asks;
  $("undo-no").hidden = !asks;
  place.hidden = false;
  if (asks) $("undo-yes").focus();
}

async function look() {
  try {
    ({ undo: last } = await request(place.dataset.url));
    if (!last) return say(gettext("There is no decision of yours to take back."), false);
    const count = last.cells.length;
    return say(count > 1
      ? gettext("Take back {count} decisions that you took at once, the first in story {story}?", { count, story: last.story })
      : gettext("Take back {dimension}: {label}, in story {story}?", last), true);
  } catch {
    return say(gettext("The server does not answer; nothing was changed."), false);
  }
}

async function take() {
  try {
    const answer = await request(place.dataset.url, { cells: last.cells });
    if (answer.refused) return say(answer.error, false);
    return location.reload();
  } catch {
    return say(gettext("The server does not answer; try again."), true);
  }
}

$("undo-yes").addEventListener("click", take);
$("undo-no").addEventListener("click", () => { place.hidden = true; });
document.addEventListener("click", ({ target }) => { if (target.closest("[data-undo]")) look(); });
document.addEventListener("keydown", (event) => {
  const control = event.ctrlKey || event.metaKey;
  if (!control || event.shiftKey || event.key.toLowerCase() !== "z" || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  look();
});
