/** The scrutiny screen on its own page, for the people of a crowd study. */

import { readStored, writeStored } from '../core/kept.js';

const place = /** @type {HTMLElement} */ (document.getElementById('place'));
const help = /** @type {HTMLDetailsElement} */ (document.getElementById('study-help'));
const toStudy = /** @type {HTMLAnchorElement} */ (document.getElementById('to-study'));
const { task = '', person = '', filter = '', language = 'en' } = place.dataset;
const dark = matchMedia('(prefers-color-scheme: dark)');

function setTheme() {
  document.body.classList.toggle('dark', dark.matches);
}

/** When no work is left, the study's page shows the next step: the code, or handing in the exam. */
function watchEnd() {
  const seen = new MutationObserver(() => {
    const bench = /** @type {HTMLElement | null} */ (place.querySelector('.wb[data-state=end]'));
    if (!bench || bench.dataset.filter === 'flagged') return;
    seen.disconnect();
    window.location.assign(toStudy.href);
  });
  seen.observe(place, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-state'] });
}

/** A look at all instances begins at the first one, but a reload stays at the current one. */
function placeLook() {
  if (!filter) return;
  writeStored(`coeval:place:${person}:${task}`, { filter }, () => sessionStorage);
  window.history.replaceState(null, '', window.location.pathname);
}

function start() {
  place.textContent = '';
  placeLook();
  watchEnd();
  window.coeval.screen('scrutiny', place, { value: { task, person, language } });
}

help.open = !readStored('coeval:study-help');
writeStored('coeval:study-help', true);
dark.addEventListener('change', setTheme);
setTheme();
// the server leads back to the study's link; typed text and waiting saves stay in this browser
window.addEventListener('coeval-signed-out', () => window.location.reload(), { once: true });
if (window.coeval) start();
else window.addEventListener('coeval-ready', start, { once: true });
