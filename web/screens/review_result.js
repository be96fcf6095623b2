// The result of a review: the verdict, what to change and where, who would block, the policy's count.

import { html, nothing } from '../vendor/lit-html.js';
import { age, words } from '../format.js';
import { badge, decisionOf } from '../parts/badges.js';
import { entityLink } from '../parts/entities.js';
import { sourcedText, sourceHint } from '../parts/sentences.js';

const MEANINGS = /** @type {Record<string, string>} */ ({
  SHIP: 'The document can go out.', REVISE: 'The document needs changes first.', HOLD: 'The document must not go out.',
  INCOMPLETE: 'The gate could not decide.', SKIPPED: 'A rule leaves this document out.',
});

/** @param {any} record */
export function reviewResult(record) {
  const { review } = record;
  const override = (review.overrides ?? []).at(-1);
  const decision = decisionOf(review) ?? review.verdict;
  return html`<section class="review-result" aria-label="Verdict">
    <p class="verdict-word">${badge(decision.toLowerCase(), decision)} <span class="prose">${MEANINGS[decision] ?? ''}</span></p>
    ${override ? html`<p class="notice warn"><strong>Overridden</strong>: the gate said ${review.verdict}; ${override.by ?? 'a person'} decided ${decision}: ${override.why}</p>` : nothing}
    <p class="facts"><span>${review.artifact}</span><span>${words(review.artifact_type ?? '')}</span><span>tier ${review.tier}</span>${review.producer ? html`<span>by ${review.producer}</span>` : nothing}</p>
    ${review.error ? html`<p class="notice bad"><strong>${review.error.message}</strong></p>` : nothing}
    ${review.revision_brief ? html`<h2>What to change</h2>${brief(review.revision_brief)}${sourceHint(record)}` : nothing}
    ${concerns(review.concerns ?? [])}
    ${review.adjudicator ? html`<h2>Why</h2><p class="prose">${sourcedText(review.adjudicator.reasoning, 'verdict.gate')}</p>` : nothing}
    ${judgements(review)}
    ${policy(review)}
    ${(review.prior_verdicts ?? []).length > 0 ? html`<details class="layer"><summary>Earlier verdicts of this type</summary><ul>${review.prior_verdicts.map((/** @type {any} */ prior) => html`<li>${badge((prior.verdict ?? prior.final_verdict ?? '').toLowerCase(), prior.verdict ?? prior.final_verdict)} ${prior.artifact} <span class="soft">${prior.ts ? age(prior.ts) : ''}</span></li>`)}</ul></details>` : nothing}
  </section>`;
}

/** The adjudicator numbers the changes and names their concerns: ``1. … (`skeptic-1`)``.
 * @param {string} text
 */
function brief(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const items = lines.map((line) => /^\d+\.\s+(.*?)(?:\s+\(`([^`]+)`\))?$/.exec(line));
  if (items.length === 0 || items.includes(null)) return html`<p class="prose brief">${sourcedText(text, 'verdict.gate')}</p>`;
  return html`<ol class="changes">${items.map((item) => html`<li class="prose">${sourcedText(item?.[1] ?? '', 'verdict.gate')} ${item?.[2] ? html`<code class="soft">${item[2]}</code>` : nothing}</li>`)}</ol>`;
}

/** A concern is a claim of the record, and the claim leads to the reply.
 * @param {any[]} items
 */
function concerns(items) {
  if (items.length === 0) return html`<p class="soft">No concern.</p>`;
  return html`<h2>Concerns</h2><ol class="concerns">${items.map((concern) => html`<li>
    <p class="facts"><strong>${words(concern.deliberator)}</strong>${concern.id ? html`<code>${concern.id}</code>` : nothing}${concern.blocking ? badge('hold', concern.irreducible ? 'blocks, cannot be revised away' : 'blocks') : nothing}${concern.line ? html`<span>line ${concern.line}</span>` : nothing}${concern.claim ? entityLink(concern.claim) : nothing}</p>
    ${concern.locus ? html`<blockquote>${concern.locus}${concern.quote_not_found ? html` <span class="warn">(not found in the document)</span>` : nothing}</blockquote>` : nothing}
    <p class="prose">${concern.issue}</p>${concern.fix ? html`<p class="prose"><strong>Fix:</strong> ${concern.fix}</p>` : nothing}</li>`)}</ol>`;
}

/** @param {any} review */
function judgements(review) {
  const first = new Map((review.round1 ?? []).map((/** @type {any} */ row) => [row.deliberator, row]));
  const rows = (review.round2?.length ? review.round2 : review.round1) ?? [];
  if (rows.length === 0) return nothing;
  return html`<details class="layer" open><summary>Deliberators</summary>
    <div class="scroll" tabindex="0" role="group" aria-label="Deliberators"><table><thead><tr><th scope="col">Seat</th><th scope="col">First reading</th><th scope="col">After reading the others</th><th scope="col">Scores</th></tr></thead>
    <tbody>${rows.map((/** @type {any} */ row) => html`<tr><th scope="row">${words(row.deliberator)}</th><td>${judgement(first.get(row.deliberator))}</td><td>${judgement(row)} <span class="soft">${row.delta_from_r1 ?? ''}</span></td>
      <td>${Object.entries(row.scores ?? {}).map(([name, score]) => html`<span class="score">${words(name)} ${score}</span> `)}</td></tr>`)}</tbody></table></div></details>`;
}

/** @param {any} row */
function judgement(row) {
  if (!row) return html`<span class="soft">–</span>`;
  if (row.absent) return badge('failed', `absent: ${words(row.error_type ?? '')}`);
  return html`${badge(row.verdict)}${row.would_block ? html` <span class="warn">would block</span>` : nothing}`;
}

/** @param {any} review */
function policy(review) {
  const counted = review.policy;
  if (!counted) return nothing;
  return html`<p class="soft">Policy <code>${counted.name}</code>: ${counted.present} present, ${counted.blocks} would block, ${counted.irreducible_blocks} irreducible: ${counted.computed}.${review.adjudicator ? ` The adjudicator decided ${review.adjudicator.final_verdict}.` : ''}</p>`;
}
