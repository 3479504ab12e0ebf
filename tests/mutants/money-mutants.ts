import type { Mutant } from './mutant.ts';

const USAGE_TEST = 'aggregator/settle/settle-usage.store.test.ts';
const LATE_TEST = 'control-plane/entitlements/changes/late-changes.store.test.ts';
const TERMS_TEST = 'control-plane/entitlements/changes/metered-terms.store.test.ts';

/** What usage costs, and what is given back. */
export const MONEY_MUTANTS: readonly Mutant[] = [
  {
    name: 'limit-of-now',
    promises: [21],
    why: 'usage that was covered burns once its limit falls or ends',
    module: 'domain/rules/billed-periods',
    find: 'const term = termAt(terms, span.fromMs);',
    replace: 'const term = terms.at(-1);',
    provedBy: [
      {
        test: USAGE_TEST,
        title: 'follows the limits that held when it occurred, whatever they become later',
      },
    ],
    shownBy: { promise: 21, rounds: 3 },
  },
  {
    name: 'correction-gives-nothing-back',
    promises: [21],
    why: 'usage that is corrected stays paid',
    module: 'aggregator/settle/settle-customer-meters',
    find: 'cost === before',
    replace: 'cost <= before',
    provedBy: [
      { test: USAGE_TEST, title: 'that is corrected gives back what it burned, in one batch or in several' },
    ],
    shownBy: { promise: 21, rounds: 3 },
  },
  {
    name: 'given-back-before-the-unpaid-rest',
    promises: [21],
    why: 'a grant is filled again while another meter has usage that nothing has paid',
    module: 'domain/rules/credit-uses',
    find: 'const others = [...uses.keys()].filter((key) => key !== meterKey);',
    replace: "const others = [...uses.keys()].filter((key) => key === '');",
    provedBy: [
      {
        test: 'domain/rules/credit-uses.test.ts',
        title: 'goes unit by unit to what is unpaid, of whichever meter, then to the last grant that paid',
      },
    ],
  },
  {
    name: 'given-back-to-the-first-grant',
    promises: [21],
    why: 'what paid first is filled again, and expires instead of what paid last',
    module: 'domain/rules/credit-uses',
    find: 'const backwards = [...burnOrder].reverse();',
    replace: 'const backwards = [...burnOrder];',
    provedBy: [
      {
        test: 'domain/credits/random-histories.whole-store.test.ts',
        title: 'a wallet agrees with a naive one over random histories, and its ledger sums to it',
      },
    ],
  },
  {
    name: 'fan-out-from-its-turn',
    promises: [21],
    why: 'what a change of many lowers goes on to cover usage until the turn of each customer comes',
    module: 'control-plane/entitlements/changes/fan-out',
    find: 'Math.max(job.changedAt.getTime(), resolvedAt.getTime())',
    replace: 'Math.max(nowMs, resolvedAt.getTime())',
    provedBy: [
      { test: TERMS_TEST, title: 'holds from its own time on, whenever the turn of each customer comes' },
    ],
  },
  {
    name: 'history-by-what-holds-now',
    promises: [21],
    why: 'usage under an override is burned where its change is applied late, since the override is gone',
    module: 'control-plane/entitlements/changes/record-metered-terms',
    find: 'new Date(Math.max(sinceMs, lastMs ?? sinceMs))',
    replace: 'new Date(sinceMs)',
    provedBy: [{ test: LATE_TEST, title: 'leaves what an override covered while it was there' }],
  },
  {
    name: 'history-before-the-notifier',
    promises: [21],
    why: 'usage under a plan is burned where its change is applied late and the plan now gives less',
    module: 'control-plane/store/metered-facts',
    find: 'greatest(named.since, max(w.changed_at))',
    replace: 'named.since',
    provedBy: [
      { test: LATE_TEST, title: 'and before the notifier has reached the customer, leaves it as well' },
    ],
  },
  {
    name: 'waited-as-if-applied-at-once',
    promises: [21],
    why: 'an event of the processor that waited makes burn what was covered until it was applied',
    module: 'control-plane/processor/apply-event',
    find: 'event.isSimulated || receivedAt.getTime() !== nowMs',
    replace: 'event.isSimulated',
    provedBy: [{ test: LATE_TEST, title: 'for its price holds from when it is applied on' }],
  },
  {
    name: 'period-begun-earlier',
    promises: [21],
    why: 'usage of a past period is counted in the running one as well, once its cycle is changed',
    module: 'domain/rules/metered-terms',
    find: 'return Math.max(open, source?.period.fromMs ?? open);',
    replace: 'return source?.period.fromMs ?? open;',
    provedBy: [
      {
        test: 'domain/rules/metered-terms.test.ts',
        title: 'begin with another subscription, and go on where the same one comes back',
      },
    ],
  },
  {
    name: 'periods-of-a-paused-subscription',
    promises: [21],
    why: 'with a subscription that is paused the counters of another one restart',
    module: 'control-plane/store/metered-facts',
    find: 'coalesce(m.at < g.grace_ends, false)',
    replace: 'm.at < g.grace_ends',
    provedBy: [
      {
        test: TERMS_TEST,
        title: 'the older one gives the periods, and goes on where the younger one is paused',
      },
    ],
  },
];
