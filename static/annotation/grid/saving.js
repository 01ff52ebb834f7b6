// What a page that saves through the `Queue` says of it, and how it is left: the labelling grid, the editor of a table, the pairs.
const SLOW = 200; // milliseconds: a save takes a moment, and is spoken of where it takes longer
const byId = (id) => document.getElementById(id);
export let leaving = false; // what waits is kept: no need to warn

export function announce(text) { byId("announce").textContent = text; }

// Why a key did nothing, or what the next one does: spoken, and in sight until something else is pressed.
export function tell(text) {
  announce(text);
  byId("told").textContent = text;
  byId("told").hidden = !text;
}
for (const press of ["keydown", "pointerdown"]) addEventListener(press, () => { if (byId("told")) byId("told").hidden = true; }, true);

// `sentences` by the kind of trouble; null for `error` takes the notice away.
export function showTrouble(error, sentences, login) {
  byId("trouble").hidden = !error;
  if (!error) return;
  const text = error.kind === "other" ? gettext("{message} Log out, and log in as yourself: nothing is lost.", { message: error.message }) : sentences[error.kind];
  if (byId("trouble-text").textContent !== text) byId("trouble-text").textContent = text;
  byId("trouble-login").hidden = error.kind !== "login";
  byId("trouble-login").href = `${login}?next=${encodeURIComponent(location.pathname)}`;
}

let timer = null;
// `named` words how many changes wait, nothing where the page does not say; `changed` hears of another state and its words.
export function showState(queue, changed = () => {}, named = () => "") {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const count = queue.pending().length;
    const kind = !count ? "done" : queue.failing ? "failed" : "saving";
    const what = { what: named(count) };
    const text = { done: () => gettext("all saved"), failed: () => gettext("{what} not saved, trying again", what), saving: () => gettext("saving {what}", what) }[kind]().trim();
    if (byId("save-state").textContent === text) return;
    byId("save-state").className = `badge badge-${kind}`;
    byId("save-state").textContent = text;
    changed(kind, text);
  }, queue.failing ? 0 : SLOW);
}

// --- leaving -------------------------------------------------------------------------------------------------------------
export function letLeave() { leaving = true; }
export async function leave(queue, href) {
  await queue.drained();
  letLeave();
  location.href = href;
}

// What is kept in this browser is sent from the list of tables: only what fails while the page is left holds it back.
export function sendBeforeLeaving(queue) {
  addEventListener("beforeunload", (event) => {
    if (leaving || !queue.pending().length) return;
    queue.flush();
    if (queue.failing) event.preventDefault();
  });
  addEventListener("pagehide", () => queue.flush());
}

document.addEventListener("click", ({ target }) => { if (target.closest("#trouble-login")) letLeave(); });
addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });
