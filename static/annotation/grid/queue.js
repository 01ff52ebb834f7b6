// Unsent changes. Each is an entry of localStorage until the server has acknowledged it, so that a crash, a reload, a second tab
// or a restarted server loses nothing. Sending one again is harmless: the server knows a change by its idempotency_key.
// Votes of the labelling grid and rows of a draft go through it, each under a `kind` of their own.
const BATCH = 100;
const BATCH_CHARACTERS = 60000;
const KEEPALIVE_CHARACTERS = 20000; // browsers refuse more than 64 kB
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 8000;
const DEADLINE = 20000;
const PATIENCE_WITH_OTHER_TAB = 5000; // then this tab sends what the other one, which may have crashed, has not

class Trouble extends Error {
  // kind: "offline" (no answer, or not one of ours), "login", "gone" (no longer assigned), "other" (another person is logged in)
  constructor(kind, message = kind) {
    super(message);
    this.kind = kind;
  }
}

// The cookie, not the page, has the token: logging in again in another tab changes it.
const token = () =>
  document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? JSON.parse(document.body.getAttribute("hx-headers"))["x-csrftoken"];

export async function request(url, body) {
  const options = { redirect: "manual", signal: AbortSignal.timeout(DEADLINE), headers: { Accept: "application/json" } };
  if (body) {
    const text = JSON.stringify(body);
    Object.assign(options, { method: "POST", body: text, keepalive: text.length < KEEPALIVE_CHARACTERS });
    Object.assign(options.headers, { "Content-Type": "application/json", "X-CSRFToken": token() });
  }
  const response = await fetch(url, options).catch(() => { throw new Trouble("offline"); });
  if (response.type === "opaqueredirect" || response.status === 401 || response.status === 403) throw new Trouble("login");
  if (response.status === 404) throw new Trouble("gone");
  const answer = await response.json().catch(() => { throw new Trouble("offline"); });
  if (response.status === 409) throw new Trouble("other", answer.error);
  if (response.status !== 200 && response.status !== 400) throw new Trouble("offline");
  return { refused: response.status === 400, ...answer };
}

const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function batchOf(changes) {
  let length = 0;
  const end = changes.slice(0, BATCH).findIndex((change, at) => at > 0 && (length += JSON.stringify(change).length) > BATCH_CHARACTERS);
  return changes.slice(0, end < 0 ? BATCH : end);
}

export class Queue {
  // `on`: queued(change), saved(change, row, isLast), refused(change, sentence), warnings(map), trouble(error or null), state()
  // `cellOf` names what a change is of: of two changes to one, the answer to the last one counts. With `delay` milliseconds a
  // change waits for those that follow, as letters do.
  constructor({ annotator, story, url, now, newest, on, kind = "votes", cellOf = (vote) => `${vote.proposition} ${vote.dimension}`, delay = 0 }) {
    Object.assign(this, { annotator, story, url, on, cellOf, delay, sending: null, failing: false, wait: 0, timer: null });
    this.prefix = `credence:${kind}:${annotator}:`;
    this.memory = new Map(); // stands in where the browser refuses storage
    this.offset = Date.parse(now) - Date.now();
    this.floor = newest ? Date.parse(newest) : 0;
    this.channel = new BroadcastChannel(this.prefix);
    this.channel.onmessage = ({ data }) => this.#hear(data);
  }

  // Oldest first. All stories of the annotator: votes left over from a story that is not open any more are sent as well.
  everything() {
    const changes = new Map(this.memory);
    for (const name of Object.keys(localStorage)) {
      if (!name.startsWith(this.prefix)) continue;
      try {
        const change = JSON.parse(localStorage.getItem(name));
        changes.set(change.idempotency_key, change);
      } catch { /* not ours */ }
    }
    const order = (change) => `${change.changed_at} ${change.idempotency_key}`;
    return [...changes.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }

  pending() { return this.everything().filter((change) => change.story === this.story); }

  // The server's clock, never behind a vote that stands and never twice the same: the later of two changes wins.
  #time() {
    this.floor = Math.max(this.floor + 1, Date.now() + this.offset);
    return new Date(this.floor).toISOString();
  }

  notBefore(moment) { this.floor = Math.max(this.floor, Date.parse(moment) + 1); }

  add(fields) {
    const change = { ...fields, changed_at: this.#time(), idempotency_key: newKey(), story: this.story, url: this.url };
    this.#keep(change);
    this.on.queued(change);
    this.channel.postMessage({ queued: change });
    this.#soon();
    return change;
  }

  // Changes what a change says while it has not been sent by any tab; null where it has been, or is none of ours.
  amend(key, fields) {
    const change = this.everything().find((queued) => queued.idempotency_key === key);
    if (!change || change.sent) return null;
    const amended = { ...change, ...fields };
    this.#keep(amended);
    this.on.queued(amended);
    this.channel.postMessage({ queued: amended });
    this.#soon();
    return amended;
  }

  #keep(change) {
    try {
      localStorage.setItem(this.prefix + change.idempotency_key, JSON.stringify(change));
    } catch {
      this.memory.set(change.idempotency_key, change);
    }
  }

  #soon() {
    if (!this.delay) return this.flush();
    if (!this.failing) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.flush(), this.delay);
    }
    return this.on.state();
  }

  #forget(change) {
    this.memory.delete(change.idempotency_key);
    localStorage.removeItem(this.prefix + change.idempotency_key);
  }

  flush() {
    clearTimeout(this.timer);
    this.sending ??= this.#sendAll().finally(() => {
      this.sending = null;
      this.on.state();
      if (this.failing || this.pending().length) this.timer = setTimeout(() => this.flush(), this.wait);
    });
    this.on.state();
    return this.sending;
  }

  // A story that was taken from the annotator keeps its unsent votes, and does not hold up those of other stories.
  async #sendAll() {
    const gone = new Set();
    try {
      for (let left = this.#sendable(gone); left.length; left = this.#sendable(gone)) {
        const { url } = left[0];
        try {
          await this.#send(batchOf(left.filter((change) => change.url === url)));
        } catch (error) {
          if (error.kind !== "gone") throw error;
          gone.add(url);
        }
      }
      if (gone.has(this.url)) throw new Trouble("gone");
      this.failing = false;
      this.wait = 0;
      this.on.trouble(null);
    } catch (error) {
      this.failing = true;
      this.wait = Math.min(this.wait ? this.wait * 2 : FIRST_WAIT, LONGEST_WAIT);
      this.on.trouble(error instanceof Trouble ? error : new Trouble("offline"));
    }
  }

  #sendable(gone) {
    const left = this.everything().filter((change) => !gone.has(change.url));
    const own = left.filter((change) => change.url === this.url);
    return own.length ? own : left;
  }

  // All or nothing on the server; a refused change must not hold the others up, so a refused batch goes one by one.
  async #send(batch) {
    if (this.delay) for (const change of batch) this.#keep({ ...change, sent: true }); // what may have arrived stays as it is
    const changes = batch.map(({ story, url, previous, sent, ...change }) => change);
    const answer = await request(batch[0].url, { annotator: this.annotator, changes });
    if (answer.refused && batch.length > 1) {
      for (const change of batch) await this.#send([change]);
    } else if (answer.refused) {
      this.#forget(batch[0]);
      this.#tell({ refused: batch[0], sentence: answer.error });
    } else {
      batch.forEach((change) => this.#forget(change));
      this.#tell({ saved: batch, answer });
    }
  }

  #tell(news) {
    this.channel.postMessage(news);
    this.#hear(news);
  }

  #hear({ queued, saved, refused, sentence, answer }) {
    if (queued) {
      this.notBefore(queued.changed_at);
      if (queued.story === this.story) this.on.queued(queued);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.flush(), PATIENCE_WITH_OTHER_TAB);
    }
    if (refused) this.on.refused(refused, sentence);
    if (saved?.[0].story === this.story) {
      const unsent = new Set(this.pending().map(this.cellOf));
      const last = new Map(answer.saved.map((row, at) => [this.cellOf(row), at]));
      saved.forEach((change, at) => {
        const row = answer.saved[at];
        const cell = this.cellOf(row);
        this.notBefore(row.changed_at);
        this.on.saved(change, row, !unsent.has(cell) && last.get(cell) === at);
      });
      this.on.warnings(answer.warnings);
    }
    this.on.state();
  }

  // The newest vote that the server has not seen and that was not taken back.
  lastUnsent() {
    const pending = this.pending();
    const takenBack = new Set(pending.map((change) => change.undoes));
    return pending.filter((change) => !change.undoes && !takenBack.has(change.idempotency_key)).at(-1);
  }

  // True once nothing of this story waits; false where that takes longer than `patience` milliseconds.
  async drained(patience = 3000) {
    const end = Date.now() + patience;
    while (this.pending().length && Date.now() < end) {
      await Promise.race([this.flush(), pause(100)]);
      if (this.failing) return false;
    }
    return this.pending().length === 0;
  }
}
