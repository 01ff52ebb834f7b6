// Letters typed into one field without a longer pause are one change, and one step of undo.
import { newKey } from "./rows.js";

const BURST = 3000; // milliseconds without another letter
export const PAUSE = 600; // milliseconds after which what was typed is sent

export class Typing {
  constructor(queue) { Object.assign(this, { queue, burst: null }); }

  end() { this.burst = null; }

  // `change`: what the queue is told of the row, without its action.
  put(field, change) {
    const { burst } = this;
    const goesOn = burst && burst.row === change.row && burst.field === field && Date.now() - burst.at < BURST;
    if (goesOn && this.queue.amend(burst.key, { state: change.state })) {
      burst.at = Date.now();
      return;
    }
    const action = goesOn ? burst.action : newKey();
    const { idempotency_key: key } = this.queue.add({ ...change, action });
    this.burst = { row: change.row, field, key, action, at: Date.now() };
  }
}
