// Every screen with real data, in four widths, light and dark: no fault, no violation of the
// policy, nothing that axe finds serious, no sideways scrolling. Leaves pictures to look at.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { importVerdicts, plenary, plenaryJson, playCalibrated, playExample, SOURCES, withVisitor } from './kit.mjs';
import { askDue } from './model_server.mjs';

const QUESTION = 'Should reads go through a cache?';

function prepare() {
  const { dialogue_id: council } = plenaryJson('ask', QUESTION, '--rehearse');
  fs.copyFileSync(`${SOURCES}/docs/examples/post.md`, 'post.md');
  plenary('review', 'post.md', '--type', 'linkedin_post', '--tier', '1', '--rehearse', '--json');
  const review = plenaryJson('list').dialogues.find((row) => row.protocol === 'review').dialogue_id;
  plenary('align', 'Which storage should the archive use?', '--rehearse', '--json');
  const aligned = plenaryJson('list').dialogues.find((row) => row.protocol === 'alignment').dialogue_id;
  importVerdicts();
  return { council, review, aligned, example: playExample(), ...playCalibrated() };
}

const ids = prepare();
const { council, review, aligned, example, calibrated, waiting, forced } = ids;
const ethosOf = (id) => JSON.parse(plenary('ethos', '--json')).ethos.find((one) => one.dialogue_id === id).ethos_id;
const due = await askDue('Should the office move?');

/** Each screen: its address, and a text that proves that its data is there. */
const SCREENS = [
  ['list', '#/', QUESTION],
  ['result', `#/d/${council}/result`, 'Recommendation'],
  ['source', `#/d/${council}/result?source=conclusion.recommendation`, 'Said in the reply of'],
  ['entity', `#/d/${council}/result?source=R0101`, 'Said in the reply of'],
  ['run', `#/d/${council}/run`, 'optimist'],
  ['transcript', `#/d/${council}/transcript`, 'Independent opinions'],
  ['tensions', `#/d/${example}/tensions`, 'Growth vs income'],
  ['scores', `#/d/${example}/scores`, 'Leaderboard'],
  ['graph', `#/d/${example}/graph`, 'neighbours'],
  ['graph-all', `#/d/${example}/graph?all=1`, 'T0001'],
  ['calls', `#/d/${council}/calls?call=3`, 'Raw reply'],
  ['record', `#/d/${example}/record`, 'Income mandate mismatch'],
  ['review', `#/d/${review}/result`, 'Deliberators'],
  ['verdicts', `#/d/${example}/result`, 'Final verdict'],
  ['aligned', `#/d/${aligned}/result`, 'Final verdict'],
  ['aligned-run', `#/d/${aligned}/run`, 'the Judge'],
  ['aligned-scores', `#/d/${aligned}/scores`, 'wisdom'],
  ['aligned-transcript', `#/d/${aligned}/transcript`, 'RE:DEPEND'],
  ['forced', `#/d/${forced}/result`, 'NOT CONVERGED'],
  ['calibrated', `#/d/${calibrated}/result`, 'No stale prices'],
  ['dissent', `#/d/${aligned}/result?source=verdict.minority-beignet`, 'Said in the reply of beignet'],
  ['waiting', `#/d/${waiting}/result`, 'Show the conflicts'],
  ['led-run', `#/d/${example}/run`, 'gave the final verdict'],
  ['reviews', '#/reviews', 'linkedin post'],
  ['due', '#/due', due],
  ['ethos', '#/ethos', 'Evidence is citable'],
  ['ethos-conflict', `#/ethos/${ethosOf(waiting)}`, 'Both say the same'],
  ['ethos-rules', `#/ethos/${ethosOf(calibrated)}`, 'compliant'],
  ['ask', '#/new/ask', 'Question'],
  ['align', '#/new/align', 'Align experts'],
  ['review-form', '#/new/review', 'Path of the document'],
];

const VIEWS = [[2560, 'light'], [1440, 'light'], [1440, 'dark'], [800, 'light'], [360, 'light'], [360, 'dark']];

await withVisitor(async (visitor) => {
  for (const [width, scheme] of VIEWS) {
    await visitor.newPage({ width, height: width < 500 ? 780 : 900, scheme });
    for (const [name, hash, text] of SCREENS) {
      await visitor.go(hash);
      await visitor.page.getByText(text).first().waitFor({ state: 'attached' });
      await visitor.settle();
      await visitor.checkWidth(`${name} at ${width}`);
      await visitor.checkRows(`${name} at ${width}`);
      await visitor.picture(`${name}-${width}-${scheme}`);
      visitor.check(`${name} at ${width} in ${scheme}`);
    }
  }
  for (const scheme of ['light', 'dark']) {
    await visitor.newPage({ scheme, bypassCSP: true, reducedMotion: 'reduce' });
    for (const [name, hash, text] of SCREENS) {
      await visitor.go(hash);
      await visitor.page.getByText(text).first().waitFor({ state: 'attached' });
      await visitor.settle();
      await visitor.checkAxe(`${name} in ${scheme}`);
    }
  }
  // The file of an export has its sources folded; keys must reach them, too.
  fs.writeFileSync('export.html', plenary('export', example, '--format', 'html', '--full'));
  await visitor.page.goto(`file://${fs.realpathSync('export.html')}`);
  await visitor.page.evaluate(() => { for (const fold of document.querySelectorAll('details')) fold.open = true; });
  await visitor.checkAxe('the export');
  await visitor.newPage({ width: 360, height: 780 });
  // A finished run begins with its first stage; a round and a call that do not exist are not shown.
  await visitor.go(`#/d/${council}/run`);
  assert.equal(await visitor.page.evaluate(() => document.querySelector('.matrix').parentElement.scrollLeft), 0);
  for (const round of ['99', 'x']) {
    await visitor.go(`#/d/${example}/tensions?round=${round}`);
    assert.equal(await visitor.page.locator('.as-of output').textContent(), '2');
    assert.equal(await visitor.page.locator('.column[aria-label=resolved]').count(), 1);
  }
  await visitor.go(`#/d/${council}/calls?call=999`);
  await visitor.page.getByText('has no call 999').waitFor();
  await visitor.newPage({ width: 3840, height: 2160 });
  await visitor.go(`#/d/${council}/result`);
  const size = await visitor.page.evaluate(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  assert.ok(size >= 20, `text of ${size} pixels is small on a 4K screen`);
  await visitor.picture('result-3840-light');
});
