// The rows of a model's draft that an expert began with: what became of each, row by row and counted.
const FIELDS = ["actor", "belief", "order"];

export class ModelDraft {
  // `rows` says by the row of the draft which row of the model it began as; rows that were deleted since are in it, too.
  constructor({ rows }) { this.rows = new Map(Object.entries(rows)); }

  // A row that was split off or copied comes from where its parent does.
  follow({ row, parent }) {
    const began = parent && this.rows.get(parent);
    if (began && !this.rows.has(row)) this.rows.set(row, began);
  }

  isAsItCame({ uid, state }) {
    const began = this.rows.get(uid);
    return FIELDS.every((name) => state[name].trim() === began[name].trim());
  }

  // What stands beside the row; empty for a row of the expert's own.
  markOf(row) { return this.rows.has(row.uid) ? (this.isAsItCame(row) ? gettext("model") : gettext("model, edited")) : ""; }

  // Rows of the model of which nothing is left, each by a row of the draft that was it.
  deleted(live) {
    const left = new Set(live.map(({ uid }) => this.rows.get(uid)?.number));
    const gone = new Map([...this.rows].filter(([, began]) => !left.has(began.number)).map(([uid, began]) => [began.number, uid]));
    return [...gone].sort(([a], [b]) => a - b).map(([, uid]) => uid);
  }

  // True where nobody has worked on the table yet, which is then read from its first row.
  isUntouched(live) { return live.length === this.rows.size && live.every((row) => this.rows.has(row.uid) && this.isAsItCame(row)); }

  sentence(live) {
    const own = live.filter(({ uid }) => this.rows.has(uid));
    const kept = own.filter((row) => this.isAsItCame(row)).length;
    const counts = { kept, edited: own.length - kept, deleted: this.deleted(live).length, added: live.length - own.length };
    return gettext("Rows of the model: {kept} as it wrote them, {edited} edited, {deleted} deleted. Your own rows: {added}.", counts);
  }

  show(live) {
    document.getElementById("model-count").textContent = this.sentence(live);
    const gone = this.deleted(live);
    const place = document.getElementById("model-deleted");
    place.hidden = !gone.length;
    if (place.dataset.shown === gone.join()) return;
    place.dataset.shown = gone.join();
    place.querySelector("ul").replaceChildren(...gone.map((uid) => {
      const { actor, belief } = this.rows.get(uid);
      const line = document.createElement("li");
      const words = gettext("{actor}: {belief}", { actor, belief });
      const button = Object.assign(document.createElement("button"), { type: "button", className: "button button-small", textContent: gettext("Put back") });
      button.dataset.putBack = uid;
      button.setAttribute("aria-label", gettext("Put back: {row}", { row: words }));
      line.append(Object.assign(document.createElement("bdi"), { textContent: words }), " ", button);
      return line;
    }));
  }
}
