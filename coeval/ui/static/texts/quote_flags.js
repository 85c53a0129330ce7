/** What is said under a line of its quotes that do not stand in the output word for word. */

import { el } from '../core/dom.js';
import { tr } from '../core/words.js';
import { diffNodes } from './diff.js';

const SHOWN = 24;

/** The words of a flag; a quote that is nearly there shows what differs, from what stands there to what is quoted. */
function flagOf({ text, place, passage }, sheet, several) {
  if (place === 'nearly in the output')
    return [sheet.nearly ?? tr('nearly in the text:'), ' ', ...diffNodes(passage, text)];
  const said =
    place === 'input'
      ? (sheet.from_input ?? tr('quotes the input'))
      : (sheet.missing ?? tr('not in the text'));
  return [several ? `“${text.slice(0, SHOWN)}…” ${said}` : said];
}

/** @param {Quote[]} quotes @param {Sheet} sheet */
export function quoteFlags(quotes, sheet) {
  const elsewhere = quotes.filter(({ place }) => place !== 'output');
  return elsewhere.map((quote) => {
    const kind =
      quote.place === 'nearly in the output' ? ' is-near' : quote.place === 'input' ? ' is-input' : '';
    const flag = flagOf(quote, sheet, elsewhere.length > 1);
    return el('span', { class: `ce-flag${kind}`, title: quote.text }, ...flag);
  });
}
