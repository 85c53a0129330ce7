/** Shows the nodes of a Python View: a tree of {tag, class, attributes, children}; texts stay texts. */

import { markdownNodes } from './display.js';
import { el, fill } from '../core/dom.js';

const TAGS = new Set(
  (
    'a b br code dd del details div dl dt em h2 h3 h4 hr i img ins kbd li ol p pre section small span strong ' +
    'summary table tbody td th thead tr u ul'
  ).split(' '),
);
const ATTRIBUTES =
  /^(title|scope|role|colspan|download|target|open|id|lang|dir|tabindex|data-[a-z-]+|aria-[a-z]+)$/;

/** Addresses stay on this site, or are https: nothing that a browser would run. */
function safeHref(href) {
  const url = new URL(href, document.baseURI);
  return url.origin === location.origin || url.protocol === 'https:' ? href : null;
}

/** Images are of types that hold no script; the page's policy says from where they may come. */
function safeSource(source) {
  return /^(?:https:\/\/|data:image\/(?:png|jpe?g|gif|webp);base64,)/i.test(source) ? source : '';
}

/** A link that changes something is followed by a form: a write is never a GET. */
function post(event) {
  event.preventDefault();
  const form = el('form', { method: 'post', action: event.currentTarget.href });
  document.body.append(form);
  form.submit();
}

/** The whole page is read and runs as its corner says: "ar rtl". @param {string} speaks */
function speakPage(speaks) {
  const [code, direction] = speaks.split(' ');
  document.documentElement.lang = code;
  document.documentElement.dir = direction;
}

function build(node) {
  if (typeof node === 'string') return document.createTextNode(node);
  if (!TAGS.has(node.tag)) throw new Error(`a view holds no <${node.tag}>`);
  const { width, href, src, alt, ...others } = node.attributes ?? {};
  const made = el(node.tag, { class: node.class || null });
  for (const [name, value] of Object.entries(others)) {
    if (ATTRIBUTES.test(name) && name !== 'data-markdown') made.setAttribute(name, String(value));
  }
  if (href !== undefined && node.tag === 'a') made.setAttribute('href', safeHref(href) ?? '#');
  if (node.tag === 'img') {
    made.setAttribute('alt', String(alt ?? ''));
    made.setAttribute('src', safeSource(String(src)));
  }
  if ('data-speaks' in others) speakPage(others['data-speaks']);
  if ('data-post' in others) made.addEventListener('click', post);
  if (width !== undefined) made.style.width = `${Math.max(0, Math.min(1, width)) * 100}%`;
  if ('data-markdown' in others) made.append(...markdownNodes(others['data-markdown']));
  made.append(...(node.children ?? []).map(build));
  return made;
}

export function view(element, props, watch) {
  const show = () => fill(element.querySelector('.coeval-view'), ...(props.value?.nodes ?? []).map(build));
  watch('value', show);
  show();
}
