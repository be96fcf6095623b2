// Forms: what a person decides belongs to one item, and an error stands at the field that is wrong.

import assert from 'node:assert/strict';
import { operation, plenary, plenaryJson, playCalibrated, withVisitor } from './kit.mjs';
import { askDue } from './model_server.mjs';

playCalibrated();
const { dialogue_id: twice } = plenaryJson(
  'align', 'Who owns the archive?', '--rehearse', '--domain', 'operations', '--constraint', 'A way back', '--constraint', 'One owner',
);
const ethos = JSON.parse(plenary('ethos', '--json')).ethos.find((one) => one.dialogue_id === twice).ethos_id;
await askDue('Should the office move?');
await askDue('Should the office close?');
const due = JSON.parse(plenary('due', '--within', '30d', '--json')).due.map((one) => one.dialogue_id);
assert.equal(due.length, 2);

const focused = (page) => page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute('name'));

/** The form of the next item is empty, and no second click can send it. */
async function outcomes(visitor, server) {
  const { page } = visitor;
  const known = async () => Promise.all(due.map(async (id) => (await server.get(`api/dialogues/${id}`)).outcomes?.length ?? 0));
  await visitor.go('#/due');
  const cards = page.locator('.due-list .card');
  await cards.first().locator('summary').click();
  await cards.first().getByLabel('It failed').check();
  await cards.first().locator('textarea').fill('The first failed badly.');
  await cards.first().getByRole('button', { name: 'Record' }).click();
  await cards.first().getByText('It failed. The first failed badly.').waitFor();
  assert.equal(await focused(page), `outcome-${due[0]}`);
  assert.equal(await cards.count(), 2);
  assert.equal(await page.locator('.due-list details[open], .due-list input:checked').count(), 0);
  assert.equal(await cards.nth(1).locator('textarea').inputValue(), '');
  assert.deepEqual(await known(), [1, 0]);

  await visitor.go(`#/d/${due[1]}`);
  await page.getByText('Record what became of it').click();
  await page.getByLabel('Mixed').check();
  await page.locator('.outcomes textarea').fill('It is too early.');
  await page.getByRole('button', { name: 'Record' }).click();
  await page.locator('.outcomes .recorded').waitFor();
  assert.equal(await page.locator('.outcomes form').count(), 0);
  assert.deepEqual(await known(), [1, 1]);
}

/** Two conflicts, one after the other; then the run says that it can continue. */
async function conflicts(visitor) {
  const { page } = visitor;
  await visitor.go(`#/ethos/${encodeURIComponent(ethos)}`);
  const cards = page.locator('.conflicts .card');
  assert.equal(await cards.count(), 2);
  await cards.first().locator('input[value=merged]').check();
  await cards.first().locator('textarea').fill('One text is enough.');
  await cards.first().getByRole('button', { name: 'Resolve' }).click();
  await cards.first().getByText('One text is enough.').waitFor();
  assert.equal(await focused(page), 'conflict-1');
  assert.equal(await page.locator('.conflicts form').count(), 1);
  assert.equal(await page.locator('.conflicts input:checked').count(), 0);
  assert.equal(await page.locator('.conflicts textarea').inputValue(), '');
  await cards.nth(1).locator('input[value=removed]').check();
  await cards.nth(1).locator('textarea').fill('Neither is needed.');
  await cards.nth(1).getByRole('button', { name: 'Resolve' }).click();
  await page.locator('.conflicts form').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Approve the rules' }).click();
  await page.getByText('by a person on').waitFor();
  assert.equal(await focused(page), 'ethos-state');

  await visitor.go(`#/d/${twice}/run`);
  await page.locator('.run-state', { hasText: 'has now decided all conflicts' }).waitFor();
  await page.locator('.feed li', { hasText: 'you resolved a conflict: 1 conflict of the ethos is open' }).waitFor();
  assert.equal(await page.getByText('Show the conflicts').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Resume' }).getAttribute('class'), 'primary');
  const stages = await page.locator('.matrix thead th').allInnerTexts();
  assert.deepEqual(stages.slice(0, 3), ['Seat', 'Design', 'Ethos conflicts']);
  assert.equal(await page.locator('[role=status].hidden').textContent(), '');
}

/** An error opens the fold of its field, stands below it, and has the focus. */
async function mistakes(visitor) {
  const { page } = visitor;
  visitor.expectsLoss = true;
  await visitor.go('#/new/align');
  await page.locator('[name=question]').fill('Is it so?');
  await page.locator('[name=rehearse]').check();
  const attempt = async (name, value, text) => {
    const field = page.locator(`[name=${name}]`);
    await page.evaluate(() => { document.querySelector('.start details').open = true; });
    await field.fill(value);
    await page.locator('.start summary').click();
    await page.getByRole('button', { name: 'Start' }).click();
    const shown = page.locator('#start-error', { hasText: text });
    await shown.waitFor();
    const box = await shown.boundingBox();
    assert.ok(box.y > 0 && box.y + box.height <= page.viewportSize().height, `${name}: ${JSON.stringify(box)}`);
    return [await focused(page), await field.getAttribute('aria-invalid')];
  };
  assert.deepEqual(await attempt('deadline', 'soon', '“soon” must be a duration. For example'), ['deadline', 'true']);
  await visitor.picture('form-error-360-light');
  await page.locator('[name=deadline]').fill('');
  assert.deepEqual(await attempt('domain', 'nodomain', 'Choose one of: operations.'), ['domain', 'true']);
  assert.equal(await page.locator('[aria-invalid=true]').count(), 1);
  await page.locator('[name=domain]').fill('');
  assert.deepEqual(await attempt('context', 'nofile.md', 'Cannot read'), ['start-error', 'false']);
  visitor.expectsLoss = false;
}

/** What changed while the reader was further down is there when they are back at the top. */
async function list(visitor) {
  const { page } = visitor;
  for (let number = 0; number < 25; number += 1) operation('create', { title: `Row ${number}` });
  await visitor.go('#/');
  await page.locator('.dialogue-row', { hasText: 'Row 24' }).waitFor();
  await page.evaluate(() => window.scrollTo(0, 600));
  plenary('ask', 'Is the list behind?', '--rehearse', '--json');
  await page.waitForTimeout(2000);
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.locator('.dialogue-row', { hasText: 'Is the list behind?' }).waitFor();
}

await withVisitor(async (visitor, server) => {
  for (const part of [outcomes, conflicts, list]) {
    await part(visitor, server);
    visitor.check(part.name);
  }
  await visitor.newPage({ width: 360, height: 780 });
  await mistakes(visitor);
});
