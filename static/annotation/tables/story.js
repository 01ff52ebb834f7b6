// The story beside the rows: its languages, and the mentions of an actor in the one that is shown.
import { announce } from "../grid/saving.js";
import { mark } from "../mentions.js";

export function highlight(name) {
  mark(document.querySelector("[data-language]:not([hidden])").firstChild, name);
}

// Shows the next language of the story; false where it has one alone.
export function translate() {
  const languages = [...document.querySelectorAll("[data-language]")];
  if (languages.length < 2) {
    announce(gettext("This story has no translation."));
    return false;
  }
  const at = languages.findIndex((text) => !text.hidden);
  languages.forEach((text, index) => { text.hidden = index !== (at + 1) % languages.length; });
  return true;
}
