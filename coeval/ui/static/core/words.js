/**
 * The texts of the page in the language of the study. The scripts contain the English texts. Other languages are in
 * static/locale/LANGUAGE.json, which `python -m tests.catalogue` writes from the catalogue.
 */

/** The order of plural forms in a catalogue; a language has some of them. */
const FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'];

/** @typedef {{language: string, direction: string, words: Record<string, string | string[]>}} Catalogue */

/** @type {Catalogue} */
const ENGLISH = { language: 'en', direction: 'ltr', words: {} };

let spoken = ENGLISH;
let rules = new Intl.PluralRules('en');
let forms = ['one', 'other'];

/** @param {Catalogue} catalogue */
function take(catalogue) {
  spoken = catalogue;
  rules = new Intl.PluralRules(catalogue.language);
  const { pluralCategories } = rules.resolvedOptions();
  forms = FORMS.filter((form) => pluralCategories.includes(/** @type {any} */ (form)));
}

/** Switches to that language, or to English if it has no catalogue. @param {string} language */
export async function speak(language) {
  if (language === spoken.language) return;
  if (language === 'en') {
    take(ENGLISH);
    return;
  }
  try {
    const response = await fetch(new URL(`../locale/${language}.json`, import.meta.url));
    take(await response.json());
  } catch {
    take(ENGLISH);
  }
}

/** The code of the current language. */
export function language() {
  return spoken.language;
}

/** The text in the current language, with its {names} filled in. @param {string} text @param {object} values */
export function tr(text, values = {}) {
  return filled(/** @type {string} */ (spoken.words[text] ?? text), values);
}

/** The form of a text for a number, which replaces {n}. @param {string} one @param {string} many @param {number} n */
export function trn(one, many, n, values = {}) {
  const known = spoken.words[one];
  const text = known ? known[forms.indexOf(rules.select(n))] : n === 1 ? one : many;
  return filled(text, { n, ...values });
}

/** A sentence with nodes in it, in the word order of the language. @param {string} text @param {Record<string, Node | string>} nodes */
export function trParts(text, nodes) {
  return tr(text)
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 ? nodes[part] : part))
    .filter((part) => part !== '');
}

/** @param {string} text @param {any} values */
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** A day in the format of the language, with digits like those on the keys. @param {Date} time */
export function dayText(time) {
  return time.toLocaleDateString(spoken === ENGLISH ? undefined : `${spoken.language}-u-nu-latn`);
}

/** Sets the direction of an element, and the language for screen readers. @param {HTMLElement} element */
export function markLanguage(element) {
  element.lang = spoken.language;
  element.dir = spoken.direction;
}
