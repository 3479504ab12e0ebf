import { mutant } from './mutant-row.ts';

const SETTLE_USAGE = 'aggregator/settle/settle-usage.store.test.ts';
const CREDIT_USES = 'domain/rules/credit-uses.test.ts';
const HISTORIES = 'domain/credits/random-histories.whole-store.test.ts';
const METERED_TERMS = 'control-plane/entitlements/changes/metered-terms.store.test.ts';
const LATE_CHANGES = 'control-plane/entitlements/changes/late-changes.store.test.ts';
const RECURRING = 'domain/rules/recurring-credits.test.ts';
const USAGE_COST = 'domain/rules/usage-cost.test.ts';
const METERED_TERMS_UNIT = 'domain/rules/metered-terms.test.ts';

/** What usage costs, and what is given back. */
export const CREDIT_MUTANTS = [
  mutant('limit-of-now', [21])
    .why('usage that was covered burns once its limit falls or ends')
    .is('domain/rules/billed-periods', 'const term = terms.at(-1);')
    .red(SETTLE_USAGE, 'follows the limits that held when it occurred, whatever they become later')
    .shownBy({ promise: 21, rounds: 3 }),
  mutant('correction-gives-nothing-back', [21])
    .why('usage that is corrected stays paid')
    .swap('aggregator/settle/settle-customer-meters', 'cost === before', 'cost <= before')
    .red(SETTLE_USAGE, 'that is corrected gives back what it burned, in one batch or in several')
    .shownBy({ promise: 21, rounds: 3 }),
  mutant('given-back-before-the-unpaid-rest', [21])
    .why('a grant is filled again while another meter has usage that nothing has paid')
    .is('domain/rules/credit-uses', 'const others = [];')
    .red(
      CREDIT_USES,
      'is spent unit by unit on what is unpaid, of whichever meter, then to the last grant that paid',
    ),
  mutant('given-back-to-the-first-grant', [21])
    .why('what paid first is filled again, and expires instead of what paid last')
    .is('domain/rules/credit-uses', 'const backwards = [...burnOrder];')
    .red(HISTORIES, 'a wallet agrees with a naive one over random histories, and its ledger sums to it'),
  mutant('fan-out-from-its-turn', [21])
    .why('what a change of many lowers goes on to cover usage until the turn of each customer comes')
    .swap('control-plane/entitlements/changes/fan-out', 'job.changedAt.getTime()', 'nowMs')
    .red(METERED_TERMS, 'applies from its own time on, whenever each customer is processed'),
  mutant('history-by-what-holds-now', [21])
    .why('usage under an override is burned where its change is applied late, since the override is gone')
    .swap(
      'control-plane/entitlements/changes/record-metered-terms',
      'Math.max(sinceMs, lastMs ?? sinceMs)',
      'sinceMs',
    )
    .red(LATE_CHANGES, 'leaves what an override covered while it was there'),
  mutant('history-before-the-notifier', [21])
    .why('usage under a plan is burned where its change is applied late and the plan now gives less')
    .swap(
      'control-plane/store/metered-facts#FACTS',
      'greatest(named.since, max(w.changed_at))',
      'named.since',
    )
    .red(LATE_CHANGES, 'and before the notifier has reached the customer, leaves it as well'),
  mutant('waited-as-if-applied-at-once', [21])
    .why('an event of the processor that waited makes burn what was covered until it was applied')
    .never('control-plane/processor/apply-event')
    .red(LATE_CHANGES, 'for its price applies from when it is processed on'),
  mutant('period-begun-earlier', [21])
    .why('usage of a past period is counted in the running one as well, once its cycle is changed')
    .is('domain/rules/metered-terms', 'const periodStartMs = source?.period.fromMs ?? open;')
    .red(METERED_TERMS_UNIT, 'begin with another subscription, and continue where the same one comes back'),
  mutant('periods-of-a-paused-subscription', [21])
    .why('with a subscription that is paused the counters of another one restart')
    .swap(
      'control-plane/store/metered-facts#FACTS',
      'coalesce(m.at < g.grace_ends, false)',
      'm.at < g.grace_ends',
    )
    .red(METERED_TERMS, 'the older one gives the periods, and continues while the newer one is paused'),
  mutant('rollover-without-its-maximum', [21])
    .why('credits of a plan that are not used pile up without a bound')
    .is('domain/rules/recurring-credits', 'return share;')
    .red(RECURRING, 'agree with a slow model over random histories'),
  mutant('plan-grants-a-period-again', [21])
    .why('each change of a subscription grants the credits of its running period once more, or fails')
    .is('domain/rules/recurring-credits', 'const isFirst = true;')
    .red(RECURRING, 'agree with a slow model over random histories', /Property failed/),
  mutant('limit-counted-from-the-period', [21])
    .why('the limit of a day is used up once in the billing period')
    .swap('domain/rules/billed-periods', 'limitWindow(terms, resets, atMs)', 'meteredPeriod(terms, atMs)')
    .red(USAGE_COST, 'is in the end what a walk over its units returns, in whatever order they came'),
];
