// The page of a new project: a short name is suggested from the name for as long as nobody has typed one.
const name = document.getElementById("id_name");
const short = document.getElementById("id_slug");

// Letters without their accents, everything else as single hyphens. A name of no Latin letter gives no suggestion.
const suggested = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[^a-z0-9_]+/g, "-")
  .slice(0, short.maxLength).replace(/^-+|-+$/g, "");

let own = short.value !== "";
short.addEventListener("input", () => { own = short.value !== ""; });
name.addEventListener("input", () => { if (!own) short.value = suggested(name.value); });
if (!own && name.value) short.value = suggested(name.value);
