// The page: signs in, finds the screen of the address, draws it, keeps the keyboard in place.

import { html, nothing, render } from './vendor/lit-html.js';
import { ApiProblem, postJson } from './api.js';
import { ServerConnection } from './connection.js';
import { clock } from './format.js';
import { LiveFeed } from './live.js';
import { parseAddress } from './router.js';
import { hasRoute } from './routes.js';
import { failure, loading } from './parts/notices.js';

/**
 * @typedef {import('./host.js').PageHost} PageHost
 * @typedef {import('./host.js').PageScreen} PageScreen
 * @typedef {import('./router.js').ScreenAddress} ScreenAddress
 * @typedef {(host: PageHost, address: ScreenAddress) => PageScreen} MakeScreen
 */

/** A screen's code is fetched when it is first opened. */
const SCREENS = /** @type {Record<string, () => Promise<MakeScreen>>} */ ({
  '': async () => (await import('./screens/list.js')).makeListScreen,
  d: async () => (await import('./screens/dialogue.js')).makeDialogueScreen,
  new: async () => (await import('./screens/start.js')).makeStartScreen,
  reviews: async () => (await import('./screens/reviews.js')).makeReviewsScreen,
  due: async () => (await import('./screens/due.js')).makeDueScreen,
  ethos: async () => (await import('./screens/ethos.js')).makeEthosScreen,
});

const PLACES = [['', 'Dialogues', '#/'], ['reviews', 'Reviews', '#/reviews'], ['due', 'Due', '#/due']];
const ETHOS_PLACE = ['ethos', 'Ethos', '#/ethos'];

/** @type {PageScreen | null} */
let screen = null;
/** The part of the address that chooses the screen. */
let shownKey = '\0';
/** @type {unknown} */
let problem = null;
let announcement = '';
/** The element that gets the focus once it is drawn. */
let focusId = '';
let isDrawing = false;
let needsToken = false;
/** Whether the server refused the last token that the reader typed. */
let isTokenWrong = false;
let places = PLACES;

/** @type {PageHost} */
const host = {
  redraw() {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(draw);
  },
  announce(text) {
    announcement = text;
    host.redraw();
  },
  focus(id) {
    focusId = id;
    host.redraw();
  },
  report(error) {
    if (error instanceof ApiProblem && error.status === 401) {
      needsToken = true;
      host.feed.stop();
    }
    problem = error;
    if (error instanceof ApiProblem && error.status === 0 && host.connection.isLost) problem = null;
    host.redraw();
  },
  feed: new LiveFeed((state) => {
    host.connection.hasFeed = state === 'open';
    if (state === 'open') host.connection.find();
    // A response ends after some minutes and the browser opens the next one: that is no loss.
    if (state === 'lost') void host.connection.ask();
    host.redraw();
  }),
  connection: new ServerConnection(() => {
    // The banner says it, for as long as it is so.
    if (problem instanceof ApiProblem && problem.status === 0) problem = null;
    host.redraw();
  }),
};

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
window.addEventListener('hashchange', () => void openAddress());
window.addEventListener('keydown', takeKey);
window.addEventListener('unhandledrejection', (event) => host.report(event.reason));
void start();

async function start() {
  const token = oneTimeToken();
  if (token) await signIn(token);
  await openAddress();
  await findPlaces();
}

/** A server without an ethos does not offer one. Only a reader who is signed in learns that. */
async function findPlaces() {
  if (await hasRoute('/api/ethos')) places = [...PLACES, ETHOS_PLACE];
  host.redraw();
}

/** `plenary serve --open` puts the token behind `#`, which no log and no server sees. */
function oneTimeToken() {
  const [, token] = /^#token=(.+)$/.exec(location.hash) ?? [];
  if (token) history.replaceState(null, '', '#/');
  return token ? decodeURIComponent(token) : '';
}

/** @param {string} token */
async function signIn(token) {
  try {
    await postJson('/api/session', { token: token.trim() });
    needsToken = false;
    isTokenWrong = false;
    problem = null;
  } catch (error) {
    isTokenWrong = error instanceof ApiProblem && error.status === 401;
    host.report(error);
  }
}

async function openAddress() {
  const address = parseAddress(location.hash);
  const name = address.parts[0] ?? '';
  const make = SCREENS[name];
  const key = name === 'd' ? `d/${address.parts[1]}` : name;
  if (screen && key === shownKey) {
    screen.show(address);
    return host.redraw();
  }
  shownKey = key;
  announcement = '';
  focusId = '';
  screen?.leave?.();
  host.feed.stop();
  screen = null;
  problem = null;
  host.redraw();
  if (!make) {
    problem = null;
    screen = missingScreen();
    return host.redraw();
  }
  const makeScreen = await host.connection.loadCode(make);
  if (shownKey !== key) return;
  screen = makeScreen(host, address);
  window.scrollTo(0, 0);
  host.redraw();
}

function draw() {
  isDrawing = false;
  document.title = screen ? `${screen.title} · Plenary` : 'Plenary';
  render(frame(), root);
  screen?.drawn?.();
  const target = focusId ? document.getElementById(focusId) : null;
  if (!target) return;
  focusId = '';
  target.focus();
}

function frame() {
  const place = parseAddress(location.hash).parts[0] ?? '';
  return html`
    <a class="skip" href="#main" @click=${skipToMain}>Skip to the content</a>
    <header class="top">
      <a class="brand" href="#/"><img src="/icon.svg" alt="" width="24" height="24">Plenary</a>
      <nav aria-label="Places">${places.map(([name, label, href]) => html`<a href=${href} aria-current=${place === name || (place === 'd' && name === '') ? 'page' : nothing}>${label}</a>`)}</nav>
      <a class="button primary" href="#/new/ask">New</a>
    </header>
    ${host.connection.lostAt === null ? nothing : lostBanner(host.connection.lostAt)}
    <main id="main" tabindex="-1">
      ${needsToken ? signInForm() : html`${problem ? problemBox() : nothing}${screen ? screen.view() : problem ? nothing : loading('the page')}`}
    </main>
    <p class="hidden" role="status" aria-live="polite">${announcement}</p>
    <dialog id="keys" aria-labelledby="keys-title">${keysHelp()}</dialog>`;
}

/** @returns {PageScreen} */
function missingScreen() {
  return { title: 'Not found', show() {}, view: () => html`<section><h1>There is no such page</h1><p class="lead"><a href="#/">Show the dialogues</a></p></section>` };
}

/** @param {number} since */
function lostBanner(since) {
  return html`<p class="feed-lost" role="status"><strong>Connection lost since ${clock(new Date(since).toISOString())}.</strong> The page shows what it knew then. It reconnects when <code>plenary serve</code> runs again.</p>`;
}

function problemBox() {
  return html`<div class="problem">${failure(problem)}
    <button type="button" class="quiet" @click=${() => { problem = null; host.redraw(); }}>Dismiss</button></div>`;
}

function signInForm() {
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    await signIn(String(new FormData(form).get('token')));
    if (needsToken) return;
    shownKey = '\0';
    await openAddress();
    await findPlaces();
  };
  return html`<section class="sign-in">
    <h1>Sign in</h1>
    <p>This server answers only with its token. <code>plenary serve --open</code> prints an address that signs you in. Or paste the token from the file <code>.plenary/token</code>:</p>
    ${isTokenWrong ? html`<p class="notice bad" role="alert"><strong>This is not the token of this server.</strong> An address of <code>--open</code> works once, within 15 minutes.</p>` : nothing}
    ${problem instanceof ApiProblem && problem.status !== 401 ? failure(problem) : nothing}
    <form @submit=${submit}><label>Token <input name="token" type="password" autocomplete="off" required></label>
    <button class="primary">Sign in</button></form></section>`;
}

const KEYS = [
  ['/', 'search the dialogues'], ['n', 'ask a new question'], ['g then l', 'go to the list'],
  ['1 … 8', 'the screens of a dialogue'], ['↑ ↓', 'move in a list'], ['Esc', 'close what is open'], ['?', 'these keys'],
];

function keysHelp() {
  return html`<h2 id="keys-title">Keys</h2>
    <dl class="keys">${KEYS.map(([key, meaning]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${meaning}</dd></div>`)}</dl>
    <form method="dialog"><button class="primary">Close</button></form>`;
}

/** @param {Event} event */
function skipToMain(event) {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

let lastKey = '';

/** Single keys work only outside of fields and without modifiers.
 * @param {KeyboardEvent} event
 */
function takeKey(event) {
  const target = event.target;
  const isField = target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
  if (isField || event.ctrlKey || event.metaKey || event.altKey) return;
  const previous = lastKey;
  lastKey = event.key;
  if (event.key === '?') return keysDialog()?.showModal();
  if (document.querySelector('dialog[open]')) return;
  if (event.key === '/') {
    event.preventDefault();
    if (shownKey !== '') location.hash = '#/?find=1';
    else document.getElementById('search')?.focus();
  } else if (event.key === 'n') location.hash = '#/new/ask';
  else if (event.key === 'l' && previous === 'g') location.hash = '#/';
  else if (/^[1-9]$/.test(event.key)) {
    const links = document.querySelectorAll('.screens a');
    const link = links[Number(event.key) - 1];
    if (link instanceof HTMLElement) link.click();
  }
}

function keysDialog() {
  return /** @type {HTMLDialogElement | null} */ (document.getElementById('keys'));
}
