// The labelling grid: keyboard, autosave queue, undo. The table comes from the server; nothing here builds HTML from text.
const settings = JSON.parse(document.getElementById("grid-settings").textContent);
const grid = document.getElementById("grid");
const rows = [...grid.tBodies[0].rows];
const dimensions = new Map(settings.dimensions.map((one) => [one.key, one]));
const clockOffset = Date.parse(settings.now) - Date.now();
const $ = (id) => document.getElementById(id);
const cells = rows.map((row) => [...row.cells].slice(1));

let active = null;
let focusedAt = performance.now();
let rowSeenAt = new Map();
let askedQuick = false;
let held = null; // a vote that waits for "keep it?"

// --- the queue: each unsent change is one entry of localStorage, so that tabs, crashes and restarts lose nothing --------
const entry = (key) => `${settings.queue}:${key}`;
const pending = () =>
  Object.keys(localStorage)
    .filter((name) => name.startsWith(`${settings.queue}:`))
    .map((name) => JSON.parse(localStorage.getItem(name)))
    .sort((a, b) => (a.changed_at < b.changed_at ? -1 : 1));
let sending = false;
let delay = 0;
let timer = null;
let refused = false;

function enqueue(cell, label, extra = {}) {
  const change = {
    proposition: cell.parentElement.dataset.proposition,
    dimension: cell.dataset.dimension,
    label,
    changed_at: new Date(Date.now() + clockOffset).toISOString(),
    client_key: crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random().toString(36).slice(2)}`,
    duration_ms: Math.round(performance.now() - focusedAt),
    ...extra,
  };
  localStorage.setItem(entry(change.client_key), JSON.stringify({ ...change, previous: cell.dataset.label }));
  show(cell, label, "saving");
  flush();
}

async function flush() {
  if (sending) return;
  const batch = pending().slice(0, 100);
  if (!batch.length) return report();
  sending = true;
  clearTimeout(timer);
  report();
  try {
    const answer = await post(settings.urls.save, { changes: batch.map(({ previous, refusal, ...change }) => change) });
    if (answer.status === 400 && batch.length > 1) await oneByOne(batch);
    else if (answer.status === 400) refuse(batch[0], answer.body.error);
    else settle(batch, answer.body);
    delay = 0;
  } catch (error) {
    for (const change of batch) mark(change, "failed");
    trouble(error);
    delay = Math.min(delay ? delay * 2 : 1000, 20000);
  }
  sending = false;
  report();
  if (pending().length) timer = setTimeout(flush, delay);
}

// A refused change must not hold up the others: they are sent alone, and the refused one is taken out with its sentence.
async function oneByOne(batch) {
  for (const { previous, refusal, ...change } of batch) {
    const answer = await post(settings.urls.save, { changes: [change] });
    if (answer.status === 400) refuse(change, answer.body.error);
    else settle([change], answer.body);
  }
}

async function post(url, body) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": JSON.parse(document.body.getAttribute("hx-headers"))["x-csrftoken"] },
    body: JSON.stringify(body),
    redirect: "manual",
    keepalive: true,
  });
  if (response.type === "opaqueredirect" || response.status === 401 || response.status === 403) throw new Error("login");
  if (response.status === 404) throw new Error("gone");
  if (response.status !== 200 && response.status !== 400) throw new Error("server");
  return { status: response.status, body: await response.json() };
}

function settle(batch, body) {
  for (const change of batch) localStorage.removeItem(entry(change.client_key));
  const unsent = new Set(pending().map((change) => `${change.proposition} ${change.dimension}`));
  for (const saved of body.saved) {
    const cell = find(saved);
    if (cell && !unsent.has(`${saved.proposition} ${saved.dimension}`)) show(cell, saved.label, "saved");
  }
  warn(body.warnings);
  $("trouble").hidden = true;
  refused = false;
}

function refuse(change, sentence) {
  const stored = JSON.parse(localStorage.getItem(entry(change.client_key)) || "{}");
  localStorage.removeItem(entry(change.client_key));
  const cell = find(change);
  if (cell) show(cell, stored.previous ?? "", "failed");
  refused = true;
  say(`Not saved: ${sentence}`);
}

function trouble(error) {
  if (error.message === "login") {
    say("You are logged out. Your votes are kept here and are sent when you have logged in again. ");
    const link = document.createElement("a");
    link.href = `${settings.urls.login}?next=${encodeURIComponent(location.pathname)}`;
    link.textContent = "Log in";
    $("trouble").append(link);
  } else if (error.message === "gone") {
    say("This story is no longer assigned to you; your unsent votes are kept in this browser. Ask an admin.");
  } else {
    say("The server does not answer. Your votes are kept here and sent again by themselves; do not close this page.");
  }
}

const say = (text) => { $("trouble").textContent = text; $("trouble").hidden = false; };
const find = (place) => grid.querySelector(`tr[data-proposition="${place.proposition}"] td[data-dimension="${place.dimension}"]`);
const mark = (change, state) => { const cell = find(change); if (cell) cell.dataset.state = state; };

function show(cell, label, state) {
  cell.dataset.label = label;
  cell.dataset.state = state;
  cell.querySelector(".cell-label").textContent = label || "–";
  const name = dimensions.get(cell.dataset.dimension).name;
  cell.setAttribute("aria-label", `${name}: ${label || "no label"}${state === "failed" ? ", not saved" : ""}`);
  if (cell === active) options();
  progress();
}

function warn(warnings = {}) {
  for (const [proposition, messages] of Object.entries(warnings)) {
    const place = grid.querySelector(`tr[data-proposition="${proposition}"] .row-warnings`);
    if (!place) continue;
    place.replaceChildren(...messages.map((message) => Object.assign(document.createElement("span"), { className: "row-warning", textContent: message })));
  }
}

function report() {
  const count = pending().length;
  const badge = $("save-state");
  const failed = Boolean(grid.querySelector('td[data-state="failed"]')) && !sending && (count || refused);
  badge.className = `badge badge-${failed ? "failed" : count ? "saving" : "done"}`;
  badge.textContent = failed ? `${count || "a"} vote${count === 1 || !count ? "" : "s"} not saved` : count ? `saving ${count}` : "all saved";
}

function progress() {
  const all = cells.flat();
  const done = all.filter((cell) => cell.dataset.label).length;
  $("progress").value = done;
  $("progress-text").textContent = `${done} / ${all.length}`;
  $("next-story").classList.toggle("button-primary", done === all.length);
}

// --- moving and choosing -----------------------------------------------------------------------------------------------
function activate(cell, focus = true) {
  if (!cell) return;
  if (active) { active.tabIndex = -1; active.parentElement.removeAttribute("data-active"); }
  active = cell;
  cell.tabIndex = 0;
  cell.parentElement.setAttribute("data-active", "");
  const row = cell.parentElement;
  if (!rowSeenAt.has(row)) rowSeenAt.set(row, performance.now());
  focusedAt = performance.now();
  if (focus) { cell.focus({ preventScroll: true }); cell.scrollIntoView({ block: "nearest" }); }
  options();
  highlight(row.querySelector("[data-actor]").textContent);
}

function options() {
  const dimension = dimensions.get(active.dataset.dimension);
  $("options-name").textContent = dimension.name;
  $("options-question").textContent = dimension.question;
  $("options").replaceChildren(...dimension.labels.map((label) => {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.className = "chip";
    chip.tabIndex = -1;
    chip.title = label.meaning;
    chip.setAttribute("aria-pressed", String(active.dataset.label === label.value));
    const digit = Object.assign(document.createElement("kbd"), { textContent: label.digit });
    chip.append(digit, label.value);
    chip.addEventListener("click", () => choose(label.value));
    return chip;
  }));
}

const position = () => { const y = rows.indexOf(active.parentElement); return [y, cells[y].indexOf(active)]; };
function move(dy, dx) {
  const [y, x] = position();
  activate(cells[Math.max(0, Math.min(rows.length - 1, y + dy))][Math.max(0, Math.min(cells[0].length - 1, x + dx))]);
}
function onward() {
  const [y, x] = position();
  if (x + 1 < cells[y].length) activate(cells[y][x + 1]);
  else if (y + 1 < rows.length) activate(cells[y + 1][0]);
}
function nextWhere(test) {
  const flat = cells.flat();
  const start = flat.indexOf(active);
  const found = [...flat.slice(start + 1), ...flat.slice(0, start + 1)].find(test);
  if (found) activate(found);
}

function choose(label) {
  const cell = active;
  if (cell.dataset.label === label) return onward();
  const read = performance.now() - rowSeenAt.get(cell.parentElement);
  if (label && !askedQuick && read < settings.speedFloor) {
    held = { cell, label };
    $("quick").hidden = false;
    return;
  }
  enqueue(cell, label);
  if (label) onward();
}
function answerQuick(keep) {
  const { cell, label } = held;
  held = null;
  askedQuick = true;
  $("quick").hidden = true;
  activate(cell);
  if (keep) { enqueue(cell, label); onward(); }
}

async function undo() {
  const unsent = pending();
  if (unsent.length) { // the server has not seen it: take it back as a change of its own, in the same queue
    const last = unsent.filter((change) => !change.undoes && !unsent.some((other) => other.undoes === change.client_key)).at(-1);
    if (!last) return;
    const cell = find(last);
    activate(cell);
    enqueue(cell, last.previous, { undoes: last.client_key });
    return;
  }
  try {
    const answer = await post(settings.urls.undo, { client_key: crypto.randomUUID ? crypto.randomUUID() : `undo-${Date.now()}` });
    const [saved] = answer.body.saved ?? [];
    if (!saved) return;
    const cell = find(saved);
    show(cell, saved.label, "saved");
    warn(answer.body.warnings);
    activate(cell);
  } catch (error) { trouble(error); }
}

// --- panels --------------------------------------------------------------------------------------------------------------
function drawer(url) {
  $("drawer").hidden = false;
  window.htmx.ajax("GET", url, "#drawer-body").then(() => {
    const field = $("drawer-body").querySelector("textarea, select");
    (field ?? $("drawer-body")).focus();
  });
}
const place = (url) => url.replace("PROPOSITION", active.parentElement.dataset.proposition).replace("DIMENSION", active.dataset.dimension);
function closeDrawer() { $("drawer").hidden = true; $("drawer-body").replaceChildren(); active.focus(); }
$("drawer").addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.requestConfig.verb !== "post" || !event.detail.successful) return;
  if (event.detail.requestConfig.path.includes("/comments/")) active.setAttribute("data-thread", "");
  else active.parentElement.setAttribute("data-flagged", "");
});

function highlight(actor) {
  if (!window.CSS?.highlights) return;
  const node = $("story-text").firstChild;
  const ranges = [];
  const name = actor.trim();
  if (node && name && name.toLowerCase() !== "world") {
    for (let at = node.data.indexOf(name); at >= 0; at = node.data.indexOf(name, at + name.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + name.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("actor", new Highlight(...ranges));
}

const commands = {
  undo,
  next: () => nextWhere((cell) => !cell.dataset.label),
  flagged: () => nextWhere((cell) => cell.parentElement.hasAttribute("data-flagged") && cell.parentElement.cells[1] === cell),
  help: () => $("help").showModal(),
  "close-drawer": closeDrawer,
  "quick-yes": () => answerQuick(true),
  "quick-no": () => answerQuick(false),
};

grid.addEventListener("focusin", (event) => { const cell = event.target.closest("td"); if (cell && cell !== active) activate(cell, false); });
grid.addEventListener("click", (event) => { const cell = event.target.closest("td"); if (cell) activate(cell); });
grid.addEventListener("mouseover", (event) => { const actor = event.target.closest("tr")?.querySelector("[data-actor]"); if (actor) highlight(actor.textContent); });
document.addEventListener("click", (event) => { const command = event.target.closest("[data-command]")?.dataset.command; if (command) commands[command](); });

document.addEventListener("keydown", (event) => {
  const { key } = event;
  if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "z" && !event.target.closest("textarea, input")) { event.preventDefault(); undo(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (held) {
    if (key === "Enter" || key === "Escape") { event.preventDefault(); answerQuick(key === "Enter"); }
    return;
  }
  if (key === "Escape" && !$("drawer").hidden) { event.preventDefault(); closeDrawer(); return; }
  if (event.target.closest("textarea, input, select, button, a, summary") || !active) return;
  const label = /^[0-9]$/.test(key) && dimensions.get(active.dataset.dimension).labels.find((one) => String(one.digit) === key);
  const action = label ? () => choose(label.value) : {
    ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1), ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0),
    Home: () => move(0, -99), End: () => move(0, 99), PageDown: () => move(10, 0), PageUp: () => move(-10, 0),
    Enter: onward, Delete: () => choose(""), Backspace: () => choose(""),
    n: commands.next, f: commands.flagged, "?": commands.help, u: undo,
    g: () => drawer(place(settings.urls.guideline)), c: () => drawer(place(settings.urls.comments)), x: () => drawer(place(settings.urls.flag)),
    s: () => { location.href = $("next-story").href; },
  }[key];
  if (action) { event.preventDefault(); action(); }
});

window.addEventListener("beforeunload", (event) => { if (pending().length) event.preventDefault(); });
window.addEventListener("online", flush);
for (const change of pending()) { const cell = find(change); if (cell) show(cell, change.label, "saving"); }
progress();
activate(cells.flat().find((cell) => !cell.dataset.label) ?? cells[0][0]);
flush();
performance.mark("grid-ready");
document.documentElement.dataset.gridReady = "";
