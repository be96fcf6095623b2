// Views that follow from the record alone: the graph of its entities, the tension board as of a
// round, the scores of its rounds.

import { seatName } from './format.js';
import { entityIndex } from './parts/entities.js';

/**
 * @param {any} record
 * @returns {import('./screens/graph.js').EntityGraph}
 */
export function entityGraph(record) {
  const entities = [...entityIndex(record).values()];
  return {
    nodes: entities.map(({ id, label, round, status, contributors }) => ({ id, kind: id.charAt(0), label, round, status, contributors })),
    edges: entities.flatMap((entity) => (entity.references ?? []).map(({ type, target }) => ({ source: entity.id, type, target }))),
  };
}

/** The state of a tension after an event; other events leave it as it is. */
const STATES = /** @type {Record<string, string>} */ ({
  created: 'open', opened: 'open', addressed: 'addressed', resolved: 'resolved', reopened: 'reopened',
});

/**
 * The tensions of the rounds up to `round`, by their state at its end.
 *
 * @param {any} record
 * @param {number | null} round null for now
 * @returns {Record<string, any[]>}
 */
export function tensionBoard(record, round) {
  const last = round ?? Infinity;
  /** @type {Record<string, any[]>} */
  const board = { open: [], reopened: [], addressed: [], accepted: [], resolved: [] };
  const accepted = acceptedTensions(record, last);
  for (const tension of record.tensions ?? []) {
    if (tension.round > last) continue;
    const known = (tension.events ?? []).filter((/** @type {any} */ event) => event.round <= last);
    const status = round === null ? tension.status : known.reduce((/** @type {string} */ state, /** @type {any} */ event) => STATES[event.type] ?? state, 'open');
    const settling = known.findLast((/** @type {any} */ event) => event.type === 'resolved' || event.type === 'addressed');
    const accepting = acceptanceOf(known);
    const isAccepted = accepting !== null || accepted.has(tension.id);
    const column = status !== 'resolved' && isAccepted ? 'accepted' : status;
    const acceptance = column === 'accepted' ? accepting || accepted.get(tension.id) || '' : null;
    const owner = round === null ? tension.owner : ownerIn(record, tension.id, round);
    const challenges = (record.calibration?.rule_challenges ?? []).filter((/** @type {any} */ one) => one.tension === tension.id);
    board[column]?.push({ ...tension, owner, challenges, settled_by: settledBy(settling), settled_word: settling?.type === 'resolved' ? 'settled' : 'addressed', reason: settling?.reason, acceptance });
  }
  return board;
}

/**
 * The expert whose seat on the panel of a round owns a tension.
 *
 * @param {any} record
 * @param {string} id
 * @param {number} round
 * @returns {string | undefined}
 */
function ownerIn(record, id, round) {
  const panel = (record.rounds ?? []).find((/** @type {any} */ one) => one.round === round)?.panel ?? [];
  return panel.find((/** @type {any} */ seat) => (seat.tensions ?? []).includes(id))?.expert_slug;
}

const ACCEPTED = 'accepted: ';

/**
 * Why the Judge accepted a tension, if it did so since the tension was last reopened.
 *
 * @param {any[]} events
 * @returns {string | null}
 */
function acceptanceOf(events) {
  const last = events.findLast((event) => event.type === 'reopened' || ((event.by ?? []).join() === 'judge' && event.reason?.startsWith(ACCEPTED)));
  return last && last.type !== 'reopened' ? last.reason.slice(ACCEPTED.length) : null;
}

/** @param {any} event */
function settledBy(event) {
  if (!event) return '';
  const by = (event.by ?? []).map(seatName).join(', ');
  if (!event.reference) return by;
  return /^[PRTEC]\d{4}$/.test(event.reference) ? `${by} through ${event.reference}` : `${by} in the ${event.reference === 'final' ? 'final verdict' : `verdict ${event.reference}`}`;
}

/**
 * @param {any} record
 * @param {number} last
 * @returns {Map<string, string>} by id, with the reason
 */
function acceptedTensions(record, last) {
  const found = new Map();
  for (const verdict of record.verdicts ?? []) {
    if (verdict.round > last) continue;
    for (const item of verdict.tensionsAccepted ?? []) {
      if (typeof item === 'string') found.set(item, '');
      else found.set(item.id, item.reason ?? '');
    }
  }
  return found;
}

/**
 * The record's own scoreboard, or what its rounds say: sums without their four parts.
 *
 * @param {any} record
 */
export function scoreboard(record) {
  if (record.scoreboard) return record.scoreboard;
  let [cumulative, before] = [0, 0];
  const rounds = (record.rounds ?? []).map((/** @type {any} */ round) => {
    cumulative += round.score ?? 0;
    const velocity = (round.score ?? 0) - before;
    before = round.score ?? 0;
    const open = countOpen(record, round.round);
    const fresh = (record.perspectives ?? []).filter((/** @type {any} */ one) => one.round === round.round).length;
    return {
      round: round.round, title: round.title, score: round.score, cumulative, velocity: round.round === record.rounds[0].round ? 0 : velocity,
      open_tensions: open.length, new_perspectives: fresh, work_remaining: open.length + fresh, converge_percent: convergePercent(record, round.round),
      blockers: open, experts: Object.fromEntries(Object.entries(round.experts ?? {}).filter(([, row]) => row.score !== null && row.score !== undefined).map(([slug, row]) => [slug, { total: row.score }])),
    };
  });
  const tensions = record.tensions ?? [];
  const final = (record.verdicts ?? []).find((/** @type {any} */ verdict) => verdict.type === 'final');
  return {
    rounds,
    totals: {
      rounds: rounds.length, alignment: { total: record.totalAlignment }, experts_consulted: (record.experts ?? []).length,
      tensions_resolved: tensions.filter((/** @type {any} */ one) => one.status === 'resolved').length, tensions_total: tensions.length,
      convergence_achieved: record.status === 'converged' && !final?.forced, convergence_reason: final?.vote ? `vote ${final.vote}` : '',
    },
  };
}

/**
 * @param {any} record
 * @param {number} round
 * @returns {string[]}
 */
function countOpen(record, round) {
  const board = tensionBoard(record, round);
  return ['open', 'addressed', 'reopened'].flatMap((column) => (board[column] ?? []).map((tension) => tension.id));
}

/**
 * The share of the round's panel that signalled agreement.
 *
 * @param {any} record
 * @param {number} round
 */
function convergePercent(record, round) {
  const panel = (record.rounds ?? []).find((/** @type {any} */ one) => one.round === round)?.panel ?? [];
  if (panel.length === 0) return null;
  const agreed = new Set((record.moves ?? []).filter((/** @type {any} */ move) => move.round === round && move.type === 'converge').map((/** @type {any} */ move) => move.expert));
  return (100 * agreed.size) / panel.length;
}

/**
 * The cost of the whole record in dollars, if it is known.
 *
 * @param {any} record
 * @returns {number | null}
 */
export function costOf(record) {
  const part = record.council ?? record.review ?? record.alignment;
  return record.cost_usd ?? part?.metrics?.session?.total_cost_estimate ?? null;
}

/**
 * Who answered, counted as the terminal does: a council by its opinions.
 *
 * @param {any} record
 * @returns {{ attempted: number, succeeded: number } | null}
 */
export function panelOf(record) {
  const panel = record.council?.panel ?? record.review?.panel ?? record.alignment?.panel ?? null;
  const opinions = record.council?.rounds?.r1?.opinions?.length;
  return panel && opinions !== undefined ? { ...panel, succeeded: opinions } : panel;
}
