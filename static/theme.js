// What every page needs. A classic script on purpose: it runs before the first paint, so no page flashes in the wrong theme.
(() => {
  const root = document.documentElement;

  // --- texts: as they are written here, or as the page's catalogue has them (one that goes with a number as a list of its
  // forms); the other scripts use these two, too ---
  let catalogue = null;
  const look = (text) => (catalogue ??= JSON.parse(document.getElementById("script-texts")?.textContent ?? "{}"))[text];
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  globalThis.gettext = (text, values = {}) => fill(look(text) ?? text, values);
  globalThis.ngettext = (singular, several, count, values = {}) => fill(look(singular)?.[0] ?? (count === 1 ? singular : several), { count, ...values });

  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const on = (type, act) => document.addEventListener(type, act);

  // --- theme: "light", "dark", or none, which is the system's ---
  const stored = () => {
    try { return localStorage.getItem("theme"); } catch { return null; } // storage may be forbidden
  };
  const show = (choice) => {
    if (choice === "light" || choice === "dark") root.dataset.theme = choice;
    else delete root.dataset.theme;
    for (const button of all("[data-theme-choice]")) {
      button.setAttribute("aria-pressed", button.dataset.themeChoice === (root.dataset.theme ?? "system"));
    }
  };
  const choose = (choice) => {
    try { localStorage.setItem("theme", choice); } catch { /* it then holds for this page */ }
    show(choice);
  };
  show(stored());
  on("DOMContentLoaded", () => show(stored()));
  window.addEventListener("storage", (event) => event.key === "theme" && show(event.newValue));

  // --- tables that scroll: where nothing in one can be stood on, the table itself is, so that arrows scroll it ---
  const STANDS = "a[href], button:enabled, input:enabled:not([type=hidden]), select, textarea, summary, [tabindex='0']";
  const reach = () => {
    for (const part of all(".table-scroll:is(:not([tabindex]), [data-reached])")) {
      const scrolls = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
      if (scrolls && !part.querySelector(STANDS)) {
        part.tabIndex = 0;
        part.dataset.reached = "";
      } else part.removeAttribute("tabindex");
    }
  };
  window.addEventListener("load", reach);
  window.addEventListener("resize", reach);
  on("htmx:afterSettle", reach);

  // --- menus: <details class="menu"> ---
  const closeMenus = (except) => {
    for (const menu of all("details.menu[open]")) if (!except || !menu.contains(except)) menu.open = false;
  };
  on("focusin", (event) => closeMenus(event.target));
  const keepInside = () => {
    for (const panel of all("details.menu[open] > .menu-panel")) {
      panel.style.translate = "";
      const { left, right } = panel.getBoundingClientRect();
      const beyond = Math.min(0, left - 8) || Math.max(0, right + 8 - root.clientWidth);
      if (beyond) panel.style.translate = `${-beyond}px`;
    }
  };
  document.addEventListener("toggle", ({ target: menu }) => {
    if (!menu.matches?.("details.menu") || !menu.open) return;
    keepInside();
    menu.querySelector(".menu-panel").scrollIntoView({ block: "nearest", inline: "nearest" });
  }, true); // a toggle does not bubble
  window.addEventListener("resize", keepInside);
  on("htmx:afterSettle", keepInside);
  on("keydown", (event) => {
    const menu = event.target.closest?.("details.menu");
    if (event.key === "Escape") {
      const open = document.querySelector("details.menu[open]");
      if (open) { open.open = false; open.querySelector("summary").focus(); }
      return;
    }
    if (!menu || !["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    menu.open = true;
    const items = all(".menu-panel :is(a, button)", menu);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = items.indexOf(document.activeElement);
    const next = step ? (at < 0 && step < 0 ? items.length - 1 : at + step) : event.key === "Home" ? 0 : items.length - 1;
    items[(next + items.length) % items.length]?.focus();
  });

  // --- toasts: also from the server, by the header HX-Trigger: {"toast": {"text": "…", "level": "success"}} ---
  const toasted = (text) => all(".toasts > .callout").find((item) => item.textContent === text);
  const toast = ({ text, level = "info" }) => {
    const box = document.getElementById("toasts");
    if (!box || !text || toasted(text)) return; // what is said already is not said twice
    const item = document.createElement("p");
    item.className = `callout callout-${level}`;
    item.textContent = text;
    const close = Object.assign(document.createElement("button"), { type: "button", className: "close", ariaLabel: gettext("Dismiss") });
    close.dataset.dismiss = "";
    item.append(close);
    box.append(item);
    if (level !== "error") setTimeout(() => item.remove(), 6000);
  };
  on("toast", (event) => toast(event.detail));

  // --- copying: the clipboard needs https, so the older way stands behind it ---
  const copy = async (button) => {
    const source = document.querySelector(button.dataset.copy);
    try { await navigator.clipboard.writeText(source.innerText); } catch {
      getSelection().selectAllChildren(source);
      document.execCommand("copy");
    }
    const before = button.textContent;
    button.textContent = gettext("Copied");
    setTimeout(() => (button.textContent = before), 1500);
  };

  on("click", (event) => {
    const hit = (selector) => event.target.closest(selector);
    closeMenus(event.target);
    if (hit("[data-theme-choice]")) choose(hit("[data-theme-choice]").dataset.themeChoice);
    if (hit("[data-dialog]")) document.getElementById(hit("[data-dialog]").dataset.dialog).showModal();
    if (hit("[data-dialog-close]")) hit("dialog").close();
    if (hit("[data-dismiss]")) hit(".callout").remove();
    if (hit("[data-copy]")) copy(hit("[data-copy]"));
  });
  on("change", (event) => {
    if (event.target.closest("form[data-autosubmit]")) event.target.form.requestSubmit();
  });

  // --- htmx: a bar while requests run, a sentence when one fails ---
  let running = 0;
  const count = (step) => () => {
    running = Math.max(0, running + step);
    root.toggleAttribute("data-busy", running > 0);
  };
  on("htmx:beforeRequest", count(1));
  on("htmx:afterRequest", count(-1));
  // What a page asks for by itself, again and again: one notice for all that fails, and it goes once an answer comes.
  const polls = (element) => /\bevery\b/.test(element?.getAttribute?.("hx-trigger") ?? "");
  let away = "";
  const failed = (why) => ({ detail }) => {
    if (!polls(detail.elt)) toast({ text: gettext("{trouble}; nothing was changed.", { trouble: why(detail) }), level: "error" });
    else if (!away) toast({ text: (away = gettext("{trouble}. The page tries again by itself.", { trouble: why(detail) })), level: "error" });
  };
  const answered = ({ detail }) => {
    if (!detail.successful || !away) return;
    toasted(away)?.remove();
    away = "";
  };
  on("htmx:sendError", failed(() => gettext("The server cannot be reached")));
  on("htmx:timeout", failed(() => gettext("The server does not answer")));
  on("htmx:responseError", failed(({ xhr }) => gettext("The server refused this ({status})", { status: xhr.status })));
  on("htmx:afterRequest", answered);

  // --- relative times: <time datetime data-relative> grows older with the page ---
  const words = new Intl.RelativeTimeFormat(root.lang || "en", { numeric: "auto" });
  const units = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];
  const refresh = () => {
    for (const time of all("time[data-relative]")) {
      const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000;
      const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
      time.textContent = unit === "second" ? gettext("just now") : words.format(Math.trunc(seconds / size), unit);
      time.title = new Date(time.dateTime).toLocaleString(root.lang.startsWith("zh") ? root.lang : undefined, { dateStyle: "long", timeStyle: "long" });
    }
  };
  on("DOMContentLoaded", refresh);
  on("htmx:load", refresh);
  setInterval(refresh, 30000);

  // --- forms that ask first: data-confirm on the form or on the button that sends it ---
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    const sentence = submitter?.dataset.confirm ?? form.dataset.confirm;
    if (!sentence || form.dataset.confirmed) return;
    event.preventDefault();
    const make = (tag, props, ...children) => { const node = Object.assign(document.createElement(tag), props); node.append(...children); return node; };
    const yes = make("button", { className: "button button-danger", type: "button" }, submitter?.dataset.confirmYes ?? submitter?.textContent.trim() ?? gettext("Go on"));
    const no = make("button", { className: "button", type: "button", autofocus: true }, gettext("Go back"));
    const dialog = make("dialog", { ariaLabel: gettext("Are you sure?") }, make("p", {}, sentence), make("div", { className: "button-row" }, no, yes));
    yes.addEventListener("click", () => { form.dataset.confirmed = "1"; dialog.close(); form.requestSubmit(submitter); });
    no.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  });
})();
