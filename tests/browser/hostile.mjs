// Text that breaks pages, as question, reply, file name, label and title: no script runs, the policy
// reports no violation, no foreign address is asked, and the text is shown as text.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { operation, plenary, plenaryJson, SOURCES, withVisitor } from './kit.mjs';
import { ModelServer } from './model_server.mjs';

/** Strings of the corpora with markup, script, control characters or right-to-left marks. */
function hostileStrings() {
  const folder = path.join(SOURCES, 'tests', 'fixtures', 'corpora');
  const texts = fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl')).flatMap((name) => fs.readFileSync(path.join(folder, name), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line).text));
  const isHostile = (text) => /[<>`&]|javascript:|\p{Cf}|on\w+=/u.test(text) && text.length < 1500;
  return [
    '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg/onload=alert(1)>', '<style>*{display:none}</style>',
    '[click](javascript:alert(1))', '![x](http://127.0.0.1:9/x.png)', '<a href="javascript:alert(1)">x</a>', '</dialog></main><h1>FAKE</h1>',
    '${alert(1)}', '{{constructor.constructor("alert(1)")()}}', '<!--?lit$1$-->', '<iframe srcdoc="<script>alert(1)</script>">',
    ...texts.filter(isHostile),
  ];
}

const strings = hostileStrings();
assert.ok(strings.length > 150, `${strings.length} strings`);
const clean = (text) => text.replaceAll('\0', '').replace(/[\p{Cc}\p{Cs}]/gu, ' ').trim().slice(0, 180) || 'empty';

/** One dialogue whose perspectives, tensions and experts' replies are hostile. */
function registerRecord() {
  const { dialogue_id: id } = operation('create', {
    title: clean(strings[0]), question: strings[1],
    expert_pool: { domain: clean(strings[2]), experts: [{ role: clean(strings[3]), tier: 'Core', slug: 'ann' }, { role: clean(strings[4]), tier: 'Wildcard', slug: 'bob' }] },
  });
  const sample = strings.slice(0, 90);
  const item = (slug, kind) => (text, index) => ({ local_id: `${slug.toUpperCase()}-${kind}00${String(index + 1).padStart(2, '0')}`, label: clean(text).slice(0, 90), content: text.replaceAll('\0', ''), contributors: [slug] });
  operation('register', {
    dialogue_id: id, round: 0, score: 1, title: clean(strings[5]), summary: clean(strings[6]),
    perspectives: sample.slice(0, 60).map(item('ann', 'P')),
    tensions: sample.slice(60).map(item('bob', 'T')).map(({ content, ...one }) => ({ ...one, description: content, references: [{ type: 'question', target: 'ANN-P0001' }] })),
    raw_content: { ann: sample.map((text) => `${text.replaceAll('\0', '')}\n\n`).join(''), bob: strings.slice(90, 190).join('\n\n').replaceAll('\0', '') },
    expert_scores: { ann: 1, bob: 1 },
  });
  return id;
}

/** Runs whose models answer with hostile text in every field. */
async function askHostile(models) {
  fs.writeFileSync('council.yaml', models.council());
  models.pace = 0;
  let next = 0;
  const text = () => JSON.stringify(strings[(next += 1) % strings.length].slice(0, 400)).slice(1, -1);
  models.script = (prompt) => (prompt.includes('You are a participant')
    ? `{"summary":"${text()}","details":{"understanding":"${text()}","key_considerations":["${text()}"],"recommendation":"${text()}","rationale":"${text()}"},"risks":[{"description":"${text()}","severity":"high","mitigation":"${text()}"}],"assumptions":["${text()}"],"questions":["${text()}"],"confidence":"high","stance":"approve","findings":[]}`
    : undefined);
  const found = [];
  for (const question of [strings[0], strings[1], strings[7], strings[40]]) {
    const child = await import('node:child_process');
    const ran = await new Promise((resolve) => {
      const process_ = child.spawn(process.env.PLENARY, ['ask', '--json', '--', question], { stdio: ['ignore', 'pipe', 'ignore'] });
      let shown = '';
      process_.stdout.on('data', (data) => { shown += data; });
      process_.on('exit', () => resolve(shown));
    });
    const document = JSON.parse(ran);
    assert.ok(document.dialogue_id, ran.slice(0, 400));
    found.push(document.dialogue_id);
  }
  return found;
}

const models = await new ModelServer().start();
const record = registerRecord();
const councils = await askHostile(models);
const name = 'posts <img src=x onerror=alert(1)>.md';
fs.writeFileSync(name, `# ${strings[8]}\n\nIt will double revenue.\n`);
plenary('review', name, '--type', 'linkedin_post', '--tier', '1', '--rehearse', '--json');
const review = plenaryJson('list').dialogues.find((row) => row.protocol === 'review').dialogue_id;

await withVisitor(async (visitor) => {
  const { page } = visitor;
  const foreign = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(visitor.server.address) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  const tabs = ['result', 'run', 'transcript', 'tensions', 'graph', 'graph?all=1', 'calls?call=1', 'record', 'result?source=conclusion.recommendation', 'record?source=P0101'];
  const addresses = ['#/', '#/reviews', '#/due', `#/?q=${encodeURIComponent('<script>alert(1)</script>')}`, '#/d/%3Cscript%3Ealert(1)%3C%2Fscript%3E', '#/nothing/%00'];
  for (const id of [record, review, ...councils]) for (const tab of tabs) addresses.push(`#/d/${encodeURIComponent(id)}/${tab}`);
  addresses.push(`#/d/${record}/scores`, `#/d/${record}/record?source=P0001`, `#/d/${record}/tensions?round=0`);
  visitor.isExpected = (text) => /status of 40[04]/.test(text);
  for (const address of addresses) {
    await visitor.go(address).catch((error) => { throw new Error(`${address}: ${error.message}`); });
    visitor.check(address);
  }
  // All rounds open, rendered and raw; the texts are there as text.
  await visitor.go(`#/d/${record}/transcript`);
  assert.ok((await page.locator('main').innerText()).includes('alert(1)'), 'the page shows the text');
  await page.getByRole('button', { name: 'Raw' }).click();
  assert.ok((await page.locator('main').innerText()).includes('<script>alert(1)</script>'), 'the raw view shows the text');
  visitor.check('transcript');
  assert.equal(await page.evaluate(() => document.querySelectorAll('main script, main iframe, main style, main object, main embed, main link').length), 0);
  const links = await page.evaluate(() => [...document.querySelectorAll('main a')].map((one) => one.getAttribute('href') ?? ''));
  assert.deepEqual(links.filter((href) => !href.startsWith('#') && !href.startsWith('/api/')), [], 'links stay on the page');
  // The exported file: the same text, without a server.
  for (const id of [record, review, ...councils]) {
    fs.writeFileSync('export.html', plenary('export', id, '--format', 'html'));
    await page.goto(`file://${path.resolve('export.html')}`);
    assert.ok(await page.locator('svg.graph .node').count() > 0, `${id}: the file draws its graph`);
    assert.equal(await page.evaluate(() => document.querySelectorAll('iframe, object, embed, link, img').length), 0, id);
    assert.equal(await page.evaluate(() => document.querySelectorAll('script').length), 2, `${id}: the graph's data and its script`);
    // The script of the file draws hostile labels as text, too.
    await page.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));
    await page.locator('svg.graph .node').first().click();
    await page.locator('svg.graph .node.focus').waitFor();
    const out = await page.evaluate(() => [...document.querySelectorAll('a')].map((one) => one.getAttribute('href') ?? '').filter((href) => !href.startsWith('#')));
    assert.deepEqual(out, [], `${id}: links stay in the file`);
    const lost = await page.evaluate(() => [...document.querySelectorAll('a')].map((one) => (one.getAttribute('href') ?? '').slice(1)).filter((name) => !document.getElementById(name)));
    assert.deepEqual(lost, [], `${id}: every link has its target`);
    visitor.check(`export of ${id}`);
  }
  assert.deepEqual(foreign.filter((url) => !url.startsWith('file:')), [], 'no foreign address is asked');
});
models.stop();
