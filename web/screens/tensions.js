// The tension board: five columns, as of any round.

import { html, nothing } from '../vendor/lit-html.js';
import { words } from '../format.js';
import { tensionBoard } from '../record_views.js';
import { hrefWith, replaceAddress } from '../router.js';
import { badge } from '../parts/badges.js';
import { entityLink, linkedText } from '../parts/entities.js';
import { empty } from '../parts/notices.js';

const COLUMNS = ['open', 'reopened', 'addressed', 'accepted', 'resolved'];

/** Cards drawn per column at first; the rest on request. */
const CARDS_SHOWN = 50;

/** A column with more cards than this gets more of the width. */
const FEW_CARDS = 2;

/** A longer text is folded: a board is read at a glance. */
const TEXT_CHARS_SHOWN = 180;

export class TensionScreen {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    /** @type {Set<string>} columns shown whole */
    this.whole = new Set();
  }

  view() {
    const rounds = (this.frame.record.rounds ?? []).map((/** @type {any} */ round) => String(round.round));
    const wanted = this.frame.query.get('round');
    // An address may name a round that the record does not have: then the board is as it is now.
    const round = wanted !== null && rounds.includes(wanted) ? wanted : null;
    const board = tensionBoard(this.frame.record, round === null ? null : Number(round));
    return html`<section class="tensions">${this.rounds(rounds, round)}${this.board(board)}</section>`;
  }

  /**
   * @param {string[]} rounds
   * @param {string | null} chosen
   */
  rounds(rounds, chosen) {
    if (rounds.length < 2) return nothing;
    const last = rounds.at(-1) ?? '';
    const value = chosen ?? last;
    return html`<label class="as-of">As of round <output>${value}</output>
      <input type="range" min=${rounds[0]} max=${last} step="1" .value=${value} @change=${(/** @type {Event} */ event) => this.choose(/** @type {HTMLInputElement} */ (event.target).value, last)}></label>`;
  }

  /**
   * @param {string} round
   * @param {string} last
   */
  choose(round, last) {
    replaceAddress(hrefWith({ round: round === last ? null : round }));
  }

  /** @param {Record<string, any[]>} board */
  board(board) {
    const total = COLUMNS.reduce((sum, column) => sum + (board[column]?.length ?? 0), 0);
    if (total === 0) return empty('No seat has raised a tension.');
    const [bare, filled] = [COLUMNS.filter((column) => !board[column]?.length), COLUMNS.filter((column) => board[column]?.length)];
    return html`${bare.length > 0 ? html`<p class="facts bare">${bare.map((column) => html`<span>${badge(column)} 0</span>`)}</p>` : nothing}
      <div class="board">${filled.map((column) => this.column(column, board[column] ?? []))}</div>`;
  }

  /**
   * @param {string} column
   * @param {any[]} cards
   */
  column(column, cards) {
    const shown = this.whole.has(column) ? cards : cards.slice(0, CARDS_SHOWN);
    return html`<section class="column ${cards.length > FEW_CARDS ? 'many' : ''}" aria-label=${column}>
      <h2>${badge(column)} <span class="soft">${cards.length}</span></h2>
      <ul>${shown.map((card) => this.card(card))}</ul>
      ${shown.length < cards.length ? html`<button type="button" class="quiet" @click=${() => { this.whole.add(column); this.frame.host.redraw(); }}>Show ${cards.length - shown.length} more</button>` : nothing}
    </section>`;
  }

  /** @param {any} card */
  card(card) {
    const text = card.description ?? card.content ?? '';
    const raised = (card.raised_by ?? card.contributors ?? []);
    return html`<li class="card">
      <p class="card-head">${entityLink(card.id)} <span class="soft">round ${card.round}</span></p>
      <p class="prose">${card.label}</p>
      ${text && text !== card.label ? tensionText(text) : nothing}
      <p class="soft">raised by ${[raised].flat().join(', ')}${card.owner ? html` · owner ${card.owner}` : nothing}${card.settled_by ? html` · ${card.settled_word} by ${linkedText(card.settled_by)}` : nothing}</p>
      ${card.reason ? html`<p class="soft">${linkedText(card.reason)}</p>` : nothing}
      ${card.acceptance ? html`<p class="soft">accepted: ${linkedText(card.acceptance)}</p>` : nothing}
      ${card.challenges.map((/** @type {any} */ one) => challenge(one, this.frame.record))}
    </li>`;
  }
}

/**
 * A rule of the ethos that the tension challenges, and what became of that.
 *
 * @param {{ rule_id: string, experts: string[], outcome: string }} one
 * @param {any} record
 */
function challenge(one, record) {
  const rule = (record.calibration?.rules ?? []).find((/** @type {any} */ rule) => rule.rule_id === one.rule_id);
  return html`<p class="challenge"><strong>Challenges ${one.rule_id}</strong> ${rule?.label ?? ''} <span class="soft">${words(one.outcome)}</span></p>`;
}

/** @param {string} text */
function tensionText(text) {
  const whole = html`<p class="prose soft">${linkedText(text)}</p>`;
  return text.length <= TEXT_CHARS_SHOWN ? whole : html`<details><summary>Show the text</summary>${whole}</details>`;
}
