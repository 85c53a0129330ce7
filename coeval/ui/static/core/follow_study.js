/**
 * Keeps a participant's page with the study: every few seconds it reads the study's page again. The study's page
 * itself then shows what changed; the page of work shows the first sentence of it, and keeps what somebody writes.
 */

const EVERY_MS = 4000;

const shown = /** @type {HTMLElement} */ (document.querySelector('[data-study]'));
const study = shown.dataset.study ?? '';
const news = document.getElementById('study-news');
const told = /** @type {HTMLElement} */ (news ?? document.querySelector('.error'));
/** The text of the study's page when it was last read. */
let before = shown.dataset.state;

/** @param {Element} main the study's page as it is now, or the refusal because another person is signed in */
function tell(main) {
  const place = main.querySelector('[data-study]');
  const now = place?.getAttribute('data-state') ?? '';
  if (now === before) return;
  before = now;
  if (place && !news) window.location.assign(study);
  else
    told.textContent =
      now === shown.dataset.state
        ? ''
        : (main.querySelector('p.lead, p:not(.stage, .error)')?.textContent ?? '');
}

async function look() {
  const isWriting = Array.from(document.querySelectorAll('form input[name=code]')).some(
    (box) => /** @type {HTMLInputElement} */ (box).value,
  );
  if (document.hidden || isWriting) return;
  const options = /** @type {RequestInit} */ ({ redirect: 'manual', cache: 'no-store' });
  const answer = await fetch(study, options).catch(() => null); // the next look tries again
  // the session is over, for example after a restore: the server leads back to the study's link
  if (answer?.type === 'opaqueredirect') window.location.reload();
  if (!answer?.ok && answer?.status !== 401) return;
  const main = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  if (main) tell(main);
}

setInterval(look, EVERY_MS);
document.addEventListener('visibilitychange', look);
