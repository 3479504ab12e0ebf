import { mutant } from './mutant-row.ts';

const MANY = 'tests/corrections/correct-many.whole-store.test.ts';
const LIVE = 'control-plane/analytics/live/live-usage.whole-store.test.ts';
const GRANTS = 'control-plane/routes/credit-grants.store.test.ts';
const EVENTS = 'tests/corrections/correct-events.store.test.ts';

const CLOSE_FIRST = `await closeUsageChange(deps.pool, number, {
  endsAt: await endOfLog(deps.logReader),
  at: new Date(deps.clock.nowMs()),
});`;

/** Corrections through the API, up to where they are on the log. */
export const CORRECTION_MUTANTS = [
  mutant('void-without-its-ledger-row', [2])
    .why('two callers at once each take the same event away')
    .drop('control-plane/corrections/begin-correction')
    .red(EVENTS, 'has the same response again, under any key, and is voided once by many callers'),
  mutant('closed-before-its-records', [2])
    .why('a correction becomes visible without the records that were still on their way')
    .before('control-plane/corrections/write-correction', CLOSE_FIRST)
    .red(EVENTS, 'is closed behind its records alone'),
  mutant('changes-in-the-live-stream', [2])
    .why('a void is shown to people as usage that was just counted')
    .is('control-plane/analytics/live/counted-lines', 'if (!dropped.has(number)) onLine(line);')
    .red(LIVE, 'leaves out what corrections have on the log'),
  mutant('left-voids-forgotten', [2])
    .why('a selection that was cut off is completed, and the events of one step of it still count')
    .never('control-plane/corrections/void-selection')
    .red(MANY, 'goes on where it was cut off before records are written'),
  mutant('voided-grant-keeps-its-balance', [2])
    .why('credits that were granted by mistake are spent until the job of expiries has run')
    .drop('domain/credits/end-grant')
    .red(GRANTS, 'what is left of a voided grant goes, once, and what it paid for stays paid'),
];
