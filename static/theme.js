// Light, dark, or as the system says; the choice is applied before the first paint. Classic script on purpose.
(() => {
  const root = document.documentElement;
  const stored = localStorage.getItem("theme");
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-switch]");
    if (button) {
      root.dataset.theme = dark() ? "light" : "dark";
      localStorage.setItem("theme", root.dataset.theme);
    }
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    const opener = event.target.closest("[data-dialog]");
    if (opener) document.getElementById(opener.dataset.dialog).showModal();
    if (event.target.closest("[data-dialog-close]")) event.target.closest("dialog").close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.closest("form[data-autosubmit]")) event.target.form.requestSubmit();
  });
})();
