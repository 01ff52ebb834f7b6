// Names of actors: what is typed is completed in the field itself, as a spreadsheet does, with the rest selected.
import { JOINT, WORLD } from "../actor_names.js";
import { EMPTY } from "./rows.js";

const SEPARATOR = new RegExp(`^(.*${JOINT}\\s*)(.*)$`, "is");
const JOIN = new RegExp(`\\s*${JOINT}\\s*$`, "i");

// Names in the order in which they are offered: the world, those that rows use, those that the story mentions.
export function namesOf(rows, mentioned) {
  const used = rows.map((row) => (row.state ?? EMPTY).actor.trim()).filter(Boolean);
  return [...new Set([WORLD, ...used, ...mentioned])];
}

// The names that Alt and a digit write: a number that a name has stays its own as long as the page is open. One that no text of
// the story mentions takes none, as it may be misspelt.
export class NumberedNames {
  constructor(mentioned, texts, most) {
    Object.assign(this, { known: new Set(mentioned.map((name) => name.toLowerCase())), texts: texts.join("\n").toLowerCase(), most });
    this.names = [];
  }

  // Gives the next numbers to those of `names` that have none yet; returns all with a number, in their order.
  give(names) {
    const fresh = names.filter((name) => !this.names.includes(name) && this.isNamed(name));
    this.names.push(...fresh.slice(0, this.most - this.names.length));
    return this.names;
  }

  // A group is named where each of its members is.
  isNamed(name) {
    const [, before, last] = SEPARATOR.exec(name) ?? [null, "", name];
    const member = last.trim().toLowerCase();
    const own = member === WORLD || this.known.has(member) || isWord(this.texts, member);
    return Boolean(member) && own && (!before || this.isNamed(before.replace(JOIN, "")));
  }
}
// A name in Latin letters stands in the text as a whole word; Chinese has no spaces between words.
function isWord(text, name) {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/[a-z]/.test(name) || !(/[\p{L}]/u.test(text[at - 1] ?? "") || /[\p{L}]/u.test(text[at + name.length] ?? ""))) return true;
  }
  return false;
}

// Completes the name that stands at the caret's end of `input`; each member of a group is completed by itself.
export function complete(input, event, names) {
  if (!event.inputType?.startsWith("insert") || event.inputType === "insertFromPaste" || event.isComposing) return;
  const { value, selectionStart } = input;
  if (selectionStart !== value.length) return;
  const [, before, typed] = SEPARATOR.exec(value) ?? [null, "", value];
  if (!typed) return;
  const whole = names.find((name) => name.length > typed.length && name.toLowerCase().startsWith(typed.toLowerCase()));
  if (!whole) return;
  input.value = before + whole;
  input.setSelectionRange(value.length, input.value.length);
}
