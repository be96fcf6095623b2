// Numbers, times and names as people read them.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const dateText = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const momentText = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit',
});
const numberText = new Intl.NumberFormat('en-US');
const clockText = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** @param {number | null | undefined} usd */
export function money(usd) {
  if (usd === null || usd === undefined) return 'unknown price';
  if (usd === 0) return '$0';
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** @param {number | null | undefined} value */
export function count(value) {
  return value === null || value === undefined ? '–' : numberText.format(value);
}

/**
 * @param {number} value
 * @param {string} noun
 */
export function plural(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** @param {number | null | undefined} ms */
export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.round(ms / 1000)} s`;
  const [minutes, seconds] = [Math.floor(ms / MINUTE_MS), Math.floor((ms % MINUTE_MS) / 1000)];
  if (ms < HOUR_MS) return seconds > 0 ? `${minutes} min ${seconds} s` : `${minutes} min`;
  return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
}

/**
 * @param {string} time
 * @param {number} [now]
 */
export function age(time, now = Date.now()) {
  const ms = now - Date.parse(time);
  if (Number.isNaN(ms)) return '';
  if (ms < MINUTE_MS) return 'just now';
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ago`;
  if (ms < 30 * DAY_MS) return `${Math.floor(ms / DAY_MS)} d ago`;
  return dateText.format(new Date(time));
}

/** @param {string} time */
export function date(time) {
  const parsed = new Date(time);
  return Number.isNaN(parsed.getTime()) ? time : dateText.format(parsed);
}

/** @param {string} time */
export function moment(time) {
  const parsed = new Date(time);
  return Number.isNaN(parsed.getTime()) ? time : momentText.format(parsed);
}

/** @param {string} time */
export function clock(time) {
  const parsed = new Date(time);
  return Number.isNaN(parsed.getTime()) ? time : clockText.format(parsed);
}

/** `voice_identity` → `voice identity`
 * @param {string} name
 */
export function words(name) {
  return name.replaceAll('_', ' ');
}

/** Who approved something; the program calls a person who gave no name the principal.
 * @param {string | null} name
 */
export function approverName(name) {
  return name === null || name === 'principal' ? 'a person' : name;
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * @param {string} text
 * @param {number} length
 */
export function shorten(text, length) {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('').trimEnd()}…`;
}

/** @param {number | null | undefined} share 0 to 100 */
export function percent(share) {
  return share === null || share === undefined ? '–' : `${Math.round(share * 10) / 10} %`;
}

/** What a seat is asked for: one name on every screen. */
const PURPOSES = /** @type {Record<string, string>} */ ({
  opinion: 'Opinion', review: 'Review', synthesis: 'Report',
  conclusion: 'Conclusion', audit: 'Audit', revision: 'Revision',
  judgement: 'Judgement', cross_reading: 'Cross-reading', adjudication: 'Adjudication',
  design: 'Design', panel: 'Panel', expert: 'Expert', contribution: 'Contribution', reconcile: 'Reconcile', verdicts: 'Verdicts',
});

/** The order in which a run asks for them. */
export const PURPOSE_ORDER = Object.keys(PURPOSES);

/** Steps after the last round, which the program numbers like rounds. */
const AFTER_ROUNDS = new Set(['conclusion', 'audit', 'revision', 'verdicts', 'design']);
const SECOND_AUDIT_ROUND = 7;

/**
 * @param {string} purpose
 * @param {number} [round]
 */
export function purposeName(purpose, round) {
  if (purpose === 'audit' && round === SECOND_AUDIT_ROUND) return 'Second audit';
  return PURPOSES[purpose] ?? capital(words(purpose));
}

/** `Opinion, round 1`; a conclusion is in no round.
 * @param {string} purpose
 * @param {number} round
 */
export function stageText(purpose, round) {
  const name = purposeName(purpose, round);
  return AFTER_ROUNDS.has(purpose) ? name.toLowerCase() : `${name.toLowerCase()}, round ${round}`;
}

/** The seat of the Judge of an alignment dialogue. */
export const JUDGE = 'the-judge';

/** The Judge has one name, as a seat and as an actor.
 * @param {string} seat
 */
export function seatName(seat) {
  return seat === JUDGE || seat === 'judge' ? 'the Judge' : seat;
}

const PROTOCOLS = /** @type {Record<string, string>} */ ({
  council: 'Council', review: 'Review', alignment: 'Alignment', dialogue: 'Dialogue',
});

/** @param {string} name */
export function protocolName(name) {
  return PROTOCOLS[name] ?? capital(words(name));
}
