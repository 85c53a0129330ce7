/** Requests to the server: JSON both ways, and one kind of error that says whether trying again makes sense. */

import { language, tr } from './words.js';

const PATIENCE_MS = 10_000;
/** The server's kind of a refusal because this browser is signed in as another person now. */
export const OTHER_PERSON = 'other_person';

/** The address of the app with a final slash: two folders above this one, whatever the mount path. */
export function appRoot() {
  return new URL('../../', import.meta.url).href;
}

/** An error. `kind` is the server's, or `offline` if no answer came. */
export class ApiError extends Error {
  /**
   * @param {string} kind
   * @param {string} message
   * @param {{status?: number, body?: any}} answer
   */
  constructor(kind, message, { status = 0, body = {} } = {}) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.body = body;
  }

  /** Whether this browser is signed in as another person than the one for whom the page was opened. */
  get isOtherPerson() {
    return this.body?.error === OTHER_PERSON;
  }

  /** Whether the same request may succeed later: no answer came, or the server failed. */
  get isPassing() {
    return (
      this.kind === 'offline' ||
      this.kind === 'sign_in' ||
      this.status >= 500 ||
      this.status === 429 ||
      this.status === 408
    );
  }
}

/** Time on the server's clock; each answer tells the difference, to the second. */
let skew = 0;

function learnClock(response) {
  const served = Date.parse(response.headers.get('date') ?? '');
  const off = served - Date.now();
  if (!Number.isNaN(off)) skew = Math.abs(off) > 2000 ? off : 0;
}

export function serverNow() {
  return new Date(Date.now() + skew).toISOString();
}

/** The error of a request without a session, or of a page that was opened for another person. */
function signedOut(body = {}) {
  const isOther = body?.error === OTHER_PERSON;
  if (!isOther) window.dispatchEvent(new Event('coeval-signed-out'));
  const text = tr('You are signed out. Nothing is lost: sign in again to continue.');
  return new ApiError('sign_in', isOther ? body.message : text, { status: 401, body });
}

/** @param {Response} response */
async function readAnswer(response) {
  if (response.type === 'opaqueredirect') throw signedOut();
  /** @type {any} */
  let body = null;
  try {
    body = await response.json();
  } catch {
    if (response.ok) throw signedOut();
  }
  if (response.status === 401) throw signedOut(body);
  if (response.ok) return body;
  const message =
    typeof body?.message === 'string'
      ? body.message
      : tr('The server answered {status}.', { status: response.status });
  throw new ApiError(typeof body?.error === 'string' ? body.error : 'server', message, {
    status: response.status,
    body: body ?? {},
  });
}

/**
 * Sends one request. Throws ApiError, at the latest after ten seconds.
 * @param {'GET' | 'POST'} method
 * @param {string} path
 * @param {unknown} data
 */
export async function request(method, path, data = undefined) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE_MS);
  /** @type {RequestInit & {headers: Record<string, string>}} */
  const options = {
    method,
    credentials: 'same-origin',
    redirect: 'manual',
    cache: 'no-store',
    signal: stop.signal,
    headers: { accept: 'application/json', 'coeval-language': language() },
  };
  if (data !== undefined) {
    options.headers['content-type'] = 'application/json';
    options.body = JSON.stringify(data);
  }
  try {
    const response = await fetch(new URL(path, appRoot()), options);
    learnClock(response);
    return await readAnswer(response);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('offline', tr('The server cannot be reached.'));
  } finally {
    clearTimeout(timer);
  }
}

/** "path?a=1&b=2" without values that are null, undefined or empty. */
export function withQuery(path, query) {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  const text = new URLSearchParams(given).toString();
  return text ? `${path}${path.includes('?') ? '&' : '?'}${text}` : path;
}
