/** The images of an instance: each kept low until it is opened, or the reason why it is not shown. */

import { button, el } from '../core/dom.js';

const note = (text) => el('p', { class: 'wb-no-image ce-note', dir: 'auto' }, text);

function picture({ name, source }) {
  const from = source.startsWith('data:') ? '' : ` from ${new URL(source).host}`;
  const onerror = () =>
    opens.replaceWith(note(`“${name}” could not be loaded${from}. Reload the page to try again.`));
  const opens = button(el('img', { src: source, alt: name, referrerpolicy: 'no-referrer', onerror }), {
    class: 'wb-image',
    title: 'Larger or smaller',
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
