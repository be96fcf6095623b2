// The calls of a run: when each began and ended, what it read and wrote, what it cost.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath, getJson } from '../api.js';
import { count, duration, money, percent, plural, purposeName, seatName, words } from '../format.js';
import { RemoteValue } from '../host.js';
import { hrefWith } from '../router.js';
import { badge } from '../parts/badges.js';
import { span } from '../parts/charts.js';
import { empty, failure, loading, settled } from '../parts/notices.js';
import { callDetails } from './source.js';

export class CallsScreen {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    /** @type {RemoteValue<{ calls: any[] }>} */
    this.remote = new RemoteValue(frame.host);
    /** @type {RemoteValue<any>} */
    this.call = new RemoteValue(frame.host);
    this.scrolledTo = '';
  }

  view() {
    const path = dialoguePath(this.frame.id, '/calls');
    const version = this.frame.isRunning ? this.frame.run.events : this.frame.version;
    this.remote.want(`${path} ${version}`, () => getJson(path));
    return settled(this.remote, 'the calls', ({ calls }) => this.table(calls));
  }

  drawn() {
    const call = this.frame.query.get('call') ?? '';
    if (!call || this.scrolledTo === call) return;
    const row = document.getElementById(`call-${call}`);
    if (!row) return;
    this.scrolledTo = call;
    row.scrollIntoView({ block: 'nearest' });
  }

  /** @param {any[]} calls */
  table(calls) {
    if (calls.length === 0) return empty('No call was made.');
    const times = calls.map((call) => this.workedAt(call));
    const start = Math.min(...times);
    const end = Math.max(...calls.map((call, index) => (times[index] ?? 0) + (call.duration_ms ?? 0)));
    const chosen = Number(this.frame.query.get('call'));
    const isMissing = chosen > 0 && !calls.some((call) => call.call === chosen);
    return html`<section class="calls">
      ${isMissing ? html`<p class="notice warn">This dialogue has no call ${chosen}; it has ${plural(calls.length, 'call')}.</p>` : nothing}
      ${totals(calls, end - start)}
      <div class="scroll" tabindex="0" role="group" aria-label="Calls"><table class="numbers">
        <thead><tr><th scope="col">Call</th><th scope="col" class="text">Seat</th><th scope="col" class="text model">Model</th><th scope="col" class="text time-line">Time</th><th scope="col">Duration</th><th scope="col">In</th><th scope="col">Cached</th><th scope="col">Out</th><th scope="col">Cost</th><th scope="col" class="text">State</th></tr></thead>
        <tbody>${calls.map((call, index) => html`${this.pause(calls[index - 1], call)}${this.row(call, start, end, chosen)}`)}</tbody></table></div>
    </section>`;
  }

  /** When a call began, on a clock that stands still while no process worked on the run.
   * @param {any} call
   */
  workedAt(call) {
    const { run } = this.frame;
    const time = Date.parse(call.started_at);
    return run.spans.length > 0 ? run.elapsed(time) : time;
  }

  /** The mark of a pause, which the time line leaves out.
   * @param {any} before
   * @param {any} call
   */
  pause(before, call) {
    const { run } = this.frame;
    const [last, next] = [before, call].map((one) => run.spanOf(Date.parse(one?.started_at)));
    const [end, start] = [run.spans[last ?? -1]?.end, run.spans[next ?? -1]?.start];
    if (last === next || !end || !start) return nothing;
    return html`<tr><td class="text soft" colspan="10">The run paused for ${duration(start - end)} and was resumed.</td></tr>`;
  }

  /**
   * @param {any} call
   * @param {number} start
   * @param {number} end
   * @param {number} chosen
   */
  row(call, start, end, chosen) {
    const whole = Math.max(1, end - start);
    const began = (this.workedAt(call) - start) / whole;
    const first = call.first_byte_ms && call.duration_ms ? call.first_byte_ms / call.duration_ms : 0;
    const remarks = [call.attempt > 1 ? `attempt ${call.attempt}` : '', call.fallback ? `instead of ${call.fallback.from ?? call.fallback}` : ''].filter(Boolean).join(', ');
    return html`<tr id="call-${call.call}" class=${call.call === chosen ? 'chosen' : ''}>
      <th scope="row"><a href=${hrefWith({ call: call.call === chosen ? null : call.call })} aria-expanded=${call.call === chosen} title="Show prompt and reply">${call.call}</a></th>
      <td class="text">${seatName(call.seat)} <span class="soft">${purposeName(call.purpose, call.round)}</span></td><td class="text model">${call.model} <span class="soft">${call.transport}</span></td>
      <td class="time-line">${span(Math.max(0, began), (call.duration_ms ?? 0) / whole, first, call.status === 'failed' ? 'bad' : '')}</td>
      <td>${duration(call.duration_ms)}</td><td>${count(call.tokens_in)}</td><td>${call.tokens_in && call.tokens_cached ? percent((100 * call.tokens_cached) / call.tokens_in) : '–'}</td><td>${count(call.tokens_out)}</td>
      <td>${call.cost_usd === null || call.cost_usd === undefined ? '–' : money(call.cost_usd)}</td><td class="text">${badge(call.status)} <span class="soft">${remarks}</span></td></tr>
      ${call.call === chosen ? html`<tr class="chosen"><td class="text" colspan="10">${this.detail(chosen)}</td></tr>` : nothing}`;
  }

  /** @param {number} number */
  detail(number) {
    const path = dialoguePath(this.frame.id, `/calls/${number}`);
    this.call.want(path, () => getJson(path));
    if (this.call.error) return failure(this.call.error);
    const call = this.call.value;
    if (!call || call.call !== number) return loading('the call');
    return html`<section class="call-detail" aria-label="Call ${number}">
      ${call.error ? html`<p class="notice bad"><strong>${words(call.error.error_type ?? '')}</strong> ${call.error.message ?? ''}</p>` : nothing}
      <h3>Raw reply</h3><pre class="raw" tabindex="0">${call.raw ?? 'no reply'}</pre>${callDetails(call)}</section>`;
  }
}

/**
 * @param {any[]} calls
 * @param {number} wall
 */
function totals(calls, wall) {
  const sum = (/** @type {string} */ name) => calls.reduce((total, call) => total + (call[name] ?? 0), 0);
  const retries = calls.filter((call) => call.attempt > 1).length;
  const fallbacks = calls.filter((call) => call.fallback).length;
  const repeats = [retries ? `${retries} repeated` : '', fallbacks ? `${fallbacks} by another transport` : ''].filter(Boolean).join(', ');
  const cached = sum('tokens_in') > 0 ? (100 * sum('tokens_cached')) / sum('tokens_in') : 0;
  return html`<dl class="meters">
    <div><dt>Calls</dt><dd><strong>${count(calls.length)}</strong>${repeats ? html` <span class="soft">${repeats}</span>` : nothing}</dd></div>
    <div><dt>Time</dt><dd><strong>${duration(wall)}</strong></dd></div>
    <div><dt>Tokens</dt><dd><strong>${count(sum('tokens_in'))}</strong> <span class="soft">in</span> <strong>${count(sum('tokens_out'))}</strong> <span class="soft">out</span></dd></div>
    <div><dt>From caches</dt><dd><strong>${percent(cached)}</strong></dd></div>
    <div><dt>Cost</dt><dd><strong>${money(sum('cost_usd'))}</strong></dd></div>
  </dl>`;
}
