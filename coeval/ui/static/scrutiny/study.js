/** The scrutiny screen on a page of its own, for the people of a study. */

const place = /** @type {HTMLElement} */ (document.getElementById('place'));
const value = { task: place.dataset.task ?? '', person: place.dataset.person ?? '' };
const dark = matchMedia('(prefers-color-scheme: dark)');

function setTheme() {
  document.body.classList.toggle('dark', dark.matches);
}

function start() {
  place.textContent = '';
  window.coeval.screen('scrutiny', place, { value });
}

dark.addEventListener('change', setTheme);
setTheme();
if (window.coeval) start();
else window.addEventListener('coeval-ready', start, { once: true });
