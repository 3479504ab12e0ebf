import { describe, expect, it } from 'vitest';
import { apiOfThisFile, type CallOptions, expectRejection } from '../api-under-test.ts';
import { type CustomerRow, findCustomer, updateCustomer } from '../store/customers.ts';
import { auditEntries, emittedEvents } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Customers over HTTP: reading, changing, archiving, searching. What creation rejects:
 * catalogue.store.test.ts.
 *
 * Mutants this suite catches: the environment left out of findCustomer, lockCustomer, updateCustomer or
 * listCustomers; the unique violation not caught; `%` and `_` not escaped in the search; pages of the second
 * half not reversed; an event for a change to the same value; requireMatch left out.
 */
const api = await apiOfThisFile();

let made = 0;
async function newCustomer(fields: object = {}, key = api.keys.live.secret) {
  made += 1;
  const body = { name: `Customer ${made}`, email: `c${made}@example.com`, ...fields };
  return (await api.request('customers.create', { key, body })).body;
}

const retrieve = (customerId: string, options: CallOptions = {}) =>
  api.request('customers.retrieve', { params: { customerId }, ...options });
const patch = (customerId: string, body: unknown, options: CallOptions = {}) =>
  api.request('customers.update', { params: { customerId }, body, ...options });
const archive = (customerId: string, options: CallOptions = {}) =>
  api.request('customers.archive', { params: { customerId }, ...options });

describe('a customer', () => {
  it('is read by its id and by the id of its caller', async () => {
    const customer = await newCustomer({ externalId: 'crm/42 é', metadata: { vip: true } });
    for (const name of [customer.id, 'crm/42 é']) {
      const { body, headers } = await retrieve(name);
      expect(body).toEqual(customer);
      expect(headers.etag).toMatch(/^"[\w-]{22}"$/);
    }
    for (const name of ['CRM/42 é', 'cus_nothing', `' OR '1'='1`, '__proto__', 'x'.repeat(128)]) {
      expectRejection(await retrieve(name), 'customer_not_found', 'customerId');
    }
    expectRejection(await retrieve('x'.repeat(129)), 'invalid_request', 'customerId');
  });

  it('is there for its own environment only, also where both have one of the same name', async () => {
    const live = await newCustomer({ externalId: 'both' });
    const key = api.keys.test.secret;
    for (const stranger of [key, (await api.addWorkspace()).live.secret]) {
      for (const name of [live.id, 'both']) {
        const theirs = { key: stranger };
        for (const one of [
          retrieve(name, theirs),
          patch(name, { name: 'x' }, theirs),
          archive(name, theirs),
        ]) {
          expectRejection(await one, 'customer_not_found', 'customerId');
        }
      }
    }
    const test = await newCustomer({ externalId: 'both' }, key);
    expect((await retrieve('both')).body.id).toBe(live.id);
    expect((await retrieve('both', { key })).body.id).toBe(test.id);
    expect((await patch('both', { name: 'Test' }, { key })).body.id).toBe(test.id);
    expect((await retrieve('both')).body).toEqual(live);
  });

  it('is announced with its name and email, and recorded', async () => {
    const { id, name, email } = await newCustomer();
    const data = { customerId: id, customerName: name, customerEmail: email };
    expect(await emittedEvents(api.pool, id)).toEqual([{ type: 'customer.created', data }]);
    const { rows } = await api.pool.query('SELECT * FROM audit_log WHERE object_id = $1', [id]);
    expect(rows).toMatchObject([{ action: 'customers.create', before: null, after: { id, name, email } }]);
    expect(rows[0].actor).toMatch(/^key_/);
    expect(rows[0].request_id).toMatch(/^req_/);
  });

  it('has its externalId for itself, also between rivals', async () => {
    const body = { name: 'r', email: 'r@b.cd', externalId: 'rival' };
    const create = () => api.request('customers.create', { body });
    const mine = await newCustomer();
    const rivals = [...Array.from({ length: 7 }, create), patch(mine.id, { externalId: 'rival' })];
    const rejected = (await Promise.all(rivals)).filter(({ status }) => status >= 300);
    expect(rejected).toHaveLength(7);
    for (const response of rejected) expectRejection(response, 'already_exists', 'externalId');
    const { rows } = await api.pool.query(`SELECT count(*) FROM customers WHERE external_id = 'rival'`);
    expect(rows[0].count).toBe(1);
  });
});

describe('a change of a customer', () => {
  it('touches what it names, and reports which fields those were', async () => {
    const customer = await newCustomer({ metadata: { a: 1, b: 'x' } });
    const change = { name: 'Ada King', metadata: { b: 'x' }, externalId: 'ada' };
    const response = await patch(customer.id, change);
    expect(response.body).toEqual({ ...customer, ...change });
    expect((await retrieve(customer.id)).body).toEqual(response.body);
    const notified = (await emittedEvents(api.pool, customer.id)).slice(1);
    const changes = ['name', 'metadata', 'externalId'];
    expect(notified).toEqual([{ type: 'customer.updated', data: { customerId: customer.id, changes } }]);
    expect(await auditEntries(api.pool, customer.id)).toMatchObject([
      {},
      { action: 'customers.update', before: customer, after: response.body },
    ]);
  });

  it('to what it is leaves nothing behind', async () => {
    const customer = await newCustomer({ externalId: 'same', metadata: { a: 1.5 } });
    const { name, email, externalId } = customer;
    for (const body of [{}, `{"name":"${name}","metadata":{"a":15e-1}}`, { email, externalId }]) {
      expect((await patch(customer.id, body)).body).toEqual(customer);
    }
    expect(await emittedEvents(api.pool, customer.id)).toHaveLength(1);
    expect(await auditEntries(api.pool, customer.id)).toHaveLength(1);
  });

  it('never takes or changes an externalId that is there', async () => {
    const { id } = await newCustomer({ externalId: 'first' });
    expectRejection(await patch(id, { externalId: 'second' }), 'invalid_request', 'externalId');
    const other = await newCustomer();
    expectRejection(await patch(other.id, { externalId: 'first' }), 'already_exists', 'externalId');
    expectRejection(await patch(other.id, { externalId: 'cus_x' }), 'invalid_request', 'externalId');
  });

  const rejected: Array<[what: string, body: unknown, param: string | undefined]> = [
    ['an empty name', { name: '' }, 'name'],
    ['a name that is no text', { name: 7 }, 'name'],
    ['an email that is none', { email: 'x' }, 'email'],
    ['metadata that is nested', { metadata: { a: {} } }, 'metadata.a'],
    ['metadata that is a list', { metadata: [1] }, 'metadata'],
    ['a list', [], undefined],
  ];
  it.each(rejected)('to %s is rejected', async (_, body, param) => {
    const customer = await newCustomer();
    expectRejection(await patch(customer.id, body), 'invalid_request', param);
    expect((await retrieve(customer.id)).body).toEqual(customer);
  });

  it('writes nothing in another environment than its own', async () => {
    const { id } = await newCustomer();
    const row = (await findCustomer(api.pool, api.environment, id)) as CustomerRow;
    row.name = 'x';
    expect(await updateCustomer(api.pool, `${api.keys.workspaceId}:test`, row)).toBeUndefined();
    expect((await retrieve(id)).body.name).not.toBe('x');
    expect(await updateCustomer(api.pool, api.environment, row)).toMatchObject({ name: 'x' });
  });

  it('applies only to the version that its caller read', async () => {
    const { id } = await newCustomer();
    const etag = String((await retrieve(id)).headers.etag);
    const seen = { headers: { 'if-match': `"other", ${etag}` } };
    const changed = await patch(id, { name: 'b' }, seen);
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
    expectRejection(await patch(id, { name: 'c' }, seen), 'precondition_failed');
    expectRejection(await archive(id, seen), 'precondition_failed');
    expect((await patch(id, { name: 'd' }, { headers: { 'if-match': '*' } })).status).toBe(200);
    expect((await retrieve(id)).body).toMatchObject({ name: 'd', status: 'active' });
  });

  it('of rivals that saw the same happens once', async () => {
    const { id } = await newCustomer();
    const headers = { 'if-match': String((await retrieve(id)).headers.etag) };
    const names = Array.from({ length: 6 }, (_, n) => `rival ${n}`);
    const responses = await Promise.all(names.map((name) => patch(id, { name }, { headers })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(412)]);
    expect(await emittedEvents(api.pool, id)).toHaveLength(2);
  });

  it('is visible to the next request, and nothing is sent to a client that has it already', async () => {
    const { id } = await newCustomer();
    const { headers } = await retrieve(id);
    const known = { headers: { 'if-none-match': String(headers.etag) } };
    const oneOfSome = { headers: { 'if-none-match': `"other", W/${headers.etag}` } };
    for (const requested of [known, oneOfSome]) {
      const same = await retrieve(id, requested);
      expect([same.status, same.text, same.headers.etag]).toEqual([304, '', headers.etag]);
    }
    await patch(id, { name: 'new' });
    expect((await retrieve(id, known)).status).toBe(200);
  });
});

describe('archiving a customer', () => {
  it('happens once, is notified, and leaves it readable and changeable', async () => {
    const customer = await newCustomer();
    for (let times = 0; times < 2; times += 1) {
      expect((await archive(customer.id)).body).toEqual({ ...customer, status: 'archived' });
    }
    expect(await emittedEvents(api.pool, customer.id)).toEqual([
      expect.objectContaining({ type: 'customer.created' }),
      { type: 'customer.updated', data: { customerId: customer.id, changes: ['status'] } },
    ]);
    expect(await auditEntries(api.pool, customer.id)).toHaveLength(2);
    const late = await patch(customer.id, { name: 'Late' });
    expect(late.body).toMatchObject({ name: 'Late', status: 'archived' });
  });
});

describe('the list of customers', () => {
  it('finds by email in any case, and by any part of name, email and externalId', async () => {
    const key = (await api.addWorkspace()).live.secret;
    const ada = await newCustomer({ name: 'Ada 100%', email: 'Ada@Example.com', externalId: 'crm-7_a' }, key);
    const bob = await newCustomer(
      { name: `Bob\\O'Neil`, email: 'bob@example.com', externalId: 'crm-7xa' },
      key,
    );
    const find = async (query: Record<string, string>) =>
      (await api.request('customers.list', { key, query })).body.data.map((one: { id: string }) => one.id);
    expect(await find({ email: 'ADA@example.COM' })).toEqual([ada.id]);
    expect(await find({ email: 'ada' })).toEqual([]);
    expect(await find({ q: 'EXAMPLE' })).toEqual([bob.id, ada.id]);
    expect(await find({ q: '100%' })).toEqual([ada.id]);
    expect(await find({ q: '%' })).toEqual([ada.id]);
    expect(await find({ q: '7_a' })).toEqual([ada.id]);
    expect(await find({ q: '\\' })).toEqual([bob.id]);
    expect(await find({ q: `O'n` })).toEqual([bob.id]);
    expect(await find({ q: 'crm', email: 'bob@example.com' })).toEqual([bob.id]);
    expect(await find({ q: ada.id })).toEqual([ada.id]);
    expect(await find({ q: ada.id.slice(0, -1) })).toEqual([]);
    expect(await find({ q: `'; DROP TABLE customers; --` })).toEqual([]);
    for (const q of ['', 'x'.repeat(201)]) {
      expectRejection(await api.request('customers.list', { key, query: { q } }), 'invalid_request', 'q');
    }
  });

  it('is the same from whichever end a page is read, ties by id', async () => {
    const keys = await api.addWorkspace();
    const key = keys.live.secret;
    await api.pool.query(
      `INSERT INTO customers (id, environment, name, email, created_at)
       SELECT 'cus_' || chr(97 + n), $1, 'n', 'n@b.cd', now() - (n / 3) * interval '1 hour'
         FROM generate_series(0, 10) AS n`,
      [`${keys.workspaceId}:live`],
    );
    const expected = [...'cbafedihgkj'].map((letter) => `cus_${letter}`);
    for (const pageSize of [1, 2, 3, 4, 5, 11, 12]) {
      const seen: string[] = [];
      const pages = Math.ceil(11 / pageSize);
      for (let page = 1; page <= pages; page += 1) {
        const { body } = await api.request('customers.list', { key, query: { page, pageSize } });
        seen.push(...body.data.map((one: { id: string }) => one.id));
        expect({ ...body, data: [] }).toEqual({
          data: [],
          total: 11,
          page,
          pageSize,
          totalPages: pages,
          hasNext: page < pages,
          hasPrev: page > 1,
        });
      }
      expect(seen).toEqual(expected);
    }
    const beyond = await api.request('customers.list', { key, query: { page: 4, pageSize: 4 } });
    expect(beyond.body).toMatchObject({ data: [], total: 11, hasNext: false, hasPrev: true });
  });
});
