/**
 * Conversations: a line such as `── user ──` heads every turn of the text, see coeval/domain/chats.py. Each turn
 * becomes a part of its own whose words keep their places in the whole, so that marks and selections fit.
 */

const HEADING = /^── ([^\n─]{1,40}) ──$/gm;
const BETWEEN = 2;

/** Where every turn's words stand in a conversation, [start, end) in UTF-16; none in any other text. */
export function turnsOf(text) {
  const heads = Array.from(text.matchAll(HEADING));
  if (heads[0]?.index !== 0) return [];
  return heads.map((head, n) => ({
    role: head[1],
    start: head.index + head[0].length + 1,
    end: n + 1 < heads.length ? heads[n + 1].index - BETWEEN : text.length,
  }));
}

function shift(nodes, by) {
  return nodes.map((node) =>
    'tag' in node ? { ...node, children: shift(node.children, by) } : { ...node, start: node.start + by },
  );
}

/**
 * The turns as nodes; `parse` makes the nodes of one turn's words. The role is a label, not words of the text.
 * @param {string} text
 * @param {(text: string) => import('./markdown.js').TextNode[]} parse
 */
export function parseTurns(text, parse) {
  return turnsOf(text).map(({ role, start, end }) => ({
    tag: 'div',
    attributes: { class: `turn${role === 'user' ? ' is-user' : ''}`, role: 'group', 'aria-label': role },
    children: [
      { tag: 'span', attributes: { class: 'turn-role' }, label: role, children: [] },
      {
        tag: 'div',
        attributes: { class: 'turn-words' },
        children: shift(parse(text.slice(start, end)), start),
      },
    ],
  }));
}
