/** Between the workbench and the outbox: what a submission's fate means for the screen. */

import { request } from './api.js';
import { sameState } from './drafts_kept.js';
import { button, plural } from './dom.js';
import { Outbox } from './outbox.js';
import { savedText } from '../scrutiny/workbench_foot.js';

const SLOW_MS = 400;

export class Delivery {
  constructor(bench) {
    this.bench = bench;
    this.isFlying = false;
    this.caughtUp = [];
    this.outbox = new Outbox(bench.person, {
      signal: bench.stop.signal,
      send: ({ task, body }) => request('POST', `api/scrutiny/${encodeURIComponent(task)}/submissions`, body),
      onsaved: (entry, answer) => this.onsaved(entry, answer),
      onwaiting: (entry, error, seconds) => this.onwaiting(entry, error, seconds),
      onrefused: (entry, error) => this.onrefused(entry, error),
    });
  }

  /** Sends what an earlier page left behind; whether the step that page stood at was among it. */
  async recover({ instance, criterion }) {
    await this.outbox.recover();
    return this.caughtUp.some(
      ({ task, body }) =>
        task === this.bench.slug && body.instance === instance && body.criterion === criterion,
    );
  }

  /** Confirming what already waits sends it now. */
  retry() {
    const { waiting } = this.bench;
    if (waiting) this.outbox.deliver(waiting.body.uid);
  }

  waitingFor({ instance, criterion }) {
    return this.outbox.waitingFor(this.bench.slug, instance, criterion);
  }

  /** Whether an entry belongs to the step on screen. */
  isHere({ task, body }) {
    const { work, slug } = this.bench;
    return task === slug && work?.instance === body.instance && work?.criterion === body.criterion;
  }

  /** Sends what is confirmed. The table stays as it is, locked, until there is an answer. */
  async submit(work, table, activeMs) {
    const { bench } = this;
    const entry = {
      task: bench.slug,
      state: table.state(),
      body: work.body(table.payload(), activeMs, bench.filter),
    };
    work.keep(entry.state, activeMs);
    table.lock(true);
    this.isFlying = true;
    const slow = setTimeout(() => bench.foot.loadStatus('Saving…'), SLOW_MS);
    await this.outbox.add(entry);
    clearTimeout(slow);
    this.isFlying = false;
  }

  onsaved(entry, { saved, next, message }) {
    const { bench } = this;
    this.isFlying = false;
    this.dropKept(entry);
    bench.onsaved(saved);
    if (!this.isHere(entry)) {
      this.caughtUp.push(entry);
      bench.notices.say(`${savedText(saved.submitted_at, 0)}: an answer that was waiting here.`);
      return;
    }
    bench.work.settled = true;
    bench.notices.clearWarnings();
    if (!next) {
      this.showEnd(message);
      return;
    }
    bench.show(next);
    bench.onsaved(saved);
  }

  /** Saved, and nothing more is to be had here: the page itself knows where to go on. */
  showEnd(message) {
    const { bench } = this;
    bench.table.lock(true);
    bench.notices.stay(
      'ended',
      message,
      button('Go on', { class: 'ce-btn', onclick: () => window.location.reload() }),
    );
  }

  /** What is kept goes once the server has it, unless more was typed since. */
  dropKept({ task, body, state }) {
    if (task !== this.bench.slug) return;
    const kept = this.bench.kept.get(body.instance, body.criterion);
    if (kept?.state && sameState(kept.state, state)) this.bench.kept.drop(body.instance, body.criterion);
  }

  onwaiting(entry, error, seconds) {
    this.isFlying = false;
    if (this.isHere(entry)) this.showWaiting(entry, error, seconds);
    else
      this.bench.foot.loadStatus(
        `${plural(this.outbox.size, 'answer waits', 'answers wait')} here to be sent`,
      );
  }

  /** The strip that says the answer is safe here, why it is not there yet, and what can be done. */
  showWaiting(entry, error = null, seconds = 0) {
    const { bench } = this;
    bench.table.lock(true);
    bench.recount();
    bench.foot.loadStatus('Not saved yet');
    const why =
      error?.kind === 'sign_in' ? 'You are signed out. Your answer is kept here' : 'Offline, kept here';
    const when = seconds ? `: trying again in ${seconds} s.` : ': waiting to be sent.';
    const signIn =
      error?.kind === 'sign_in'
        ? [button('Sign in', { class: 'ce-btn', onclick: () => window.location.reload() })]
        : [];
    bench.notices.stay(
      'offline',
      why + when,
      ...signIn,
      button('Try now', { class: 'ce-btn', onclick: () => this.outbox.deliver(entry.body.uid) }),
      button('Edit again', { class: 'ce-btn', onclick: () => this.takeBack(entry) }),
    );
  }

  /** Back to editing. Should it have been saved after all, the next save is refused and both versions shown. */
  takeBack(entry) {
    const { bench } = this;
    this.outbox.forget(entry.body.uid);
    bench.table.lock(false);
    bench.notices.stay('', '');
    bench.foot.loadStatus('');
    bench.keepWork();
    bench.recount();
    bench.table.current?.focus();
  }

  onrefused(entry, error) {
    const { bench } = this;
    this.isFlying = false;
    if (error.kind === 'stale' && this.isHere(entry) && error.body.step) {
      bench.work.settled = true;
      bench.show(error.body.step, { mine: entry.state, asked: true, why: error.message });
      return;
    }
    if (this.isHere(entry)) this.takeBack(entry);
    const where = this.isHere(entry) ? '' : `Instance ${entry.body.instance}: `;
    bench.notices.warn(`${where}${error.message} Nothing you typed is lost.`);
  }
}
