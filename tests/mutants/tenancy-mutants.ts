import type { Mutant, Proof } from './mutant.ts';

const wholeRun = (title: string): Proof => ({ test: 'tests/tenancy/tenancy.whole.test.ts', title });
const KEYS = 'control-plane/routes/api-keys.store.test.ts';
const CROSSING = wholeRun('to another workspace nothing is there, shown or changed');
const SECRETS = wholeRun('in no log, page, error or row, with good and bad requests and a restart');

/** What tenants, keys and secrets are kept apart by. */
export const TENANCY_MUTANTS: readonly Mutant[] = [
  {
    name: 'key-of-any-environment',
    promises: [16],
    why: 'a client that knows the id of a key reads what another workspace may do',
    module: 'control-plane/store/api-keys',
    find: 'WHERE environment = $1 AND id = $2`,',
    replace: 'WHERE (environment = $1 OR true) AND id = $2`,',
    provedBy: [CROSSING, { test: KEYS, title: 'belongs to the environment of the key that asks' }],
  },
  {
    name: 'customer-of-any-environment',
    promises: [16],
    why: 'customers of another workspace are read by their id',
    module: 'control-plane/store/customers',
    find: 'FROM customers WHERE environment = $1 AND (id = $2 OR external_id = $2)`,',
    replace: 'FROM customers WHERE (environment = $1 OR true) AND (id = $2 OR external_id = $2)`,',
    provedBy: [CROSSING],
  },
  {
    name: 'products-of-all-environments',
    promises: [16],
    why: 'a list shows what other workspaces sell',
    module: 'control-plane/store/products',
    find: "where: 'environment = $1'",
    replace: "where: '(environment = $1 OR true)'",
    provedBy: [CROSSING, wholeRun('to the other mode nothing is there, shown or changed')],
  },
  {
    name: 'price-of-any-environment',
    promises: [16],
    why: 'what one environment maps a price to makes subscriptions in another',
    module: 'control-plane/store/processor-prices',
    find: 'FROM processor_prices WHERE environment = $1 AND price_id = ANY ($2)',
    replace: 'FROM processor_prices WHERE (environment = $1 OR true) AND price_id = ANY ($2)',
    provedBy: [
      {
        test: 'control-plane/routes/processor-mapping.store.test.ts',
        title: 'of the other mode, or another workspace, is not known',
      },
    ],
  },
  {
    name: 'scope-not-checked',
    promises: [16],
    why: 'every secret key may do everything',
    module: 'control-plane/http/auth',
    find: "access === 'any_key' || scopes.includes(access)",
    replace: "access !== 'public'",
    provedBy: [
      wholeRun('a key with every scope but the right one is rejected everywhere, and changes nothing'),
      {
        test: 'control-plane/http/auth.store.test.ts',
        title: 'needs the scope of the operation, whichever it is',
      },
    ],
  },
  {
    name: 'grant-not-checked',
    promises: [16],
    why: 'a key that may make keys gives itself every scope',
    module: 'control-plane/routes/api-keys',
    find: 'if (missing.length === 0 || held.includes(EVERY_SCOPE)) return;',
    replace: 'if (missing.length >= 0) return;',
    provedBy: [{ test: KEYS, title: 'gets no scope that its maker does not hold' }],
  },
  {
    name: 'replayed-to-any-key',
    promises: [16],
    why: 'a key that may make keys repeats the request of another and is shown one that may do everything',
    module: 'control-plane/http/operations',
    find: "route.access === 'keys:manage' ?",
    replace: "route.access === 'public' ?",
    provedBy: [{ test: KEYS, title: 'shows nothing to a key that holds other scopes' }],
  },
  {
    name: 'whole-key-kept',
    promises: [17],
    why: 'the text of every key is in the database, in lists and in the audit log',
    module: 'domain/api-keys',
    find: 'last4: lastFour(text)',
    replace: 'last4: text',
    provedBy: [SECRETS, { test: KEYS, title: 'is shown once, works at once, and is kept without its text' }],
  },
  {
    name: 'headers-in-the-log',
    promises: [17],
    why: 'the key of every request is in the log',
    module: 'control-plane/http/respond',
    find: "ctx.set('X-Request-Id', requestId);",
    replace: "ctx.set('X-Request-Id', requestId); log.trace({ headers: ctx.headers }, 'requested');",
    provedBy: [SECRETS],
  },
  {
    name: 'unknown-key-repeated',
    promises: [17],
    why: 'an error repeats what was sent as a key, and errors are logged by clients',
    module: 'control-plane/http/auth',
    find: 'throw new Rejected(found.code, found.message)',
    replace: "throw new Rejected(found.code, found.message + ctx.get('authorization'))",
    provedBy: [SECRETS],
  },
  {
    name: 'revoked-key-taken',
    promises: [16, 18],
    why: 'every tier goes on for keys that were revoked',
    module: 'domain/api-key-cache',
    find: 'if (key.revoked) return KEY_REJECTIONS.revoked;',
    replace: '',
    provedBy: [
      wholeRun('through the API, by a rotation without an overlap, and through the admin command'),
      { test: 'domain/api-key-cache.test.ts', title: 'an invalidation makes the next request query again' },
    ],
  },
  {
    name: 'key-never-looked-up-again',
    promises: [18],
    why: 'a revocation whose note is lost never reaches anybody',
    module: 'domain/api-key-cache',
    find: 'if (age < RECHECK_AFTER_MS) return judge(entry.key);',
    replace: 'if (age >= 0) return judge(entry.key);',
    provedBy: [
      wholeRun('also while no notification arrives'),
      {
        test: 'domain/api-key-cache.test.ts',
        title: 'a revoked key is rejected within 10 s even when its invalidation is lost',
      },
    ],
  },
];
