// Large records: a list of 10,000 dialogues, and a dialogue of 100 rounds × 99 entities. The page
// stays usable; the figures of the browser's own timing are printed.

import assert from 'node:assert/strict';
import { figure, withVisitor } from './kit.mjs';

// The test that starts this script makes the record; its constants are the same.
const DIALOGUES = 10_000;
const ROUNDS = 100;
const ITEMS = 99;

/** Gross bounds: far above the figures to reach, so that a slow machine passes and a frozen page does not. */
const TASK_MS_MAX = 3000;

/** Prints a figure beside what it should be at most. */
function figureWithAim(name, value, aim) {
  figure(name, `${Math.round(value)}, aim ${aim}${value > aim ? ', OVER' : ''}`);
}

/** Collects tasks that block the page for over 50 ms. */
async function longTasks(page, work) {
  await page.evaluate(() => {
    window.longTasks = [];
    window.taskObserver?.disconnect();
    window.taskObserver = new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.longTasks.push(Math.round(entry.duration)); });
    window.taskObserver.observe({ type: 'longtask' });
  });
  await work();
  return page.evaluate(() => window.longTasks);
}

async function measureList(visitor) {
  const { page } = visitor;
  await page.reload();
  await visitor.settle();
  await page.locator('.dialogue-row').first().waitFor();
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0);
  figureWithAim('first paint of the list, ms', paint, 300);
  const tasks = await longTasks(page, async () => {
    let last = -1;
    for (let step = 0; step < 4000; step += 1) {
      await page.mouse.wheel(0, 2400);
      await page.waitForTimeout(8);
      const at = await page.evaluate(() => window.scrollY);
      if (at === last && (await page.getByText(/^More follow/).count()) === 0) break;
      last = at;
    }
  });
  const rows = await page.evaluate(() => Number(document.querySelector('.windowed .row')?.getAttribute('aria-setsize')));
  const drawn = await page.locator('.windowed .row').count();
  figure(`rows scrolled`, rows);
  figureWithAim('longest task while scrolling, ms', Math.max(0, ...tasks), 100);
  figure('tasks over 50 ms while scrolling', tasks.length);
  assert.ok(paint > 0, 'the browser measured the first paint');
  assert.ok(rows >= DIALOGUES, `${rows} rows`);
  assert.ok(drawn < 200, `${drawn} rows are in the document`);
  assert.ok(Math.max(0, ...tasks) < TASK_MS_MAX, `a task took ${Math.max(...tasks)} ms`);
}

async function measureRecord(visitor, id) {
  const { page } = visitor;
  for (const [tab, ready] of [['result', '.empty, .verdicts'], ['transcript', '.round'], ['record', '.entity-row'], ['tensions', '.empty'], ['scores', '.leaders'], ['graph', '.node']]) {
    const began = Date.now();
    const tasks = await longTasks(page, async () => {
      await page.evaluate((hash) => { location.hash = hash; }, `#/d/${id}/${tab}`);
      await page.locator(ready).first().waitFor({ timeout: 60_000 });
    });
    figure(`100 × 99, ${tab}`, `${Date.now() - began} ms, longest task ${Math.max(0, ...tasks)} ms`);
    assert.ok(Math.max(0, ...tasks) < TASK_MS_MAX, `${tab} froze for ${Math.max(...tasks)} ms`);
  }
  await visitor.go(`#/d/${id}/record`);
  assert.equal(await page.evaluate(() => Number(document.querySelector('.windowed .row')?.getAttribute('aria-setsize'))), ROUNDS * ITEMS);
  // 300 nodes: three rounds with their edges.
  await visitor.go(`#/d/${id}/graph?all=1`);
  await page.locator('.node').nth(299).waitFor({ timeout: 60_000 });
  const layout = await page.evaluate(() => performance.getEntriesByName('graph-layout').at(-1)?.duration ?? 0);
  figureWithAim('layout of 300 nodes, ms', layout, 1000);
  assert.ok(layout > 0 && layout < TASK_MS_MAX, `${layout} ms`);
}

const large = 'a-hundred-rounds';

await withVisitor(async (visitor) => {
  await measureList(visitor);
  await measureRecord(visitor, large);
});
