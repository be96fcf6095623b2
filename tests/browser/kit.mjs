// The kit of the browser tests: a project with the real program, its server, and a real Chromium
// whose pages report every error and every violation of the security policy.
//
// The caller sets: PLENARY (the program), PLENARY_REAL_BROWSER (folder of npm packages),
// PLENARY_REAL_CHROMIUM, PLENARY_SOURCES (root of the repository), PLENARY_PICTURES (folder for
// screenshots). The working folder is the project.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const require = createRequire(path.join(setting('PLENARY_REAL_BROWSER'), 'package.json'));
const { chromium } = require('playwright-core');
const AXE = require.resolve('axe-core/axe.min.js');

export const SOURCES = setting('PLENARY_SOURCES');
export const PICTURES = setting('PLENARY_PICTURES');

const WAIT_MS = 20_000;
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

function setting(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set; ./check real sets it`);
  return value;
}

/** Waits until a condition outside the page holds. */
export async function until(holds, what) {
  const end = Date.now() + WAIT_MS;
  while (!holds()) {
    assert.ok(Date.now() < end, `not in ${WAIT_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Runs the program and returns what it printed. */
export function plenary(...args) {
  const ran = spawnSync(setting('PLENARY'), args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  // 1 and 2 are verdicts of a review; 3 is a run that waits for a person.
  assert.ok([0, 1, 2, 3].includes(ran.status), `plenary ${args.join(' ')}: ${ran.status}\n${ran.stderr}\n${ran.stdout}`);
  return ran.stdout;
}

export function plenaryJson(...args) {
  return JSON.parse(plenary(...args, '--json'));
}

export function operation(name, data) {
  const ran = spawnSync(setting('PLENARY'), ['dialogue', name, '--data', '-', '--json'], {
    input: JSON.stringify(data), encoding: 'utf8', maxBuffer: 1 << 28,
  });
  assert.equal(ran.status, 0, `${name}: ${ran.stdout}${ran.stderr}`);
  return JSON.parse(ran.stdout);
}

/** `plenary serve`; `kill` ends it as a power cut does, and `start` starts it again on its port. */
export class Server {
  constructor() {
    this.port = 0;
    this.process = null;
  }

  async start() {
    const started = spawn(setting('PLENARY'), ['serve', '--port', String(this.port)], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.process = started;
    const said = await firstLines(started.stderr);
    const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said) ?? [];
    assert.ok(port, `the server said: ${said}`);
    this.port = Number(port);
    this.token = fs.readFileSync('.plenary/token', 'utf8').trim();
    return this;
  }

  get address() {
    return `http://127.0.0.1:${this.port}/`;
  }

  async kill() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
  }

  async stop() {
    if (!this.process || this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGINT');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }

  async get(route) {
    const response = await fetch(`${this.address}${route}`, { headers: { authorization: `Bearer ${this.token}` } });
    return response.json();
  }
}

function firstLines(stream) {
  return new Promise((resolve) => {
    let said = '';
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      said += text;
      if (/127\.0\.0\.1:\d+/.test(said)) resolve(said);
    });
    stream.on('end', () => resolve(said));
  });
}

/** A browser with one page, signed in. `faults` collects what must not happen. */
export class Visitor {
  static async open(server, options = {}) {
    const visitor = new Visitor();
    visitor.server = server;
    visitor.browser = await chromium.launch({ executablePath: setting('PLENARY_REAL_CHROMIUM'), args: FLAGS });
    await visitor.newPage(options);
    return visitor;
  }

  async newPage({ width = 1440, height = 900, scheme = 'light', bypassCSP = false, reducedMotion = 'no-preference' } = {}) {
    await this.context?.close();
    this.faults = [];
    this.context = await this.browser.newContext({
      viewport: { width, height }, colorScheme: scheme, bypassCSP, reducedMotion, locale: 'en-GB', timezoneId: 'UTC',
    });
    if (process.env.PLENARY_PAGE_FROM_DISK) await servePageFromDisk(this.context, this.server);
    const page = await this.context.newPage();
    this.page = page;
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', (error) => this.faults.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => { this.faults.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !this.isExpected(text)) this.faults.push(`console: ${text}`);
    });
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => console.error(`policy violation: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
      // A corpus string that runs as script calls one of these.
      for (const name of ['alert', 'confirm', 'prompt', 'print']) window[name] = () => console.error(`script ran: ${name}`);
      // Which address the page has drawn: a change after `#` loads nothing that a test could wait for.
      const note = () => requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.drawn = location.hash; }));
      window.addEventListener('hashchange', note);
      window.addEventListener('load', note);
    });
    await page.goto(`${this.server.address}#token=${encodeURIComponent(this.server.token)}`);
    await page.waitForSelector('.list-screen h1');
    return page;
  }

  /** While the server is down, requests fail; that is the test, not a fault. */
  isExpected(text) {
    return this.expectsLoss && /ERR_CONNECTION|Failed to load resource|net::ERR/.test(text);
  }

  async go(hash) {
    await this.page.goto(`${this.server.address}${hash}`);
    await this.page.waitForFunction(() => document.documentElement.dataset.drawn === location.hash);
    await this.settle();
  }

  /** Waits until nothing is loading. */
  async settle() {
    await this.page.waitForFunction(() => document.querySelector('main')?.children.length && !document.querySelector('.loading'));
    await this.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }

  check(where) {
    assert.deepEqual(this.faults, [], where);
  }

  /** Nothing serious or critical; `bypassCSP` is needed, because axe is a foreign script. */
  async checkAxe(where) {
    const has = await this.page.evaluate(() => 'axe' in window);
    if (!has) await this.page.addScriptTag({ path: AXE });
    const { violations } = await this.page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    const grave = violations.filter((one) => one.impact === 'serious' || one.impact === 'critical');
    const told = grave.map((one) => `${one.id}: ${one.help}\n${one.nodes.slice(0, 3).map((node) => `  ${node.target} ${node.failureSummary}`).join('\n')}`);
    assert.deepEqual(told, [], `axe on ${where}`);
  }

  /** The page never scrolls sideways; wide content scrolls inside its own box. */
  async checkWidth(where) {
    const [content, window] = await this.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(content <= window, `${where} is ${content} pixels wide in a window of ${window}`);
  }

  /** Rows of a long list have one height, which cuts off what does not fit. */
  async checkRows(where) {
    const cut = await this.page.evaluate(() => [...document.querySelectorAll('.windowed .row > *')].filter((row) => row.scrollHeight > row.clientHeight + 1).length);
    assert.equal(cut, 0, `rows of ${where} are cut off`);
  }

  async picture(name, options = {}) {
    fs.mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({ path: path.join(PICTURES, `${name}.png`), ...options });
  }

  async close() {
    await this.browser.close();
  }
}

/** Work on the page without building the program again: its files come from the folder, with the server's headers. */
async function servePageFromDisk(context, server) {
  const isPage = (url) => url.href.startsWith(server.address) && !url.pathname.startsWith('/api/');
  const first = await fetch(server.address);
  const headers = Object.fromEntries(['content-security-policy', 'x-content-type-options'].map((key) => [key, first.headers.get(key) ?? '']));
  await context.route(isPage, async (route) => {
    const name = new URL(route.request().url()).pathname.replace(/^\/$/, '/index.html');
    await route.fulfill({ path: path.join(SOURCES, 'web', name), headers: { ...headers, 'content-type': TYPES[path.extname(name)] ?? 'text/plain' } });
  });
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/** Runs a scenario with a server and a browser, and ends both. */
export async function withVisitor(scenario, { prepare = () => {}, ...options } = {}) {
  await prepare();
  const server = await new Server().start();
  const visitor = await Visitor.open(server, options);
  try {
    await scenario(visitor, server);
    visitor.check('at the end');
  } catch (error) {
    await visitor.picture(`failed-${path.basename(process.argv[1], '.mjs')}`, { fullPage: true }).catch(() => {});
    throw error;
  } finally {
    await visitor.close();
    await server.stop();
  }
}

/** Prints a figure for the reader of the run; nothing depends on it. */
export function figure(name, value) {
  console.log(`figure ${name}: ${value}`);
}

/** The dialogue of twelve experts from `examples/`. */
export function playExample() {
  const folder = path.join(SOURCES, 'examples', 'nvidia');
  const read = (name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
  const { dialogue_id: id } = operation('create', read('01-create.json'));
  const steps = [
    ['register', '02-round-0.json'], ['panel', '03-panel-1.json'], ['register', '04-round-1.json'],
    ['expert', '05-expert-palmier.json'], ['panel', '06-panel-2.json'], ['register', '07-round-2.json'],
    ['verdict', '08-verdict-final.json'], ['verdict', '09-verdict-minority.json'], ['verdict', '10-verdict-dissent.json'],
  ];
  for (const [name, file] of steps) operation(name, { ...read(file), dialogue_id: id });
  return id;
}

/** Rules of an organisation; one of them contradicts a constraint that `openConflict` gives. */
const LIBRARY = `principles:
  - {label: Evidence is citable, description: Every figure names a source that the reader can open.}
  - {label: The minority is heard, description: No convergence before the minority has answered.}
domains:
  - slug: operations
    code: OPS
    label: Operations
    tenets:
      - {label: A way back, description: Every change can be undone within a day., priority: 900}
      - {label: One owner, description: Each step has one owner and a date., priority: 700}
`;

/** The rehearsed dialogues of the Judge: calibrated, waiting for a person, not converged. */
export function playCalibrated() {
  fs.writeFileSync('ethos.yaml', LIBRARY);
  plenary('ethos', 'import', 'ethos.yaml');
  const align = (...args) => plenaryJson('align', ...args, '--rehearse').dialogue_id;
  const rules = ['--domain', 'operations'];
  const calibrated = align('Should reads go through a cache?', '--no-conclusion', ...rules, '--constraint', 'No stale prices');
  const waiting = align('Should the archive move to object storage?', ...rules, '--constraint', 'A way back');
  const forced = align('Which region should the archive use?', '--max-rounds', '1');
  return { calibrated, waiting, forced };
}

/** Twenty verdicts of four weeks, as a team's log has them; one of them overridden. */
export function importVerdicts() {
  const seat = (name, blocks) => ({ deliberator: name, verdict: blocks ? 'hold' : 'ship', scores: { soundness: 3 }, would_block: blocks, irreducible: blocks });
  const row = (number) => {
    const verdict = ['SHIP', 'SHIP', 'REVISE', 'SHIP', 'HOLD'][number % 5];
    const blocks = verdict === 'HOLD';
    return {
      v: 2, ts: `2026-0${1 + Math.floor(number / 10)}-${String(1 + (number % 10) * 2).padStart(2, '0')}T12:00:00Z`, artifact: `posts/${number}.md`, producer: 'ann',
      artifact_type: number % 3 === 0 ? 'code' : 'linkedin_post', round1: [seat('skeptic', false), seat('evidence', blocks)], round2: [seat('skeptic', blocks), seat('evidence', blocks)],
      adjudicator: { final_verdict: verdict, reasoning: 'Bare figures.' },
    };
  };
  fs.writeFileSync('log.jsonl', Array.from({ length: 20 }, (_, number) => `${JSON.stringify(row(number))}\n`).join(''));
  plenary('log', 'import', 'log.jsonl');
}
