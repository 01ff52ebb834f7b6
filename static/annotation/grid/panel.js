// The panel under the story: the guideline of the active column, the comments of a cell, the flag of a row.
import { commented, flagged } from "./cells.js";

const panel = document.getElementById("panel");
const body = document.getElementById("panel-body");
const guidelines = new Map();
const paragraph = (text, className = "muted") => Object.assign(document.createElement("p"), { textContent: text, className });

export class Panel {
  // `active()` is the active cell, `rows` are those of the table; who `reads` does not begin to write in what opens.
  constructor({ annotator, urls, active, rows = [], reads = false }) {
    Object.assign(this, { annotator, urls, active, rows, reads });
    body.addEventListener("input", ({ target }) => this.#draft(target));
    body.addEventListener("htmx:afterSettle", () => this.#restore());
    for (const failure of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) body.addEventListener(failure, failed);
    // The server says that it kept the remark before htmx swaps the panel, so the form still names its place.
    body.addEventListener("credence:commented", ({ target }) => this.#kept(target, commented));
    body.addEventListener("credence:flagged", ({ target }) => this.#kept(target, flagged));
  }

  get shows() { return panel.hidden ? "" : panel.dataset.kind; }

  async open(kind) {
    const { proposition } = this.active().parentElement.dataset;
    const url = this.urls[kind].replace("PROPOSITION", proposition).replace("DIMENSION", this.active().dataset.dimension);
    panel.hidden = false;
    panel.dataset.kind = kind;
    if (kind === "guideline") return this.follow();
    body.replaceChildren(paragraph(gettext("One moment…")));
    await window.htmx.ajax("GET", url, "#panel-body");
    ((!this.reads && body.querySelector("textarea")) || body).focus();
  }

  close() {
    panel.hidden = true;
    this.active().focus();
  }

  // The guideline stays open beside the grid and follows the active column; each is fetched once.
  async follow() {
    if (this.shows !== "guideline") return;
    const key = this.active().dataset.dimension;
    if (!guidelines.has(key)) {
      const place = document.createElement("div");
      guidelines.set(key, place);
      body.replaceChildren(place);
      await window.htmx.ajax("GET", this.urls.guideline.replace("DIMENSION", key), place);
      if (!place.childElementCount) guidelines.delete(key);
    }
    if (this.shows === "guideline" && this.active().dataset.dimension === key) {
      body.replaceChildren(guidelines.get(key) ?? paragraph(gettext("The guideline could not be loaded.")));
    }
  }

  #drafted(form) { return `credence:draft:${this.annotator}:${form.dataset.draft}`; }

  #draft(field) {
    if (field.matches("textarea")) sessionStorage.setItem(this.#drafted(field.form), field.value);
  }

  #restore() {
    const field = body.querySelector("form[data-draft] textarea");
    if (field && !field.value) field.value = sessionStorage.getItem(this.#drafted(field.form)) ?? "";
  }

  #kept(target, change) {
    const form = target.closest("form") ?? body.querySelector("form");
    sessionStorage.removeItem(this.#drafted(form));
    const row = this.rows.find((candidate) => form.dataset.draft.includes(`/${candidate.dataset.proposition}/`));
    change(row, form.dataset.draft.split("/").at(-2));
  }
}

function failed() {
  body.querySelector(".panel-trouble")?.remove();
  const trouble = paragraph(gettext("That could not be sent or loaded. What you wrote is kept; try again."), "panel-trouble callout callout-error");
  trouble.setAttribute("role", "alert");
  body.append(trouble);
}
