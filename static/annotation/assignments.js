// The page of assignments: who ticks a story means the ticked ones, and who unticks the last one all that the filter shows.
const scope = document.getElementById("id_scope");
const ticked = () => document.querySelector("input[name=stories]:checked");
document.addEventListener("change", ({ target }) => {
  if (target.matches("input[name=stories]")) scope.value = ticked() ? "chosen" : "all";
});
