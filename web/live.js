// The one event stream of the page. The browser reconnects by itself and names the last event it
// has; the server continues from the journal. Events that arrive twice are dropped here.

/**
 * @typedef {Record<string, any> & { event: string, dialogue_id: string, seq?: number, ts?: string }} RunEvent
 * @typedef {'connecting' | 'open' | 'lost' | 'closed'} FeedState
 */

const RETRY_MS = 2000;

export class LiveFeed {
  /** @param {(state: FeedState) => void} onState */
  constructor(onState) {
    this.onState = onState;
    /** @type {EventSource | null} */
    this.source = null;
    /** @type {Map<string, string>} the last journal position per dialogue */
    this.positions = new Map();
    /** @type {number | undefined} */
    this.retry = undefined;
    /** @type {string[]} */
    this.ids = [];
    this.lastId = '';
    /** @type {(event: RunEvent) => void} */
    this.onEvent = () => {};
    /** Runs when the stream is back after a loss. @type {() => void} */
    this.onReturn = () => {};
    this.wasLost = false;
  }

  /**
   * Follows these dialogues from the beginning of their journals, in place of those before.
   *
   * @param {string[]} ids
   * @param {(event: RunEvent) => void} onEvent
   */
  follow(ids, onEvent) {
    this.stop();
    this.ids = ids;
    this.onEvent = onEvent;
    this.positions.clear();
    this.lastId = '';
    if (ids.length > 0) this.connect();
  }

  /**
   * Learns that the store changed, without what changed.
   *
   * @param {() => void} onChange
   */
  followStore(onChange) {
    let isFirst = true;
    this.follow([], () => {
      // The stream begins with the present state of the store.
      if (!isFirst) onChange();
      isFirst = false;
    });
    this.connect();
  }

  stop() {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = null;
    this.ids = [];
    this.wasLost = false;
    this.onReturn = () => {};
    this.onState('closed');
  }

  connect() {
    const query = new URLSearchParams(this.ids.map((id) => ['dialogue', id]));
    if (this.lastId) query.set('after', this.lastId);
    const source = new EventSource(`/api/events?${query}`);
    this.source = source;
    this.onState('connecting');
    source.onopen = () => this.open();
    source.onerror = () => this.lose(source);
    source.onmessage = (message) => this.take(message);
  }

  open() {
    const wasLost = this.wasLost;
    this.wasLost = false;
    this.onState('open');
    if (wasLost) this.onReturn();
  }

  /**
   * The browser retries a cut connection. It gives up after an error status, for example while the
   * server restarts behind a proxy; then the page retries.
   *
   * @param {EventSource} source
   */
  lose(source) {
    if (source !== this.source) return;
    this.wasLost = true;
    this.onState('lost');
    if (source.readyState !== EventSource.CLOSED) return;
    this.retry = window.setTimeout(() => this.connect(), RETRY_MS);
  }

  /** @param {MessageEvent} message */
  take(message) {
    /** @type {RunEvent} */
    let event;
    try {
      event = JSON.parse(message.data);
    } catch {
      return;
    }
    if (event.event !== 'writing' && message.lastEventId) {
      this.lastId = message.lastEventId;
      const place = message.lastEventId;
      const last = this.positions.get(event.dialogue_id);
      if (last !== undefined && !isAfter(place, last)) return;
      this.positions.set(event.dialogue_id, place);
    }
    this.onEvent(event);
  }
}

/**
 * Positions are `seq.n`: the number of a journal entry, and the event's place in it.
 *
 * @param {string} place
 * @param {string} last
 */
export function isAfter(place, last) {
  const [seq, n] = numbers(place);
  const [lastSeq, lastN] = numbers(last);
  return seq > lastSeq || (seq === lastSeq && n > lastN);
}

/** @param {string} place */
function numbers(place) {
  const [seq = '0', n = '0'] = place.split('.');
  return /** @type {[number, number]} */ ([Number(seq), Number(n)]);
}
