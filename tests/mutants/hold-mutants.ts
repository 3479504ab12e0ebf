import { mutant } from './mutant-row.ts';

const EXACT = 'control-plane/reservations/exact-holds.store.test.ts';
const COUNTED_COMMITS = 'control-plane/reservations/counted-commits.whole-store.test.ts';
const UNTIL_COUNTED = 'a commit takes room until it is counted, and some time longer, and is forgotten then';
const COMMIT_ROUTES = 'control-plane/routes/commits.store.test.ts';
const FINISHED = 'that failed around its write is finished by a job, once, as is one that comes by itself';
const OWN_USAGE = 'ingest/own-usage/own-usage.test.ts';
const ROUTES = 'control-plane/routes/reservations.store.test.ts';

const RESPONSE_FIRST = `return await new Promise((answer, fail) => {
  inTransaction(pool, async (client) => {
    answer(await decideTogether(client, together));
  }).catch(fail);
});`;

const NOT_BEGUN = 'return { ...row, status: "committing", value, occurredAt: occurredAt ?? now, late };';

/** What holds together, and when it is over. */
export const HOLD_MUTANTS = [
  mutant('account-not-locked', [24])
    .why('two control planes grant the same rest of a limit')
    .drop('control-plane/reservations/decide-together')
    .red(EXACT, 'exactly as many are granted as the limit has room for, one by one'),
  mutant('hold-granted-before-its-commit', [24])
    .why('a caller works under a hold that a failed commit has undone')
    .is('control-plane/reservations/account-queue', RESPONSE_FIRST)
    .red(EXACT, 'a hold gets its response when it is durable: one whose commit fails is none'),
  mutant('expired-hold-not-ended-first', [24])
    .why('what has expired denies others until the job has run')
    .drop('control-plane/reservations/decide-together')
    .red(EXACT, 'takes nothing from a decision before the job has run, and is shown as expired'),
  mutant('ended-hold-ended-again', [24])
    .why('a hold that expired while it was released gives back its amount twice')
    .never('control-plane/reservations/change-holds')
    .red(EXACT, 'takes nothing from a decision before the job has run, and is shown as expired'),
  mutant('hold-without-its-kept-response', [24])
    .why('a caller whose response was lost holds the amount twice')
    .drop('control-plane/reservations/decide-together')
    .red(EXACT, 'one is granted under one Idempotency-Key')
    .shownBy({ promise: 24, rounds: 3 }),
  mutant('denied-key-kept', [24])
    .why('a request that was denied once is denied for a day, whatever becomes free')
    .always('control-plane/reservations/decide-together')
    .red(ROUTES, 'is repeated under its Idempotency-Key, unless it was denied'),
  mutant('credits-of-other-meters', [24])
    .why('holds of two meters are granted the same credits')
    .drop('control-plane/reservations/account-amounts')
    .red(EXACT, 'a wallet pays for what it can pay, of whichever meter'),
  mutant('own-keys-with-those-of-clients', [24])
    .why('a client that sends the key of a commit has its usage swallowed, or is swallowed by it')
    .never('ingest/engine/key-space')
    .red(OWN_USAGE, 'has other keys than those of clients (batch)'),
  mutant('own-usage-without-its-token', [16])
    .why('a process of the machine without the token writes usage of every environment')
    .always('ingest/own-usage/serve-own-usage')
    .red(OWN_USAGE, 'serves no caller without the token, and no body beyond the bound'),
  mutant('commit-takes-nothing', [24])
    .why('what is committed and not counted yet is granted again')
    .is('control-plane/reservations/commit-holds', "const reserved = '0';")
    .red(COUNTED_COMMITS, UNTIL_COUNTED),
  mutant('denied-by-what-is-counted-twice', [24])
    .why('a commit that is counted already denies others what would fit')
    .never('control-plane/reservations/change-holds')
    .red(COUNTED_COMMITS, UNTIL_COUNTED),
  mutant('commit-not-begun', [24])
    .why('a release or an expiry comes between the event and its commit')
    .is('control-plane/reservations/commit-holds', NOT_BEGUN)
    .red(COMMIT_ROUTES, FINISHED),
  mutant('committed-twice', [24])
    .why('a commit that is finished twice gives back what others took meanwhile')
    .never('control-plane/reservations/commit-holds')
    .red(COMMIT_ROUTES, 'that two are at work on is finished once'),
  mutant('released-hold-committed', [24])
    .why('what was released is used all the same')
    .never('control-plane/reservations/commit-holds')
    .red(COMMIT_ROUTES, 'excludes a release, and a release a commit'),
  mutant('consumed-again-by-its-key', [24])
    .why('after a crash the retry uses the amount again')
    .never('control-plane/routes/consume')
    .red(COMMIT_ROUTES, 'that fails after its write is done once, by a retry too'),
];
