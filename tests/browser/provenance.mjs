// From a sentence of a conclusion to the highlighted passage of the raw reply, in at most four
// clicks; then on to the prompt, the call and the journal entry. Once with the mouse, once with keys.

import assert from 'node:assert/strict';
import { plenary, plenaryJson, withVisitor } from './kit.mjs';

const { dialogue_id: id, conclusion } = plenaryJson('ask', 'Should reads go through a cache?', '--rehearse');
plenary('align', 'Which storage should the archive use?', '--rehearse', '--json');
const aligned = plenaryJson('list').dialogues.find((row) => row.protocol === 'alignment').dialogue_id;
const exported = plenaryJson('export', id, '--full');

await withVisitor(async (visitor) => {
  const { page } = visitor;
  let clicks = 0;
  const click = async (target) => { clicks += 1; await target.click(); };

  // The sentence itself.
  await visitor.go(`#/d/${id}`);
  await click(page.locator('.answer .sentence').first());
  const mark = page.locator('#source mark').first();
  await mark.waitFor();
  const said = (await mark.textContent()) ?? '';
  assert.ok(conclusion.recommendation.includes(said.trim()), said);
  const raw = await page.locator('#source pre.raw').first().textContent();
  const call = exported.calls.find((one) => one.raw === raw);
  assert.ok(call, 'the panel shows the reply word for word');

  // The claim that it rests on, in the reply of the seat that made it.
  await page.keyboard.press('Escape');
  await click(page.locator('.claims .entity').first());
  await page.locator('#source .about').waitFor();
  const passage = page.locator('#source mark').first();
  await passage.waitFor();
  const claim = exported.recommendations.find((one) => one.id === 'R0101');
  const passages = await page.locator('#source mark').allTextContents();
  assert.ok(passages.some((text) => text.includes(claim.label.slice(0, 30))), `the passages have the text of the claim: ${passages.join(' | ')}`);
  assert.ok(clicks <= 4, `${clicks} clicks`);
  const box = await passage.boundingBox();
  assert.ok(box && box.y > 0 && box.y < 900, 'the passage is in view');

  await page.getByText('The prompt as sent').click();
  await page.getByText('You are a participant of a council.').first().waitFor({ state: 'attached' });
  await page.getByText(/^Journal entry \d+/).click();
  assert.match(await page.locator('#source .hash').textContent(), /^[0-9a-f]{64}$/);
  await page.getByText('The call', { exact: true }).click();
  await page.locator('#source dd', { hasText: 'rehearsal-1' }).first().waitFor();

  // Every entity of the record has a source, and its passage is what the record says.
  for (const entity of [...exported.perspectives, ...exported.recommendations, ...exported.tensions, ...exported.claims]) {
    await visitor.go(`#/d/${id}/record?source=${entity.id}`);
    await page.locator('#source mark').first().waitFor();
  }

  // The critic's objection, and the report of the chair.
  await visitor.go(`#/d/${id}`);
  const objection = page.locator('.objections .sentence').first();
  const objected = (await objection.textContent()) ?? '';
  await objection.click();
  assert.equal(await page.locator('#source mark').first().textContent(), objected.trim());
  await visitor.go(`#/d/${id}`);
  await page.getByText('How the council came to it').click();
  const reported = page.locator('details.layer .sentence').first();
  const sentence = (await reported.textContent()) ?? '';
  await reported.click();
  assert.equal(await page.locator('#source mark').first().textContent(), sentence.trim());

  // A sentence of the Judge's verdict, and an entity that the Judge merged.
  await visitor.go(`#/d/${aligned}`);
  await page.locator('.verdict .sentence').first().click();
  await page.getByText('Said in the reply of the Judge').waitFor();
  await page.locator('#source mark').first().waitFor();
  await visitor.go(`#/d/${aligned}/record?source=P0001`);
  await page.locator('#source mark').first().waitFor();

  // The same with keys alone: tab to the sentence, open, close, and the focus is back.
  await visitor.go(`#/d/${id}`);
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => document.activeElement?.classList.contains('sentence'))) break;
  }
  await page.keyboard.press('Enter');
  await page.locator('#source mark').first().waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#source').waitFor({ state: 'detached' });
  // The page sets the focus after it has drawn: wait for it.
  await page.waitForFunction(() => document.activeElement?.classList.contains('sentence'));
});
