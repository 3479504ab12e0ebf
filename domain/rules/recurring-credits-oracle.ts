import type { RecurringGrant } from './recurring-credits.ts';

/*
 * Credits of a plan, the slow way: it walks from noon to noon, knows at once what is due, and counts with
 * numbers. Periods are months or weeks from the start on. For tests.
 */

const DAY_MS = 86_400_000;

interface Lot {
  key: string;
  priority: number;
  left: number;
  /** Infinity: never. */
  endMs: number;
}

export type SlowRhythm = 'month' | 'week';

export class SlowCredits {
  readonly #startMs: number;
  readonly #interval: SlowRhythm;
  /** The noon up to which all is done. */
  #nowMs: number;
  #plan: readonly RecurringGrant[];
  #isGranting = true;
  readonly #reached = { month: 0, week: 0 };
  #lots: Lot[] = [];
  #unpaid = 0;
  /** By key and start of the period: the amount it was granted. */
  readonly #granted = new Map<string, number>();
  /** By key and end: what expired unused. */
  readonly #lapsed = new Map<string, number>();

  constructor(startMs: number, interval: SlowRhythm, plan: readonly RecurringGrant[]) {
    this.#startMs = startMs;
    this.#interval = interval;
    this.#nowMs = startMs;
    this.#plan = plan;
    this.#grant({ isOtherPlan: false });
  }

  get balance(): number {
    return this.#lots.reduce((sum, { left }) => sum + left, 0);
  }

  get unpaid(): number {
    return this.#unpaid;
  }

  /** All noons up to this time. */
  goTo(atMs: number): void {
    while (this.#nowMs + DAY_MS <= atMs) {
      this.#nowMs += DAY_MS;
      this.#expire();
      if (this.#isGranting) this.#grant({ isOtherPlan: false });
    }
  }

  use(amount: number, atMs: number): void {
    this.goTo(atMs);
    let rest = amount;
    for (const lot of this.#lots.sort((a, b) => a.priority - b.priority || a.endMs - b.endMs)) {
      const taken = Math.min(lot.left, rest);
      lot.left -= taken;
      rest -= taken;
    }
    this.#unpaid += rest;
  }

  change(plan: readonly RecurringGrant[], atMs: number): void {
    this.goTo(atMs);
    this.#plan = plan;
    if (this.#isGranting) this.#grant({ isOtherPlan: true });
  }

  stop(atMs: number): void {
    this.goTo(atMs);
    this.#isGranting = false;
  }

  resume(atMs: number): void {
    this.goTo(atMs);
    this.#isGranting = true;
    this.#grant({ isOtherPlan: false });
  }

  #expire(): void {
    if (this.#lots.every(({ endMs }) => endMs > this.#nowMs)) return;
    for (const lot of this.#lots.filter(({ endMs }) => endMs <= this.#nowMs)) {
      const name = `${lot.key} ${lot.endMs}`;
      this.#lapsed.set(name, (this.#lapsed.get(name) ?? 0) + lot.left);
    }
    this.#lots = this.#lots.filter(({ endMs }) => endMs > this.#nowMs);
  }

  #grant({ isOtherPlan }: { isOtherPlan: boolean }): void {
    for (const grant of [...this.#plan].sort((a, b) => a.priority - b.priority)) {
      const { key, amount, every, expires, rollover } = grant;
      const [fromMs, toMs] = this.#period(every === 'month' ? 'month' : this.#interval);
      const name = `${key} ${fromMs}`;
      const before = this.#granted.get(name);
      if (before !== undefined && !isOtherPlan) continue;
      const lapsed = this.#lapsed.get(`${key} ${fromMs}`) ?? 0;
      if (before === undefined && rollover) {
        const share = (lapsed * Number(rollover.percent)) / 100;
        this.#put(grant, Math.min(share, Number(rollover.max ?? Number.POSITIVE_INFINITY)), toMs);
      }
      const more = Math.max(0, Number(amount) - (before ?? 0));
      this.#put(grant, more, expires === 'never' ? Number.POSITIVE_INFINITY : toMs);
      this.#granted.set(name, (before ?? 0) + more);
    }
  }

  #put({ key, priority }: RecurringGrant, amount: number, endMs: number): void {
    const repaid = Math.min(this.#unpaid, amount);
    this.#unpaid -= repaid;
    this.#lots.push({ key, priority, left: amount - repaid, endMs });
  }

  /** That of the last noon: time does not go back, so each is counted from the one before it. */
  #period(interval: SlowRhythm): [fromMs: number, toMs: number] {
    let n = this.#reached[interval];
    while (this.#bound(interval, n + 1) <= this.#nowMs) n += 1;
    this.#reached[interval] = n;
    return [this.#bound(interval, n), this.#bound(interval, n + 1)];
  }

  #bound(interval: SlowRhythm, n: number): number {
    if (interval === 'week') return this.#startMs + n * 7 * DAY_MS;
    const start = new Date(this.#startMs);
    const month = start.getUTCMonth() + n;
    const lastDay = new Date(Date.UTC(start.getUTCFullYear(), month + 1, 0)).getUTCDate();
    const day = Math.min(start.getUTCDate(), lastDay);
    return Date.UTC(start.getUTCFullYear(), month, day, 12);
  }
}
