import { mutant } from './mutant-row.ts';

const EXACT = 'control-plane/reservations/exact-holds.store.test.ts';
const OWN_USAGE = 'ingest/own-usage/own-usage.test.ts';
const ROUTES = 'control-plane/routes/reservations.store.test.ts';

const RESPONSE_FIRST = `return await new Promise((answer, fail) => {
  inTransaction(pool, async (client) => {
    answer(await decideTogether(client, together));
  }).catch(fail);
});`;

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
    .drop('control-plane/reservations/account')
    .red(EXACT, 'a wallet pays for what it can pay, of whichever meter'),
  mutant('own-keys-with-those-of-clients', [24])
    .why('a client that sends the key of a commit has its usage swallowed, or is swallowed by it')
    .never('ingest/engine/key-space')
    .red(OWN_USAGE, 'has other keys than those of clients (batch)'),
  mutant('own-usage-without-its-token', [16])
    .why('a process of the machine without the token writes usage of every environment')
    .always('ingest/own-usage/serve-own-usage')
    .red(OWN_USAGE, 'serves no caller without the token, and no body beyond the bound'),
];
