// A run from the page alone: started, watched while it streams, whispered to, directed, stopped;
// then one whose server dies in the middle: the page continues, nothing is missing, nothing double.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { figure, plenary, until, withVisitor } from './kit.mjs';
import { ModelServer } from './model_server.mjs';

const models = await new ModelServer().start();
fs.writeFileSync('council.yaml', models.council());

/** Starts a run by the form and returns its id once the page shows it. */
async function start(visitor, question) {
  const { page } = visitor;
  await visitor.go('#/new/ask');
  await page.locator('textarea[name=question]').fill(question);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/#\/d\/[^/]+\/run/);
  return decodeURIComponent(/#\/d\/([^/]+)/.exec(page.url())[1]);
}

/** The events that the page shows, oldest first, without those of interventions and starts. */
async function shownEvents(page) {
  const all = page.getByRole('button', { name: /^Show all/ });
  if (await all.count()) await all.click();
  return page.evaluate(() => [...document.querySelectorAll('.feed li')].reverse().map((line) => line.innerText.replaceAll('\n', ' ').replace(/^\S+\s+/, '').replace(/\s+/g, ' ').trim()));
}

async function runIntervenes(visitor) {
  const { page } = visitor;
  models.pace = 60;
  const id = await start(visitor, 'Should we rewrite the billing service?');
  await page.locator('.stream pre').first().waitFor();
  const first = (await page.locator('.stream pre').first().innerText()).length;
  await page.waitForFunction((length) => (document.querySelector('.stream pre')?.innerText.length ?? 0) > length, first);
  assert.ok((await page.locator('.matrix .badge').allInnerTexts()).some((text) => text.includes('writing')), 'a cell says writing');
  await visitor.picture('live-1440-light');

  await page.getByRole('button', { name: 'Whisper' }).first().click();
  await page.locator('.intervene textarea').fill('Count the cost of going back.');
  await page.locator('.intervene select').selectOption('bob');
  await page.locator('.intervene form button').click();
  await page.locator('.feed li', { hasText: 'whispered to bob: Count the cost of going back.' }).waitFor();

  await page.getByRole('button', { name: 'Direct' }).click();
  await page.locator('.intervene textarea').fill('Name the price of each step.');
  await page.locator('.intervene form button').click();
  await page.locator('.intervene blockquote').waitFor();
  assert.ok((await page.locator('.intervene blockquote').innerText()).length > 10, 'the chair restated it');
  await page.getByRole('button', { name: 'Yes, direct the panel' }).click();
  await page.locator('.feed li', { hasText: 'directed: Name the price of each step.' }).first().waitFor();

  // Round 1 ends; the whisper is in bob's next prompt and in that of no other seat.
  models.pace = (prompt) => (prompt.includes('You are a reviewer') ? 200 : 1);
  const hasWhisper = (prompt) => prompt.includes('Count the cost of going back.');
  await until(() => models.prompts.some(hasWhisper), 'a prompt has the whisper');
  assert.equal(models.prompts.filter(hasWhisper).length, 1, 'one seat reads the whisper');

  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Stop the rounds' }).click();
  await page.locator('.feed li', { hasText: 'stopped the rounds' }).waitFor();
  models.pace = 1;
  await page.locator('.run-state', { hasText: 'The run finished' }).waitFor({ timeout: 60_000 });
  await page.getByRole('link', { name: 'Read the result' }).click();
  await page.locator('.answer', { hasText: 'Go ahead in small steps' }).waitFor();
  return id;
}

async function serverDies(visitor, server) {
  const { page } = visitor;
  models.pace = 40;
  const id = await start(visitor, 'Should the archive move to another region?');
  await page.locator('.feed li', { hasText: 'replied in' }).first().waitFor();
  await page.locator('.stream pre').first().waitFor();
  visitor.expectsLoss = true;
  await server.kill();
  await page.locator('.feed-lost').waitFor();
  await visitor.picture('lost-1440-light');
  // Without a server nobody can intervene, and a screen that was never opened has no code yet.
  await page.getByText('Connection lost since').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Whisper' }).isDisabled());
  await page.getByRole('link', { name: 'Graph' }).click();
  await page.locator('.loading').waitFor();
  await server.start();
  const began = Date.now();
  await page.locator('.graph-screen, .empty').waitFor();
  assert.equal(await page.getByText('dynamically imported').count(), 0);
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  // The page reconnects by itself and learns that the run has no process.
  await page.locator('.feed-lost').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.locator('.run-state', { hasText: 'without an answer' }).waitFor();
  figure('the page is back after the server, ms', Date.now() - began);
  models.pace = 1;
  await page.getByRole('button', { name: 'Resume' }).first().click();
  await page.locator('.intervene form button').click();
  await page.locator('.run-state', { hasText: 'The run finished' }).waitFor({ timeout: 60_000 });
  visitor.expectsLoss = false;

  // What the page collected over both connections is what a new page reads at once.
  const collected = await shownEvents(page);
  await page.reload();
  await visitor.settle();
  await page.locator('.run-state', { hasText: 'The run finished' }).waitFor();
  assert.deepEqual(collected, await shownEvents(page), 'nothing is missing and nothing is double');
  assert.ok(collected.some((line) => line.includes('resumed the run')), collected.join('\n'));
  assert.match(plenary('verify'), /The record is consistent/);
  // The time line leaves out what lies between the two processes.
  await visitor.go(`#/d/${id}/calls`);
  await page.getByText(/^The run paused for .* and was resumed\.$/).waitFor();
  await visitor.picture('paused-1440-light');
  return id;
}

/** A run of another process appears and moves without a reload. */
async function listFollows(visitor) {
  await visitor.go('#/');
  const { page } = visitor;
  plenary('ask', 'Is the list alive?', '--rehearse', '--json');
  await page.locator('.dialogue-row', { hasText: 'Is the list alive?' }).waitFor();
}

try {
  await withVisitor(async (visitor, server) => {
    await runIntervenes(visitor);
    visitor.check('after the interventions');
    await serverDies(visitor, server);
    await listFollows(visitor);
  });
} finally {
  models.stop();
}
