// The page with keys alone: from the list to an answer, its source and back; filters, tabs, graph
// nodes, forms, the help. Every stop of the focus is visible and has a name.

import assert from 'node:assert/strict';
import { plenaryJson, playExample, withVisitor } from './kit.mjs';

const STOPS_MAX = 120;
const { dialogue_id: council } = plenaryJson('ask', 'Should reads go through a cache?', '--rehearse');
const example = playExample();

/** Presses Tab until `isThere` is true for the focused element. */
async function tabTo(page, isThere, what) {
  for (let stop = 0; stop < STOPS_MAX; stop += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(isThere)) return;
  }
  assert.fail(`Tab does not reach ${what}`);
}

/** Walks the whole screen: each stop has a name, is drawn, and shows its focus. */
async function walk(visitor, where) {
  const seen = new Set();
  for (let stop = 0; stop < STOPS_MAX; stop += 1) {
    await visitor.page.keyboard.press('Tab');
    const found = await visitor.page.evaluate(() => {
      const one = document.activeElement;
      if (!one || one === document.body) return null;
      const box = one.getBoundingClientRect();
      const style = getComputedStyle(one);
      const label = one.getAttribute('aria-label') ?? one.closest('label')?.textContent ?? one.textContent ?? '';
      const rect = one.querySelector('rect');
      const isShown = style.outlineStyle !== 'none' || (rect && getComputedStyle(rect).strokeWidth === '3px');
      return { key: `${one.tagName} ${label.trim().slice(0, 40)} ${box.x} ${box.y}`, name: label.trim(), isDrawn: box.width > 0 && box.height > 0, isShown };
    });
    if (!found || seen.has(found.key)) break;
    seen.add(found.key);
    assert.ok(found.name, `${where}: a stop without a name: ${found.key}`);
    assert.ok(found.isDrawn, `${where}: an invisible stop: ${found.key}`);
    assert.ok(found.isShown, `${where}: the focus does not show on ${found.key}`);
  }
  assert.ok(seen.size > 5, `${where} has ${seen.size} stops`);
}

await withVisitor(async (visitor) => {
  const { page } = visitor;
  // The list: search, arrows, open.
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement?.id === 'search');
  await page.keyboard.type('cache');
  await page.waitForFunction(() => document.querySelectorAll('.dialogue-row').length === 1);
  await tabTo(page, () => document.activeElement?.matches('.dialogue-row'), 'a row');
  await page.keyboard.press('Enter');
  await page.locator('.answer').waitFor();
  // Digits open the screens of a dialogue.
  for (const [key, tab] of [['2', 'Run'], ['3', 'Transcript'], ['1', 'Result']]) {
    await page.keyboard.press(key);
    await page.locator('.screens a[aria-current=page]', { hasText: tab }).waitFor();
  }
  await page.keyboard.press('?');
  await page.locator('dialog#keys[open]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog#keys[open]').waitFor({ state: 'hidden' });
  // A skip link leads over the navigation.
  await visitor.go('#/');
  await page.reload();
  await visitor.settle();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.className), 'skip');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main');
  await tabTo(page, () => document.activeElement?.matches('.dialogue-row'), 'the first row');
  await page.keyboard.press('ArrowDown');
  assert.ok(await page.evaluate(() => document.activeElement?.matches('.dialogue-row')), 'an arrow moves to the next row');
  // A node of the graph leads to its neighbourhood, and with Space to its source.
  await visitor.go(`#/d/${example}/graph`);
  await tabTo(page, () => document.activeElement?.matches('.node'), 'a node');
  await page.keyboard.press(' ');
  await page.locator('#source').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#source').waitFor({ state: 'detached' });
  for (const hash of ['#/', `#/d/${council}/result`, `#/d/${council}/run`, `#/d/${council}/transcript`, `#/d/${council}/calls`, `#/d/${example}/tensions`, `#/d/${example}/scores`, `#/d/${example}/graph`, '#/new/ask']) {
    await visitor.go(hash);
    await page.reload();
    await visitor.settle();
    await walk(visitor, hash);
  }
});
