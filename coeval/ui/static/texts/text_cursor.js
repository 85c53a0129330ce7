/**
 * Selecting words without a mouse. In a focused text the arrow keys move from word to word and from line to
 * line, Shift with an arrow stretches the selection; Page Up, Page Down, Home and End scroll as they always do.
 */

const words = Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: 'word' }) : null;

/** [start, end] of every word of one text node. */
function wordSpans(text) {
  if (!words) return Array.from(text.matchAll(/[\p{L}\p{N}]+/gu), (m) => [m.index, m.index + m[0].length]);
  return Array.from(words.segment(text))
    .filter((part) => part.isWordLike)
    .map((part) => [part.index, part.index + part.segment.length]);
}

/** Every word under `pane` in reading order: {node, start, end}. */
function wordsOf(pane) {
  const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    for (const [start, end] of wordSpans(node.data)) found.push({ node, start, end });
  }
  return found;
}

/** Below zero when place a = [node, offset] comes before place b. */
function compare([a, i], [b, j]) {
  if (a === b) return i - j;
  return a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

function nextWord(all, place) {
  return all.find((word) => compare([word.node, word.end], place) > 0);
}

function previousWord(all, place) {
  return all.findLast((word) => compare([word.node, word.start], place) < 0);
}

function select(selection, word) {
  if (word) selection.setBaseAndExtent(word.node, word.start, word.node, word.end);
}

/** One word on or back; a line up or down lands on the word above or below. */
function move(selection, all, { forward, line }) {
  const range = selection.getRangeAt(0);
  if (line) {
    const { node, start } = nextWord(all, [range.startContainer, range.startOffset]) ?? all[0];
    selection.collapse(node, start);
    selection.modify('move', forward ? 'forward' : 'backward', 'line');
    return select(selection, nextWord(all, [selection.focusNode, selection.focusOffset]) ?? all.at(-1));
  }
  const word = forward
    ? nextWord(all, [range.endContainer, range.endOffset])
    : previousWord(all, [range.startContainer, range.startOffset]);
  return select(selection, word);
}

function stretch(selection, all, { forward, line }) {
  const focus = [selection.focusNode, selection.focusOffset];
  if (line) return selection.modify('extend', forward ? 'forward' : 'backward', 'line');
  const word = forward ? nextWord(all, focus) : previousWord(all, focus);
  return word && selection.extend(word.node, forward ? word.end : word.start);
}

/** The first word in view, where walking starts. */
function firstInView(all, pane) {
  const { top } = pane.getBoundingClientRect();
  const range = document.createRange();
  return all.find(({ node, start, end }) => {
    range.setStart(node, start);
    range.setEnd(node, end);
    return range.getBoundingClientRect().top >= top;
  });
}

function keepInView(selection, pane) {
  const box = selection.getRangeAt(0).getBoundingClientRect();
  const frame = pane.getBoundingClientRect();
  if (box.bottom > frame.bottom) pane.scrollTop += box.bottom - frame.bottom + 24;
  if (box.top < frame.top) pane.scrollTop -= frame.top - box.top + 24;
}

function isInside(selection, pane) {
  return (
    selection.rangeCount > 0 && pane.contains(selection.anchorNode) && pane.contains(selection.focusNode)
  );
}

/** Which way an arrow key goes in this text: right is back where the text runs from right to left. */
function stepOf(key, pane) {
  const line = key === 'ArrowUp' || key === 'ArrowDown';
  const onward = key === 'ArrowRight' || key === 'ArrowDown';
  const turned = !line && getComputedStyle(pane).direction === 'rtl';
  return { line, forward: onward !== turned };
}

/** On keydown in a pane: takes the arrow keys, leaves every other key alone. */
export function walkText(event, pane) {
  if (!/^Arrow/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  const selection = window.getSelection();
  const all = wordsOf(pane);
  if (!all.length) return;
  if (!isInside(selection, pane)) select(selection, firstInView(all, pane) ?? all[0]);
  else if (event.shiftKey) stretch(selection, all, stepOf(event.key, pane));
  else move(selection, all, stepOf(event.key, pane));
  if (!isInside(selection, pane)) select(selection, all.at(-1));
  keepInView(selection, pane);
}
