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
  // Find in the transcript: only the replies with the words, marked.
  await visitor.go(`#/d/${council}/transcript`);
  await page.locator('.entry').first().waitFor();
  const replies = await page.locator('.entry').count();
  await tabTo(page, () => document.activeElement?.matches('.transcript input'), 'the field of the transcript');
  await page.keyboard.type('tested way back');
  await page.waitForFunction((all) => { const shown = document.querySelectorAll('.entry').length; return shown > 0 && shown < all; }, replies);
  await page.waitForFunction(() => { const found = [...CSS.highlights.get('found') ?? []]; return found.length > 0 && found.every((range) => range.toString().length === 'tested way back'.length); });
  const marks = await page.evaluate(() => [...CSS.highlights.get('found')].map((range) => range.toString().toLowerCase()));
  assert.ok(marks.length > 0 && marks.every((text) => text === 'tested way back'), `marked: ${marks.join(', ')}`);
  await page.keyboard.type(' zzz');
  await page.getByText('No reply has these words.').waitFor();
  // A node of the graph leads to its neighbourhood, and with Space to its source.
  await visitor.go(`#/d/${example}/graph`);
  await tabTo(page, () => document.activeElement?.matches('.node'), 'a node');
  await page.keyboard.press(' ');
  await page.locator('#source').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#source').waitFor({ state: 'detached' });
  // The chosen node leads to its source, too.
  await page.locator('.node.focus').focus();
  await page.keyboard.press('Enter');
  await page.locator('#source .about').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#source').waitFor({ state: 'detached' });
  // Without a session the page asks for the token, says when it is wrong, and opens with the right one.
  visitor.isExpected = (text) => /status of 401/.test(text);
  await visitor.context.clearCookies();
  await page.goto(visitor.server.address);
  await page.reload();
  await tabTo(page, () => document.activeElement?.matches('input[name=token]'), 'the field of the token');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('This is not the token of this server.').waitFor();
  assert.equal(await page.getByText('Reconnecting').count(), 0);
  await page.locator('input[name=token]').fill(visitor.server.token);
  await page.keyboard.press('Enter');
  await page.locator('.dialogue-row').first().waitFor();
  assert.equal(await page.locator('.notice').count(), 0);
  for (const hash of ['#/', `#/d/${council}/result`, `#/d/${council}/run`, `#/d/${council}/transcript`, `#/d/${council}/calls`, `#/d/${example}/tensions`, `#/d/${example}/scores`, `#/d/${example}/graph`, '#/new/ask']) {
    await visitor.go(hash);
    await page.reload();
    await visitor.settle();
    await walk(visitor, hash);
  }
});
