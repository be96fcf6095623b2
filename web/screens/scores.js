// The scoreboard: wisdom, consistency, truth and relationships by round; movement; who leads.

import { html, nothing } from '../vendor/lit-html.js';
import { count, percent } from '../format.js';
import { scoreboard } from '../record_views.js';
import { bar, lineChart } from '../parts/charts.js';
import { linkedText } from '../parts/entities.js';
import { empty } from '../parts/notices.js';

const PARTS = /** @type {[string, string][]} */ ([['wisdom', 'W'], ['consistency', 'C'], ['truth', 'T'], ['relationships', 'R']]);

export class ScoreScreen {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    this.version = -1;
    /** @type {any} */
    this.scores = null;
  }

  view() {
    if (this.version !== this.frame.version) {
      this.version = this.frame.version;
      this.scores = scoreboard(this.frame.record);
    }
    return this.board(this.scores);
  }

  /** @param {any} board */
  board(board) {
    if (this.frame.record.protocol !== 'alignment') return empty('This dialogue has no scores: only the Judge of an alignment dialogue gives them.');
    const rounds = board.rounds ?? [];
    if (rounds.length === 0) return empty('No round has a score yet.');
    const totals = board.totals ?? {};
    return html`<section class="scores">
      <dl class="meters">
        <div><dt>Alignment</dt><dd><strong>${count(totals.alignment?.total)}</strong> <span class="soft">${PARTS.filter(([name]) => typeof totals.alignment?.[name] === 'number').map(([name, letter]) => `${letter} ${count(totals.alignment[name])}`).join(' · ')}</span></dd></div>
        <div><dt>Tensions resolved</dt><dd><strong>${count(totals.tensions_resolved)}</strong> <span class="soft">of ${count(totals.tensions_total)}</span></dd></div>
        <div><dt>Experts consulted</dt><dd><strong>${count(totals.experts_consulted)}</strong></dd></div>
        <div><dt>Converged</dt><dd><strong>${totals.convergence_achieved ? 'yes' : 'no'}</strong> <span class="soft">${totals.convergence_reason ?? ''}</span></dd></div>
      </dl>
      <div class="charts">
        ${lineChart('Score', rounds.map((/** @type {any} */ round) => round.score), count)}
        ${lineChart('Velocity', rounds.map((/** @type {any} */ round) => round.velocity ?? null), count)}
        ${lineChart('Work remaining', rounds.map((/** @type {any} */ round) => round.work_remaining ?? null), count)}
        ${lineChart('Converge', rounds.map((/** @type {any} */ round) => round.converge_percent ?? null), percent)}
      </div>
      <h2>Rounds</h2>${roundTable(rounds)}
      <h2>Leaderboard</h2>${leaderboard(rounds)}
      <h2>Experts by round</h2>${rounds.map((/** @type {any} */ round) => expertTable(round, round === rounds.at(-1)))}
    </section>`;
  }
}

/** The sum of a part over the experts of a round; nothing if the round has only whole scores.
 * @param {any} round
 * @param {string} part
 */
function partOf(round, part) {
  const known = Object.values(round.experts ?? {}).map((row) => row[part]).filter((value) => typeof value === 'number');
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}

/** @param {any[]} rounds */
function roundTable(rounds) {
  const parts = PARTS.filter(([name]) => rounds.some((round) => partOf(round, name) !== null));
  const figures = FIGURES.filter(([, name]) => rounds.some((round) => isKnown(round[name])));
  return html`${parts.length > 0 ? html`<p class="soft hint">${parts.map(([name, letter]) => `${letter} ${name}`).join(', ')}.</p>` : nothing}
    <div class="scroll" tabindex="0" role="group" aria-label="Rounds"><table class="numbers">
    <thead><tr><th scope="col">Round</th>${parts.map(([name, letter]) => html`<th scope="col"><abbr title=${name}>${letter}</abbr></th>`)}${figures.map(([label]) => html`<th scope="col">${label}</th>`)}</tr></thead>
    <tbody>${rounds.map((round) => html`<tr class=${(round.blockers ?? []).length > 0 ? 'above-note' : ''}><th scope="row">${round.round} <span class="soft">${round.title ?? ''}</span></th>${parts.map(([name]) => html`<td>${count(partOf(round, name))}</td>`)}${figures.map(([, name, format]) => html`<td>${format(round[name])}</td>`)}</tr>${blockerRow(round.blockers ?? [], parts.length + figures.length + 1)}`)}</tbody></table></div>`;
}

const FIGURES = /** @type {[string, string, (value: number | null | undefined) => string][]} */ ([
  ['Score', 'score', count], ['Cumulative', 'cumulative', count], ['Velocity', 'velocity', count], ['Open tensions', 'open_tensions', count],
  ['New perspectives', 'new_perspectives', count], ['Work remaining', 'work_remaining', count], ['Converge', 'converge_percent', percent],
]);

/** @param {unknown} value */
function isKnown(value) {
  return value !== null && value !== undefined;
}

/** What keeps the panel from converging, below the figures of its round.
 * @param {any[]} blockers
 * @param {number} columns
 */
function blockerRow(blockers, columns) {
  if (blockers.length === 0) return '';
  return html`<tr><td class="text note" colspan=${columns}><div class="note-text"><span class="soft">What blocks:</span> ${blockerList(blockers)}</div></td></tr>`;
}

/** Bare ids stand in a row, sentences below each other.
 * @param {any[]} blockers
 */
function blockerList(blockers) {
  const texts = blockers.map((blocker) => (typeof blocker === 'string' ? blocker : String(blocker.id ?? JSON.stringify(blocker))));
  if (texts.every((text) => text.length <= 5)) return texts.map((text) => html`${linkedText(text)} `);
  return html`<ul class="plain">${texts.map((text) => html`<li>${linkedText(text)}</li>`)}</ul>`;
}

/** @param {any[]} rounds */
function leaderboard(rounds) {
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const round of rounds) {
    for (const [slug, row] of Object.entries(round.experts ?? {})) totals.set(slug, (totals.get(slug) ?? 0) + (row.total ?? 0));
  }
  const rows = [...totals].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const best = Math.max(1, rows[0]?.[1] ?? 1);
  return html`<ol class="leaders">${rows.map(([slug, total]) => html`<li><span>${slug}</span>${bar(total / best)}<strong class="number">${count(total)}</strong></li>`)}</ol>`;
}

/**
 * @param {any} round
 * @param {boolean} isOpen
 */
function expertTable(round, isOpen) {
  const experts = Object.entries(round.experts ?? {});
  const parts = PARTS.filter(([name]) => experts.some(([, row]) => isKnown(row[name])));
  const hasQuotes = experts.some(([, row]) => (row.quotes ?? []).length > 0 || isKnown(row.calibration));
  return html`<details class="round" ?open=${isOpen}><summary>Round ${round.round} <span class="soft">${round.title ?? ''}</span></summary>
    <div class="scroll" tabindex="0" role="group" aria-label="Experts of round ${round.round}"><table class="numbers"><thead><tr><th scope="col">Expert</th>${parts.map(([name, letter]) => html`<th scope="col"><abbr title=${name}>${letter}</abbr></th>`)}<th scope="col">Total</th>${hasQuotes ? html`<th scope="col" class="text">Quoted</th>` : nothing}</tr></thead>
    <tbody>${experts.map(([slug, row]) => html`<tr><th scope="row">${slug}</th>${parts.map(([name]) => html`<td>${count(row[name])}</td>`)}<td>${count(row.total)}</td>${hasQuotes ? html`<td class="text">${(row.quotes ?? []).map((/** @type {any} */ quote) => html`<q>${typeof quote === 'string' ? quote : quote.quote ?? ''}</q> `)}${row.calibration === undefined || row.calibration === null ? nothing : html`<span class="soft">calibration ${row.calibration}</span>`}</td>` : nothing}</tr>`)}</tbody></table></div></details>`;
}
