// Rows that the server refused are not thrown away: by person and story they stay in this browser, until somebody puts them
// back or forgets them.
import { isEmpty } from "./rows.js";

const placeOf = (annotator, story) => `credence:refused-rows:${annotator}:${story}`;
export const refusedRows = (annotator, story) => JSON.parse(localStorage.getItem(placeOf(annotator, story)) ?? "[]");
export const forgetRefused = (annotator, story) => localStorage.removeItem(placeOf(annotator, story));

// Keeps the row of a change with its story, whichever story is open; a row without words is nothing to keep. Says whether it did.
export function keepRefused(annotator, { story, row, state }) {
  if (!state || isEmpty(state)) return false;
  const others = refusedRows(annotator, story).filter((other) => other.row !== row);
  localStorage.setItem(placeOf(annotator, story), JSON.stringify([...others, { row, state }]));
  return true;
}
