// Keys that the labelling grid and the adjudication pages read alike.

// Digits by key, and by position for keyboards whose digits need Shift. `others` are the keys that mean something else.
export const digitOf = ({ key, code, shiftKey }, others) =>
  (/^\d$/.test(key) ? key : !shiftKey && !others[key] && /^Digit(\d)$/.exec(code)?.[1]);

// `slow` may have to ask the server; what is typed meanwhile waits for it, so that everything happens in the order of the keys.
export function inTurnWith(slow) {
  let running = null;
  return (action) => {
    if (!running && action !== slow) return action();
    const turn = (running ?? Promise.resolve()).then(action).finally(() => {
      if (running === turn) running = null;
    });
    running = turn;
    return turn;
  };
}
