// Names of actors: what is typed is completed in the field itself, as a spreadsheet does, with the rest selected.
import { EMPTY } from "./rows.js";

const SEPARATOR = /^(.*(?:,|;|&|\band\b|和|与|、)\s*)(.*)$/is;
export const WORLD = "world";

// Names in the order in which they are offered: the world, those that rows use, those that the story mentions.
export function namesOf(rows, mentioned) {
  const used = rows.map((row) => (row.state ?? EMPTY).actor.trim()).filter(Boolean);
  return [...new Set([WORLD, ...used, ...mentioned])];
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
