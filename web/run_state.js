// What a run looks like now, folded from its events: seats, stages, cells, spending, the feed.

import { duration, JUDGE, plural, PURPOSE_ORDER, purposeName, seatName, words } from './format.js';

/**
 * @typedef {import('./live.js').RunEvent} RunEvent
 * @typedef {'waiting' | 'writing' | 'replied' | 'corrected' | 'retrying' | 'failed' | 'not_sent' | 'lost'} CellState
 * @typedef {{ state: CellState, note: string, text: string, since: string, until: string | null, latency: number | null,
 *   call: number | null, bytes: number, cost: number, tokensIn: number, tokensOut: number, stricter: boolean }} RunCell
 * @typedef {{ key: string, round: number, purpose: string, name: string }} RunStage
 * @typedef {{ seat: string, model: string, family: string, roles: string[], isPanel?: boolean }} RunSeat
 * @typedef {{ id: number, ts: string, tone: '' | 'good' | 'warn' | 'bad', who: string, text: string }} FeedLine
 */

/** Text kept per cell: enough for the reader's eye, not a second copy of the journal. */
const LIVE_TEXT_MAX = 20_000;
const FEED_LINES_MAX = 2000;

export class RunState {
  constructor() {
    this.title = '';
    this.mode = '';
    /** @type {RunSeat[]} */
    this.seats = [];
    /** @type {RunStage[]} */
    this.stages = [];
    /** @type {Map<string, RunCell>} by `stage|seat` */
    this.cells = new Map();
    /** @type {Map<number, string>} the cell of each request */
    this.asks = new Map();
    /** @type {FeedLine[]} */
    this.feed = [];
    this.events = 0;
    this.cost = 0;
    this.unpriced = 0;
    this.tokens = 0;
    this.calls = 0;
    /** @type {string | null} */
    this.startedAt = null;
    /** @type {string | null} */
    this.endedAt = null;
    /** When a process worked on the run: a run that is resumed has several spans; the last may be open.
     * @type {{ start: number, end: number | null }[]} */
    this.spans = [];
    /** @type {number} the newest event */
    this.lastAt = 0;
    /** @type {RunEvent | null} */
    this.stop = null;
    /** The rules that bind the run, as of their last change. @type {{ status: string, open_conflicts: number, approved_by: string | null } | null} */
    this.ethos = null;
    this.starts = 0;
    this.rehearsal = false;
    /** @type {any} */
    this.limits = null;
    /** A dialogue that an agent leads has events, but no plan. */
    this.isPlanned = false;
  }

  /** Whether a person must decide before the run can continue; `decided` once they have.
   * @returns {'' | 'open' | 'decided'}
   */
  get wait() {
    if (this.stop?.['stop'] !== 'uncalibrated') return '';
    return this.ethos?.open_conflicts === 0 ? 'decided' : 'open';
  }

  /** The seats that read a whisper: an alignment dialogue begins with providers, not with seats.
   * @param {string} protocol
   */
  listenersOf(protocol) {
    return this.seats.filter((seat) => protocol !== 'alignment' || seat.isPanel || seat.seat === JUDGE);
  }

  get isOver() {
    return this.stop !== null;
  }

  /** The time in which a process worked on the run, up to a moment.
   * @param {number} now
   */
  elapsed(now) {
    const until = Number.isNaN(now) ? this.lastAt : now;
    return this.spans.reduce((sum, { start, end }) => sum + Math.max(0, Math.min(until, end ?? until) - start), 0);
  }

  /** The number of the span in which a moment lies.
   * @param {number} time
   */
  spanOf(time) {
    return this.spans.findLastIndex(({ start }) => start <= time);
  }

  endSpan() {
    const last = this.spans.at(-1);
    if (last) last.end ??= this.lastAt;
  }

  /** The seats asked so far, and those of them with an answer. */
  get panel() {
    const [asked, answered] = [new Set(), new Set()];
    for (const [place, cell] of this.cells) {
      const [stage = '', seat = ''] = place.split('|');
      // The Judge of an alignment dialogue is not of its panel.
      if (/:(design|panel|reconcile|verdicts)$/.test(stage)) continue;
      asked.add(seat);
      if (cell.state === 'replied' || cell.state === 'corrected') answered.add(seat);
    }
    return { attempted: asked.size, succeeded: answered.size };
  }

  /**
   * @param {string} stage
   * @param {string} seat
   */
  cell(stage, seat) {
    return this.cells.get(`${stage}|${seat}`);
  }

  /** @param {RunEvent} event */
  take(event) {
    if (event.event === 'writing') return void takeWriting(this, event);
    const step = STEPS[event.event];
    this.events += 1;
    // A process that was killed says nothing of its end: the event before the next start is the last
    // that it wrote.
    if (event.event === 'started') this.endSpan();
    this.lastAt = Date.parse(event.ts ?? '') || this.lastAt;
    step?.(this, event);
    const line = describe(event);
    if (line) {
      this.feed.push({ id: this.events, ts: event.ts ?? '', ...line });
      if (this.feed.length > FEED_LINES_MAX) this.feed.splice(0, this.feed.length - FEED_LINES_MAX);
    }
  }

  /**
   * @param {RunEvent} event
   * @returns {RunCell | null}
   */
  cellOf(event) {
    const ask = event.ask;
    if (!ask) return null;
    const key = `${ask.round}:${ask.purpose}`;
    if (!this.stages.some((stage) => stage.key === key)) {
      this.stages.push({ key, round: ask.round, purpose: ask.purpose, name: this.stageName(ask) });
      this.stages.sort((a, b) => a.round - b.round || purposeOrder(a.purpose) - purposeOrder(b.purpose));
    }
    if (!this.seats.some((seat) => seat.seat === ask.seat)) {
      this.seats.push({ seat: ask.seat, model: '', family: '', roles: [] });
    }
    const place = `${key}|${ask.seat}`;
    this.asks.set(ask.id, place);
    let cell = this.cells.get(place);
    if (!cell) {
      cell = {
        state: 'waiting', note: '', text: '', since: event.ts ?? '', until: null, latency: null,
        call: null, bytes: 0, cost: 0, tokensIn: 0, tokensOut: 0, stricter: false,
      };
      this.cells.set(place, cell);
    }
    return cell;
  }

  /** @param {{ round: number, purpose: string }} ask */
  stageName(ask) {
    const isSecond = ask.purpose === 'audit' && this.stages.some((stage) => stage.purpose === 'audit' && stage.round < ask.round);
    const name = isSecond ? 'Second audit' : purposeName(ask.purpose, ask.round);
    return ['panel', 'expert', 'reconcile'].includes(ask.purpose) ? `R${ask.round} ${name.toLowerCase()}` : name;
  }
}

const RUN_ORDER = ['design', 'ethos_conflicts', 'panel', 'expert', 'reconcile', 'verdicts'];

/** @param {string} purpose */
function purposeOrder(purpose) {
  const place = [RUN_ORDER, PURPOSE_ORDER].map((order) => order.indexOf(purpose)).find((at) => at >= 0);
  // A purpose that the page does not know keeps the order in which it was asked.
  return place ?? PURPOSE_ORDER.length;
}

const encoder = new TextEncoder();

/**
 * A part of a reply. `bytes` is the length of the whole reply so far, so a part of that length is
 * the whole text: after a reconnection, or of a new attempt.
 *
 * @param {RunState} run
 * @param {RunEvent} event
 */
function takeWriting(run, event) {
  const cell = run.cells.get(run.asks.get(event['ask']) ?? '');
  if (!cell || cell.until) return;
  const part = event['text'] ?? '';
  const isWhole = encoder.encode(part).length >= event['bytes'];
  const text = isWhole ? part : cell.text + part;
  cell.state = 'writing';
  cell.bytes = event['bytes'];
  cell.text = text.length > LIVE_TEXT_MAX ? text.slice(-LIVE_TEXT_MAX) : text;
}

/** @type {Record<string, (run: RunState, event: RunEvent) => void>} */
const STEPS = {
  opened(run, event) {
    run.isPlanned = true;
    run.title = event.title ?? '';
    run.mode = event.mode ?? '';
    run.rehearsal = Boolean(event.rehearsal);
    run.seats = (event.seats ?? []).map((/** @type {RunSeat} */ seat) => ({ ...seat }));
    run.limits = event["limits"] ?? null;
  },
  seats_added(run, event) {
    for (const seat of /** @type {RunSeat[]} */ (event['seats'] ?? [])) {
      const known = run.seats.find((one) => one.seat === seat.seat);
      if (known) Object.assign(known, seat, { isPanel: true });
      else run.seats.push({ ...seat, isPanel: true });
    }
  },
  started(run, event) {
    run.starts = event.start ?? run.starts + 1;
    run.spans.push({ start: run.lastAt, end: null });
    run.startedAt ??= event.ts ?? null;
    run.stop = null;
    run.endedAt = null;
    for (const cell of run.cells.values()) {
      if (!cell.until && cell.state === 'writing') cell.state = 'lost';
    }
  },
  asked(run, event) {
    const cell = run.cellOf(event);
    if (!cell) return;
    cell.state = 'waiting';
    cell.until = null;
    cell.stricter ||= Boolean(event.stricter);
    if (event.stricter) cell.note = 'asked again, more strictly';
  },
  call_sent(run, event) {
    const cell = run.cellOf(event);
    if (!cell) return;
    run.calls += 1;
    cell.state = 'writing';
    cell.text = '';
    cell.bytes = 0;
    cell.until = null;
    cell.latency = null;
    cell.since = event.ts ?? cell.since;
    cell.call = event.call ?? null;
    if (event.fallback) cell.note = `by ${event.transport}, because ${event.fallback.from} failed`;
    else if (event.attempt > 1) cell.note = `attempt ${event.attempt}`;
  },
  replied(run, event) {
    const cell = run.cellOf(event);
    if (!cell) return;
    cell.state = 'replied';
    cell.until = event.ts ?? null;
    cell.latency = event.latency_ms ?? null;
    cell.cost += event.cost_usd ?? 0;
    cell.tokensIn += event.tokens_in ?? 0;
    cell.tokensOut += event.tokens_out ?? 0;
    run.cost += event.cost_usd ?? 0;
    if (event.cost_usd === null) run.unpriced += 1;
    run.tokens += (event.tokens_in ?? 0) + (event.tokens_out ?? 0);
  },
  call_failed(run, event) {
    const cell = run.cellOf(event);
    if (!cell) return;
    cell.state = event.gave_up ? 'failed' : 'retrying';
    cell.note = `${event.error_type}`;
    if (event.gave_up) cell.until = event.ts ?? null;
  },
  unreadable(run, event) {
    const cell = run.cellOf(event);
    if (!cell) return;
    cell.state = 'failed';
    cell.note = event.refusal ? 'refused to answer' : 'unreadable reply';
    cell.until = event.ts ?? null;
  },
  not_sent(run, event) {
    const cell = run.cellOf(event);
    if (!cell) return;
    cell.state = 'not_sent';
    cell.note = 'over the budget';
    cell.until = event.ts ?? null;
  },
  read: settle, drafted: settle, audited: settle, revised: settle, judged: settle, adjudicated: settle,
  designed: settle, panelled: settle, reconciled: settle,
  recorded(run, event) {
    run.ethos = event['ethos'] ?? run.ethos;
  },
  stopped(run, event) {
    run.stop = event;
    run.endSpan();
    run.endedAt = event.ts ?? null;
    for (const cell of run.cells.values()) {
      if (!cell.until && cell.state !== 'failed') cell.state = 'lost';
    }
  },
};

/**
 * @param {RunState} run
 * @param {RunEvent} event
 */
function settle(run, event) {
  const cell = run.cellOf(event);
  if (!cell) return;
  cell.state = cell.stricter || event.repaired ? 'corrected' : 'replied';
  cell.note = judgementOf(event);
  cell.until ??= event.ts ?? null;
}

/** @param {RunEvent} event */
function judgementOf(event) {
  if (event.event === 'read') return [event.stance, event.confidence && `${event.confidence} confidence`].filter(Boolean).join(', ');
  if (event.event === 'audited') return event.verdict === 'PASS' ? 'passed' : (event.objections?.length === 1 ? '1 objection' : `${event.objections?.length ?? 0} objections`);
  if (event.event === 'judged') return event.would_block ? `${event.verdict}, would block` : event.verdict;
  if (event.event === 'adjudicated') return event.final_verdict;
  if (event.event === 'revised') return (event.fields ?? []).join(', ').replaceAll('_', ' ');
  return '';
}

/** Where a seat of a panel comes from; those of the round before need no word. */
const SOURCES = /** @type {Record<string, string>} */ ({ created: ' (created)', pool: ' (from the pool)' });

/** What the Judge of an alignment dialogue does. */
const BY_JUDGE = new Set(['panel_set', 'seats_added', 'verdict_given', 'refused']);

/** @type {Record<string, (event: RunEvent) => [FeedLine['tone'], string]>} */
const LINES = {
  opened: (event) => ['', `planned the run with ${event.seats?.length ?? 0} seats`],
  started: (event) => ['', event.start > 1 ? `resumed the run (start ${event.start})` : 'started the run'],
  asked: (event) => ['', event.stricter ? `is asked again: ${event.stricter}` : `is asked for: ${stageWord(event)}`],
  call_failed: (event) => [event.gave_up ? 'bad' : 'warn', `call failed: ${event.message ?? event.error_type}${event.gave_up ? '' : '; a retry follows'}`],
  replied: (event) => ['', `replied in ${duration(event.latency_ms ?? 0)}`],
  unreadable: (event) => ['bad', event.refusal ? 'refused to answer' : `sent an unreadable reply: ${event.reason}`],
  not_sent: () => ['warn', 'was not asked: the budget does not cover the call'],
  shortcut: (event) => ['', event.triggered ? `skipped a round: ${event.reason}` : 'skipped no round'],
  seat_changed: (event) => ['', `continues with: ${(event['changes'] ?? []).map((/** @type {any} */ one) => `${words(one.field)} ${one.from} → ${one.to}`).join(', ')}`],
  seats_added: (event) => ['', `seated ${(event['seats'] ?? []).map((/** @type {RunSeat} */ seat) => `${seat.seat} (${seat.model})`).join(', ')}`],
  panel_set: (event) => ['', `set the panel of round ${event.round}: ${(event['experts'] ?? []).map((/** @type {any} */ one) => one.expert + (event.round === 0 ? '' : SOURCES[one.source] ?? '')).join(', ')}`],
  round_held: (event) => ['good', event['score'] === undefined ? `completed round ${event.round}` : `scored round ${event.round}${event.title ? `, ${event.title}` : ''}: ${event['score']}`],
  verdict_given: (event) => (event['forced'] ? ['warn', `NOT CONVERGED. A forced verdict: ${event['recommendation']}`] : [event['verdict_type'] === 'final' ? 'good' : '', `gave the ${words(event['verdict_type'] ?? '')} verdict${event['vote'] ? `, vote ${event['vote']}` : ''}: ${event['recommendation']}`]),
  refused: (event) => ['warn', `must fix a reply that the record refused: ${event.reason}`],
  reported: (event) => ['good', `reported: ${event.statement}`],
  intervened: (event) => ['warn', intervention(event)],
  drafted: () => ['', 'drafted the conclusion'],
  audited: (event) => [event.verdict === 'PASS' ? 'good' : 'warn', event.verdict === 'PASS' ? 'passed the conclusion' : `objected: ${event.objections?.map((/** @type {any} */ objection) => objection.objection).join('; ')}`],
  revised: (event) => ['', `revised ${judgementOf(event)}`],
  concluded: (event) => ['good', `concluded: ${event.terminal_state ?? 'without an audit'}`],
  judged: (event) => [event.would_block ? 'warn' : '', `judged ${judgementOf(event)}`],
  adjudicated: (event) => ['', `decided ${event.final_verdict}`],
  ruled: (event) => ['good', `ruled ${event.verdict}`],
  overridden: (event) => ['warn', `overrode the verdict: ${event.decision}, ${event.why}`],
  recorded: (event) => ['', event['ethos'] ? ethosText(event) : `recorded: ${words(String(event['kind'] ?? ''))}`],
  stopped: (event) => [event.stop === 'done' ? 'good' : 'warn', stopText(event)],
};

/** What happened to the rules of the ethos.
 * @param {RunEvent} event
 */
function ethosText(event) {
  const { status, open_conflicts: open } = event['ethos'];
  if (status === 'approved') return 'approved the rules of the ethos';
  if (status === 'rejected') return 'rejected the rules of the ethos';
  const left = open > 0 ? `${plural(open, 'conflict')} of the ethos ${open === 1 ? 'is' : 'are'} open` : 'no conflict of the ethos is open';
  return event['kind'] === 'ethos_decided' ? `resolved a conflict: ${left}` : `chose the rules: ${left}`;
}

/** @param {RunEvent} event */
function describe(event) {
  const line = LINES[event.event];
  if (!line) return event.event === 'call_sent' || event.event === 'read' || event.event === 'logged' ? null : unknownLine(event);
  const [tone, text] = line(event);
  return { tone, who: actor(event), text };
}

/** @param {RunEvent} event */
function actor(event) {
  if (event.ask?.seat) return seatName(event.ask.seat);
  if (event.event === 'seat_changed') return event['seat'];
  if (event.event === 'intervened' || (event['kind'] === 'ethos_decided' && event['ethos']?.approved_by !== 'automatic')) return 'you';
  return BY_JUDGE.has(event.event) || event['score'] !== undefined ? 'the Judge' : 'Plenary';
}

/** @param {RunEvent} event */
function unknownLine(event) {
  return { tone: /** @type {FeedLine['tone']} */ (''), who: event.ask?.seat ?? 'Plenary', text: words(event.event) };
}

/** @param {RunEvent} event */
function stageWord(event) {
  return purposeName(event.ask?.purpose ?? '', event.ask?.round).toLowerCase();
}

/** @param {RunEvent} event */
function intervention(event) {
  if (event.kind === 'stop') return 'stopped the rounds; the run concludes on its answers';
  const to = event.to ? ` to ${event.to}` : '';
  return `${event.kind === 'direct' ? 'directed' : `whispered${to}`}: ${event.text}`;
}

const STOPS = /** @type {Record<string, string>} */ ({
  done: 'finished', budget: 'stopped: the budget is spent', deadline: 'stopped: the time is over',
  interrupted: 'was interrupted', unconcluded: 'stopped before the conclusion was complete',
  unadjudicated: 'stopped without an adjudicator', stopped: 'was stopped before its first round was complete',
});

/**
 * @param {RunEvent} event
 * @param {boolean} [isDecided] whether a person has decided what the run waited for
 */
export function stopText(event, isDecided = false) {
  if (event.stop === 'quorum') return `stopped: round ${event.round} needs ${event.needed} answers and got ${event.heard}`;
  if (event.stop === 'families') return `stopped: ${event.needed} families needed, ${event.heard} answered`;
  if (event.stop === 'uncalibrated') return isDecided ? 'waited for a person, who has now decided all conflicts of its ethos' : `waits: a person must resolve ${plural(event['conflicts'] ?? 0, 'conflict')} of its ethos`;
  if (event.stop === 'unjudged') return `stopped: ${event.reason}`;
  if (event.stop === 'partial') return `stopped: ${event['seat']} failed in round ${event.round}, and every seat is needed`;
  return STOPS[event.stop] ?? `stopped: ${event.stop}`;
}
