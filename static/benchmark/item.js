// The page of an item: of a long table of questions the row of this page is in sight.
for (const row of document.querySelectorAll(".table-tall tr[aria-current]")) {
  const box = row.closest(".table-tall");
  box.scrollTop = row.offsetTop - (box.clientHeight - row.offsetHeight) / 2;
}
