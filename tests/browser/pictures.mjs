// Draws the pictures of the guide to the page, from the rehearsal panel, the example dialogue and a
// run against a model server of our own. `scripts/page-pictures` starts it.

import fs from 'node:fs';
import { plenary, plenaryJson, playCalibrated, playExample, SOURCES, withVisitor } from './kit.mjs';
import { ModelServer } from './model_server.mjs';

const SIZE = { width: 1200, height: 800 };
const models = await new ModelServer().start();
const { dialogue_id: council } = plenaryJson('ask', 'Should reads go through a cache?', '--rehearse');
for (const question of ['Should we rewrite the billing service?', 'Which region should the archive use?']) plenary('ask', question, '--rehearse', '--json');
fs.copyFileSync(`${SOURCES}/docs/examples/post.md`, 'post.md');
plenary('review', 'post.md', '--type', 'linkedin_post', '--tier', '1', '--rehearse', '--json');
const review = plenaryJson('list').dialogues.find((row) => row.protocol === 'review').dialogue_id;
const example = playExample();
const { calibrated, waiting } = playCalibrated();
const ethos = JSON.parse(plenary('ethos', '--json')).ethos.find((one) => one.dialogue_id === waiting).ethos_id;
fs.writeFileSync('council.yaml', models.council());

const PICTURES = [
  ['list', '#/', '.dialogue-row'], ['result', `#/d/${council}`, '.answer'],
  ['source', `#/d/${council}/result?source=R0102`, '#source mark'], ['transcript', `#/d/${council}/transcript`, '.entry'],
  ['tensions', `#/d/${example}/tensions`, '.card'], ['scores', `#/d/${example}/scores`, '.leaders'],
  ['graph', `#/d/${example}/graph`, '.node'], ['calls', `#/d/${council}/calls`, '.span'],
  ['review', `#/d/${review}`, '.verdict-word'], ['reviews', '#/reviews', '.dialogue-row'], ['ask', '#/new/ask', 'textarea'],
  ['aligned', `#/d/${calibrated}/run`, '.matrix'], ['verdict', `#/d/${calibrated}`, '.verdict'], ['ethos', `#/ethos/${ethos}`, '.versus'],
  ['align', '#/new/align', 'textarea'], ['review-form', '#/new/review', 'input'],
];

await withVisitor(async (visitor) => {
  for (const [name, hash, ready] of PICTURES) {
    await visitor.go(hash);
    await visitor.page.locator(ready).first().waitFor();
    await visitor.settle();
    await visitor.picture(`page-${name}`);
  }
  models.pace = 120;
  await visitor.go('#/new/ask');
  await visitor.page.locator('textarea[name=question]').fill('Should reads go through a cache?');
  await visitor.page.getByRole('button', { name: 'Start' }).click();
  await visitor.page.waitForFunction(() => (document.querySelector('.stream pre')?.textContent?.length ?? 0) > 250);
  // A run is taller: what the seats write stands below the table.
  await visitor.page.setViewportSize({ ...SIZE, height: 1000 });
  await visitor.picture('page-run');
  await visitor.page.getByRole('button', { name: 'Whisper' }).first().click();
  await visitor.page.locator('.intervene textarea').fill('Count the cost of going back.');
  await visitor.picture('page-intervene', { clip: { x: 0, y: 0, ...SIZE, height: 620 } });
  models.pace = 0;
  await visitor.page.locator('.run-state', { hasText: 'The run finished' }).waitFor({ timeout: 60_000 });
}, SIZE);
models.stop();
