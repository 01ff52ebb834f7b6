// The list of models to choose from: a search over it, one press that ticks what the search leaves, and how many are ticked.
for (const tools of document.querySelectorAll("[data-model-tools]")) {
  const search = tools.querySelector("input[type=search]");
  const status = tools.querySelector("[role=status]");
  const rows = [...tools.parentElement.querySelectorAll("tbody tr")];
  const boxOf = (row) => row.querySelector("input[type=checkbox]");
  const count = () => {
    const ticked = rows.filter((row) => boxOf(row).checked).length;
    const visible = rows.filter((row) => !row.hidden).length;
    status.textContent = visible < rows.length
      ? gettext("{ticked} of {all} chosen, {visible} shown", { ticked, all: rows.length, visible })
      : gettext("{ticked} of {all} chosen", { ticked, all: rows.length });
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    count();
  };
  const tick = (checked, those = rows.filter((row) => !row.hidden)) => {
    const changed = those.map(boxOf).filter((box) => box.checked !== checked);
    for (const box of changed) box.checked = checked;
    count();
    changed[0]?.dispatchEvent(new Event("change", { bubbles: true })); // one estimate, whatever their number
  };
  // The search is not part of what is launched: it asks for no estimate and sends no form.
  search.addEventListener("input", (event) => { event.stopPropagation(); filter(); });
  search.addEventListener("change", (event) => event.stopPropagation());
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  tools.querySelector("[data-tick=all]").addEventListener("click", () => tick(true));
  tools.querySelector("[data-tick=none]").addEventListener("click", () => tick(false));
  tools.querySelector("[data-tick=baselines]")?.addEventListener("click", () => {
    tick(true, rows.filter((row) => row.hasAttribute("data-baseline")));
  });
  tools.parentElement.addEventListener("change", count);
  tools.hidden = false;
  filter();
}
