// The page of importing answers: how far the upload is, and a preview that is out of date cannot be imported.
const form = document.querySelector("#answers");
const bar = document.querySelector("#sending progress");
const progress = document.querySelector("#sending span");
const preview = document.querySelector("#preview");
if (form) {
  const stale = () => {
    const button = preview.querySelector("[data-import]");
    if (!button) return;
    button.disabled = true;
    preview.querySelector("[data-stale]").hidden = false;
  };
  form.addEventListener("input", stale);
  form.addEventListener("change", stale);
  document.addEventListener("htmx:beforeRequest", () => {
    bar.removeAttribute("value");
    progress.textContent = gettext("sending the files…");
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target === preview) preview.parentElement.scrollIntoView({ block: "nearest" });
  });
  // htmx reports what is sent and what comes back alike; once all is sent, the server reads and the bar has no end.
  document.addEventListener("htmx:xhr:progress", (event) => {
    const { lengthComputable, loaded, total } = event.detail;
    if (lengthComputable && loaded < total) {
      bar.max = total;
      bar.value = loaded;
    } else {
      bar.removeAttribute("value");
      progress.textContent = gettext("reading…");
    }
  });
}
