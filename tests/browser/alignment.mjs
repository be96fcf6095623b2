// Dialogues of a Judge on the page: one started by the form and watched, one led by an agent, one
// that waits for a person to decide a conflict of its rules, and one that did not converge.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { operation, plenary, playCalibrated, SOURCES, withVisitor } from './kit.mjs';
import { ModelServer, speakHostile } from './model_server.mjs';

const HOSTILE = '<img src=x onerror=alert(1)> <script>alert(1)</script> ${alert(1)} <!--?lit$1$-->';
const ids = playCalibrated();
// Rules are written by others, too.
plenary('ethos', 'principle', 'add', `Plain words ${HOSTILE}`, '--text', `Say it so. ${HOSTILE}`);
const ethosOf = (id) => JSON.parse(plenary('ethos', '--json')).ethos.find((one) => one.dialogue_id === id).ethos_id;
const waiting = ethosOf(ids.waiting);
const models = await new ModelServer().start();
fs.writeFileSync('council.yaml', models.council());

/** The list, the headline and the result say it before anything else. */
async function notConverged(visitor) {
  const { page } = visitor;
  await visitor.go('#/');
  await page.locator('.dialogue-row', { hasText: 'Which region' }).getByText('NOT CONVERGED').waitFor();
  await visitor.go(`#/d/${ids.forced}`);
  await page.locator('.headline').getByText('NOT CONVERGED').waitFor();
  assert.match(await page.locator('.result > :first-child').innerText(), /^NOT CONVERGED/);
  assert.equal(await page.getByText('converged', { exact: true }).count(), 0);
}

/** A board of an earlier round has the owners of that round; an acceptance has its own line. */
async function board(visitor) {
  const { page } = visitor;
  await visitor.go(`#/d/${ids.calibrated}/tensions?round=0`);
  await page.locator('.board .card').first().waitFor();
  assert.doesNotMatch(await page.locator('.board').innerText(), / owner /);
  await visitor.go(`#/d/${ids.calibrated}/tensions`);
  const accepted = await page.locator('.column[aria-label=accepted] .card').innerText();
  assert.match(accepted, / owner [^]*The recommendation proposes how[^]*\naccepted: /);
}

/** A person reads both rules, decides, approves and resumes. */
async function decide(visitor) {
  const { page } = visitor;
  await visitor.go(`#/d/${ids.waiting}`);
  await page.getByText('a person must resolve 1 conflict').first().waitFor();
  await page.getByRole('link', { name: 'Show the conflicts' }).click();
  await page.locator('.versus').getByText('priority 900').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Approve the rules' }).isDisabled(), true);
  await visitor.picture('ethos-conflict-1440-light', { fullPage: true });
  await page.getByLabel('RULE03 applies').check();
  await page.locator('.conflicts textarea').fill('The tenet is precise.');
  await page.getByRole('button', { name: 'Resolve' }).click();
  await page.locator('.conflicts').getByText('The tenet is precise.').waitFor();
  const approve = page.getByRole('button', { name: 'Approve the rules' });
  if (await approve.count()) await approve.click();
  await page.locator('.headline').getByText('approved').first().waitFor();
  await visitor.go(`#/d/${ids.waiting}`);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.locator('.intervene form button').click();
  await page.locator('.verdict').first().waitFor();
  // Each rule has its status, on the result and on the screen of the ethos.
  await page.locator('.compliance').getByText('compliant').first().waitFor();
  await visitor.go(`#/ethos/${encodeURIComponent(waiting)}`);
  await page.locator('.compliance').getByText('compliant').first().waitFor();
}

/** Started by the form; who plays whom is on the page while it runs; hostile words stay words. */
async function live(visitor) {
  const { page } = visitor;
  speakHostile(HOSTILE);
  models.pace = 25;
  await visitor.go('#/new/align');
  await page.locator('textarea[name=question]').fill('Should the archive move?');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/#\/d\/[^/]+\/run/);
  await page.locator('.stream pre').first().waitFor();
  await page.locator('.feed li', { hasText: 'seated' }).waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll('.matrix tbody th')].length >= 4);
  const seats = await page.locator('.matrix tbody th').allInnerTexts();
  assert.ok(seats.every((seat) => /model-(ann|bob|cid)/.test(seat)), `each seat has its model: ${seats.join(' | ')}`);
  await visitor.picture('alignment-live-1440-light');
  await page.getByRole('button', { name: 'Whisper' }).click();
  await page.locator('.intervene select').waitFor();
  const listeners = await page.locator('.intervene option').allInnerTexts();
  assert.ok(listeners.includes('the Judge') && listeners.length > 3, listeners.join(' '));
  assert.ok(!listeners.some((name) => ['ann', 'bob', 'cid', 'the-judge'].includes(name)), listeners.join(' '));
  models.pace = 0;
  await page.locator('.run-state', { hasText: 'The run finished' }).waitFor({ timeout: 60_000 });
  await page.locator('.feed li', { hasText: 'gave the final verdict' }).waitFor();
  speakHostile('');
  const id = decodeURIComponent(/#\/d\/([^/]+)/.exec(page.url())[1]);
  for (const tab of ['result', 'transcript', 'tensions', 'scores', 'graph?all=1', 'record', 'calls?call=1']) {
    await visitor.go(`#/d/${id}/${tab}`);
    visitor.check(tab);
  }
  await visitor.go(`#/d/${id}/transcript`);
  assert.ok((await page.locator('.entry', { hasText: 'View of' }).first().innerText()).includes('<script>alert(1)</script>'), 'the transcript shows what the expert wrote');
  await visitor.go('#/ethos');
  await page.getByText('Plain words <img').first().waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
}

/** What an agent registers appears on the open page, round by round. */
async function led(visitor) {
  const { page } = visitor;
  const read = (name) => JSON.parse(fs.readFileSync(`${SOURCES}/examples/nvidia/${name}`, 'utf8'));
  const { dialogue_id: id } = operation('create', { ...read('01-create.json'), title: 'Led by an agent' });
  const step = (name, file) => operation(name, { ...read(file), dialogue_id: id });
  await visitor.go(`#/d/${id}`);
  await page.getByText('An agent or a person leads this dialogue').waitFor();
  step('register', '02-round-0.json');
  await page.locator('.screens').getByText('Run').click();
  await page.locator('.feed li', { hasText: 'scored round 0' }).waitFor();
  for (const [name, file] of [['panel', '03-panel-1.json'], ['register', '04-round-1.json'], ['expert', '05-expert-palmier.json'], ['panel', '06-panel-2.json'], ['register', '07-round-2.json']]) step(name, file);
  await page.locator('.feed li', { hasText: 'palmier (created)' }).waitFor();
  assert.equal(await page.locator('.meters, .matrix').count(), 0, 'a led dialogue has no calls of ours');
  await page.locator('.screens').getByText('Result').click();
  step('verdict', '08-verdict-final.json');
  await page.locator('.verdict .answer').waitFor();
  await page.locator('.headline').getByText('converged').waitFor();
}

await withVisitor(async (visitor) => {
  for (const part of [notConverged, board, decide, led, live]) {
    await part(visitor);
    visitor.check(part.name);
  }
});
models.stop();
