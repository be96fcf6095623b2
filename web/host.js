// What a screen gets from the page: redrawing, announcing, the live feed; and what it gives back.

import { isUnreachable } from './api.js';

/**
 * @typedef {import('./vendor/lit-html.js').TemplateResult} TemplateResult
 * @typedef {import('./router.js').ScreenAddress} ScreenAddress
 *
 * @typedef {object} PageHost
 * @property {() => void} redraw draws the page with the next frame
 * @property {(text: string) => void} announce tells a screen reader
 * @property {(id: string) => void} focus moves the keyboard to an element of the next drawing
 * @property {(error: unknown) => void} report shows a failed action
 * @property {import('./live.js').LiveFeed} feed
 * @property {import('./connection.js').ServerConnection} connection
 *
 * @typedef {object} PageScreen
 * @property {string} title
 * @property {(address: ScreenAddress) => void} show takes an address of the same screen
 * @property {() => TemplateResult} view
 * @property {() => void} [drawn] runs after the page was drawn
 * @property {() => void} [leave]
 */

/**
 * A value that is being fetched.
 *
 * @template T
 */
export class RemoteValue {
  /** @param {PageHost} host */
  constructor(host) {
    this.host = host;
    /** @type {T | null} */
    this.value = null;
    /** @type {unknown} */
    this.error = null;
    this.key = '';
    this.isLoading = false;
  }

  /**
   * Fetches once per key; the old value stays until the new one is there.
   *
   * @param {string} key
   * @param {() => Promise<T>} fetchValue
   */
  want(key, fetchValue) {
    if (this.key === key) return;
    this.key = key;
    void this.load(fetchValue);
  }

  /** @param {() => Promise<T>} fetchValue */
  async load(fetchValue) {
    const key = this.key;
    this.isLoading = true;
    try {
      const value = await fetchValue();
      if (key !== this.key) return;
      this.value = value;
      this.error = null;
    } catch (error) {
      if (key !== this.key) return;
      this.error = error;
      if (isUnreachable(error)) void this.retry(key, fetchValue);
    }
    this.isLoading = false;
    this.host.redraw();
  }

  /** What a dead server did not answer is fetched once it is back.
   * @param {string} key
   * @param {() => Promise<T>} fetchValue
   */
  async retry(key, fetchValue) {
    await this.host.connection.back();
    if (key === this.key && !this.isLoading) await this.load(fetchValue);
  }

  /** The next `want` fetches again. */
  expire() {
    this.key = '';
  }
}
