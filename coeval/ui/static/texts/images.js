/** The images of an instance: each kept low until it is opened, or the reason why it is not shown. */

import { button, el } from '../core/dom.js';
import { tr } from '../core/words.js';

const note = (text) => el('p', { class: 'wb-no-image ce-note', dir: 'auto' }, text);

function picture({ name, source }) {
  const failed = source.startsWith('data:')
    ? tr('“{name}” could not be loaded. Reload the page to try again.', { name })
    : tr('“{name}” could not be loaded from {host}. Reload the page to try again.', {
        name,
        host: new URL(source).host,
      });
  const onerror = () => opens.replaceWith(note(failed));
  const opens = button(el('img', { src: source, alt: name, referrerpolicy: 'no-referrer', onerror }), {
    class: 'wb-image',
    title: tr('Larger or smaller'),
    'aria-expanded': 'false',
    onclick: () =>
      opens.setAttribute('aria-expanded', String(opens.getAttribute('aria-expanded') === 'false')),
  });
  return opens;
}

/**
 * What stands above the texts; nothing where the instance has no image.
 * @param {StepImage[]} images
 */
export function imageNodes(images) {
  return images.map((image) => (image.problem ? note(image.problem) : picture(image)));
}
