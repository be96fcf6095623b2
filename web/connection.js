// Whether the server answers. Without an answer the page says so, offers no action, and asks again
// until the server is back.

import { ApiProblem, getJson, onResult } from './api.js';

const RETRY_MS = 2000;

/** A screen without a feed learns of a dead server by asking. */
const HEARTBEAT_MS = 5000;

export class ServerConnection {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    /** When the server last failed to answer for the first time, or null while it answers. @type {number | null} */
    this.lostAt = null;
    /** Whether a feed is open, which notices a loss by itself. */
    this.hasFeed = false;
    /** @type {(() => void)[]} */
    this.waiting = [];
    onResult((isAnswered) => (isAnswered ? this.find() : this.lose()));
    window.setInterval(() => { if (!this.hasFeed && this.lostAt === null && !document.hidden) void ask(); }, HEARTBEAT_MS);
  }

  get isLost() {
    return this.lostAt !== null;
  }

  lose() {
    if (this.lostAt !== null) return;
    this.lostAt = Date.now();
    this.onChange();
    void this.wait();
  }

  find() {
    if (this.lostAt === null) return;
    this.lostAt = null;
    for (const resume of this.waiting.splice(0)) resume();
    this.onChange();
  }

  /** Asks whether the server answers. */
  ask() {
    return ask();
  }

  async wait() {
    while (this.lostAt !== null) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      await ask();
    }
  }

  /** Resolves once the server answers. @returns {Promise<void>} */
  back() {
    return this.lostAt === null ? Promise.resolve() : new Promise((resolve) => { this.waiting.push(resolve); });
  }

  /**
   * Loads the code of a screen. Without a server it waits for the server.
   *
   * @template T
   * @param {() => Promise<T>} load
   * @returns {Promise<T>}
   */
  async loadCode(load) {
    try {
      return await load();
    } catch {
      await ask();
      await this.back();
    }
    try {
      return await load();
    } catch {
      // A browser may remember that a module failed; a new page has forgotten it.
      if (performance.now() > HEARTBEAT_MS) location.reload();
      throw new ApiProblem(0, 'unreachable', 'The page cannot be loaded from the server.', 'Reload the page.');
    }
  }
}

/** Any answer, also a refusal, comes from a server. */
async function ask() {
  try {
    await getJson('/api/health');
  } catch {
    // `onResult` has told it.
  }
}
