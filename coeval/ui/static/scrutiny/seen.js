/** Which lines have been on screen: what nobody saw is not approved in bulk. */

const FOOT_PX = 64;
const ENOUGH = 0.6;

export class Seen {
  constructor(onchange) {
    this.waiting = new Set();
    this.onchange = onchange;
    this.observer = new IntersectionObserver((entries) => this.note(entries), {
      rootMargin: `0px 0px -${FOOT_PX}px 0px`,
      threshold: [0, 0.25, ENOUGH, 1],
    });
  }

  /** Starts over with the lines of a new step. */
  watch(nodes) {
    this.observer.disconnect();
    this.waiting = new Set(nodes);
    for (const node of nodes) this.observer.observe(node);
  }

  /** Most of a line, or half a screen of a long one, counts as seen. */
  note(entries) {
    for (const { target, intersectionRatio, intersectionRect, rootBounds } of entries) {
      const seen =
        intersectionRatio >= ENOUGH || intersectionRect.height >= (rootBounds?.height ?? Infinity) / 2;
      if (!seen) continue;
      this.waiting.delete(target);
      this.observer.unobserve(target);
    }
    this.onchange();
  }

  get unseen() {
    return this.waiting.size;
  }

  stop() {
    this.observer.disconnect();
  }
}
