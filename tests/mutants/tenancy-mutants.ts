import { mutant } from './mutant-row.ts';

const TENANCY = 'tests/tenancy/tenancy.whole.test.ts';
const API_KEYS = 'control-plane/routes/api-keys.store.test.ts';
const PROCESSOR_MAPPING = 'control-plane/routes/processor-mapping.store.test.ts';
const AUTH = 'control-plane/http/auth.store.test.ts';
const CUSTOMER_TOKENS = 'control-plane/routes/customer-tokens.store.test.ts';
const CUSTOMER_TOKEN = 'domain/rules/customer-token.test.ts';
const API_KEY_CACHE = 'domain/api-key-cache.test.ts';

/** What tenants, keys and secrets are kept apart by. */
export const TENANCY_MUTANTS = [
  mutant('key-of-any-environment', [16])
    .why('a client that knows the id of a key reads what another workspace may do')
    .swap('control-plane/store/api-keys#findKey', 'environment = $1', '(environment = $1 OR true)')
    .red(TENANCY, 'to another workspace nothing is there, shown or changed')
    .red(API_KEYS, 'belongs to the environment of the key that makes the request'),
  mutant('customer-of-any-environment', [16])
    .why('customers of another workspace are read by their id')
    .swap('control-plane/store/customers#findCustomer', 'environment = $1', '(environment = $1 OR true)')
    .red(TENANCY, 'to another workspace nothing is there, shown or changed'),
  mutant('products-of-all-environments', [16])
    .why('a list shows what other workspaces sell')
    .swap('control-plane/store/products#productList', 'environment = $1', '(environment = $1 OR true)')
    .red(TENANCY, 'to another workspace nothing is there, shown or changed')
    .red(TENANCY, 'to the other mode nothing is there, shown or changed'),
  mutant('price-of-any-environment', [16])
    .why('what one environment maps a price to makes subscriptions in another')
    .swap(
      'control-plane/store/processor-prices#findMappedPrices',
      'environment = $1',
      '(environment = $1 OR true)',
    )
    .red(PROCESSOR_MAPPING, 'of the other mode, or another workspace, is not known'),
  mutant('scope-not-checked', [16])
    .why('every secret key may do everything')
    .always('control-plane/http/requested-access')
    .red(TENANCY, 'a key with every scope but the right one is rejected everywhere, and changes nothing')
    .red(AUTH, 'needs the scope of the operation, whichever it is'),
  mutant('grant-not-checked', [16])
    .why('a key that may make keys gives itself every scope')
    .always('control-plane/routes/api-keys')
    .red(API_KEYS, 'gets no scope that the creating key does not have'),
  mutant('replayed-to-any-key', [16])
    .why('a key that may make keys repeats the request of another and is shown one that may do everything')
    .never('control-plane/http/operations')
    .red(API_KEYS, 'shows nothing to a key with other scopes'),
  mutant('token-of-any-customer', [16])
    .why('a page that shows one customer what it has used reads every other one of the environment')
    .always('control-plane/http/customer-token-auth')
    .red(CUSTOMER_TOKENS, 'reads no other customer, whether or not there is one'),
  mutant('token-for-any-operation', [16])
    .why('a browser that may read one customer does what the key that created its token may do')
    .never('control-plane/http/customer-token-auth')
    .red(CUSTOMER_TOKENS, 'is taken by no operation but those that are marked, which only read'),
  mutant('token-issuer-unchecked', [18])
    .why('tokens of a key that was revoked because it leaked go on until they expire')
    .never('control-plane/http/customer-token-auth')
    .red(CUSTOMER_TOKENS, 'ends at its time, with the key that created it, and with its customer'),
  mutant('token-signature-unchecked', [16])
    .why('a forged token reads any customer of any workspace')
    .never('domain/rules/customer-token')
    .red(
      CUSTOMER_TOKEN,
      'is not read with any character changed, under another key, or in another form',
      // What is not signed is read, whatever it is.
      /JSON/,
    ),
  mutant('whole-key-kept', [17])
    .why('the text of every key is in the database, in lists and in the audit log')
    .is('domain/api-keys', 'last4: text')
    .red(TENANCY, 'in no log, page, error or row, with good and bad requests and a restart')
    .red(API_KEYS, 'is shown once, works at once, and is kept without its text'),
  mutant('headers-in-the-log', [17])
    .why('the key of every request is in the log')
    .after('control-plane/http/respond', "log.trace({ headers: ctx.headers }, 'requested');")
    .red(TENANCY, 'in no log, page, error or row, with good and bad requests and a restart'),
  mutant('unknown-key-repeated', [17])
    .why('an error repeats what was sent as a key, and errors are logged by clients')
    .is(
      'control-plane/http/auth',
      `const repeated = (key) => ('code' in key ? { ...key, message: \`\${key.message} \${text}\` } : key);
      const asked = keys.authenticate(text);
      const found = asked instanceof Promise ? asked.then(repeated) : repeated(asked);`,
    )
    .red(TENANCY, 'in no log, page, error or row, with good and bad requests and a restart'),
  mutant('revoked-key-taken', [16, 18])
    .why('every tier goes on for keys that were revoked')
    .drop('domain/api-key-cache')
    .red(TENANCY, 'through the API, by a rotation without an overlap, and through the admin command')
    .red(API_KEY_CACHE, 'an invalidation makes the next request query again'),
  mutant('key-never-looked-up-again', [18])
    .why('a revocation whose note is lost never reaches anybody')
    .always('domain/api-key-cache')
    .red(TENANCY, 'also while no notification arrives')
    .red(API_KEY_CACHE, 'a revoked key is rejected within 10 s even when its invalidation is lost'),
];
