import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextPlanStatuses } from '../../domain/rules/plan-status.ts';
import type { PLAN_STATUSES } from '../../schemas/value-sets.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { auditEntries, emittedEvents } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Products and plans over HTTP.
 *
 * Mutants this suite catches: a plan's statement without its environment; the catalogue's lock left out; an
 * event although nothing changed; a transition made without the rule; the version of a published plan left as
 * it is; If-Match not checked.
 */
const api = await apiOfThisFile();

const ABSENT = 'plan_aaaaaaaaaaaaaaaaaaaaaaaaaa';

async function createPlan(fields: Record<string, unknown> = {}) {
  const { body } = await api.request('createPlan', { body: { productId: 'p', name: 'Pro', ...fields } });
  return body;
}

async function publishedPlan() {
  const { id } = await createPlan();
  return (await api.request('plans.publish', { params: { planId: id } })).body;
}

describe('a product', () => {
  it('has the id of its caller, or one of ours', async () => {
    const theirs = { id: 'prod_theirs', name: 'A' };
    expect((await api.request('products.create', { body: theirs })).body).toMatchObject(theirs);
    const { body } = await api.request('products.create', { body: { name: 'B' } });
    expect(body.id).toMatch(/^prod_[a-z2-7]{26}$/);
    const listed = await api.request('products.list');
    expect(listed.body.data.map(({ name }: { name: string }) => name)).toEqual(['B', 'A']);
    expect(await auditEntries(api.pool, body.id)).toMatchObject([{ action: 'products.create', after: body }]);
  });

  it('has an id of its own within the environment', async () => {
    const body = { id: 'same', name: 'x' };
    await api.request('products.create', { body });
    expectRejection(await api.request('products.create', { body }), 'already_exists', 'id');
    expect((await api.request('products.create', { body, key: api.keys.test.secret })).status).toBe(201);
  });

  it.each([{ id: '' }, { id: 'x'.repeat(129) }, { name: '' }, { name: undefined }])(
    'is rejected with %o',
    async (fields) => {
      const body = { id: 'rejected', name: 'x', ...fields };
      const response = await api.request('products.create', { body });
      expectRejection(response, 'invalid_request', Object.keys(fields)[0]);
    },
  );
});

describe('a new plan', () => {
  it('is a draft of version 1 with a key made of its name, and is notified', async () => {
    const body = { productId: 'team', name: 'Team Plan', description: 'For teams' };
    const response = await api.request('createPlan', { body });
    expect(response.body).toEqual({
      ...body,
      id: expect.stringMatching(/^plan_[a-z2-7]{26}$/),
      key: 'team-plan',
      status: 'draft',
      version: 1,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updatedAt: response.body.createdAt,
    });
    expect(response.headers.etag).toBeTruthy();
    const { id } = response.body;
    expect(await emittedEvents(api.pool, id)).toEqual([
      { type: 'plan.created', data: { planId: id, status: 'draft', version: 1 } },
    ]);
    expect(await auditEntries(api.pool, id)).toEqual([
      { actor: expect.any(String), action: 'createPlan', before: null, after: response.body },
    ]);
  });

  it('creates an unknown product, once', async () => {
    await createPlan({ productId: 'new product' });
    await createPlan({ productId: 'new product' });
    const { rows } = await api.pool.query(`SELECT name FROM products WHERE id = 'new product'`);
    expect(rows).toEqual([{ name: 'new product' }]);
    expect(await auditEntries(api.pool, 'new product')).toHaveLength(1);
  });

  it('gets a key and its product although many are made at once', async () => {
    const rivals = Array.from({ length: 20 }, () => createPlan({ name: 'Rival', productId: 'rivals' }));
    const plans = await Promise.all(rivals);
    const keys = plans.map(({ key }) => key);
    expect(new Set(keys).size).toBe(20);
    expect(keys).toEqual(expect.arrayContaining(['rival', 'rival-2', 'rival-9']));
    const listed = await api.request('plans.list', { query: { productId: 'rivals' } });
    expect(listed.body.total).toBe(20);
  });

  it('has a key of its own within the environment only', async () => {
    expect((await createPlan({ name: 'Alone' })).key).toBe('alone');
    const key = api.keys.test.secret;
    const theirs = await api.request('createPlan', { key, body: { productId: 'p', name: 'Alone' } });
    expect(theirs.body.key).toBe('alone');
  });

  it.each(['团队', '💡', `'; DROP TABLE plans; --`, '__proto__', ' x ', '../..'])(
    'may be called %s, and is found by its key',
    async (name) => {
      const plan = await createPlan({ name, description: name, productId: name });
      expect(plan).toMatchObject({ name, description: name, productId: name });
      const found = await api.request('plans.retrieve', { params: { planId: plan.key } });
      expect(found.body).toEqual(plan);
    },
  );

  const rejected: Array<[field: string, value: unknown]> = [
    ['productId', undefined],
    ['productId', ''],
    ['productId', 'x'.repeat(129)],
    ['productId', 5],
    ['name', undefined],
    ['name', ''],
    ['name', 'x'.repeat(201)],
    ['description', 'x'.repeat(2001)],
    ['description', 7],
  ];
  it.each(rejected)('is rejected with the %s %j', async (field, value) => {
    const body = { productId: 'rejected', name: 'Rejected', [field]: value };
    expectRejection(await api.request('createPlan', { body }), 'invalid_request', field);
    const { rows } = await api.pool.query(`SELECT FROM products WHERE id = 'rejected'`);
    expect(rows).toEqual([]);
  });
});

describe('a plan', () => {
  it('is read by id and by key, and only where it belongs', async () => {
    const plan = await createPlan();
    for (const planId of [plan.id, plan.key]) {
      expect((await api.request('plans.retrieve', { params: { planId } })).body).toEqual(plan);
    }
    for (const planId of [plan.id, ABSENT, 'cus_unknown', '__proto__']) {
      const key = api.keys.test.secret;
      const response = await api.request('plans.retrieve', { params: { planId }, key });
      expectRejection(response, 'plan_not_found', 'planId');
    }
  });

  it('changes in place as a draft, and to its next version when it is published', async () => {
    const { id } = await createPlan({ description: 'old' });
    const params = { planId: id };
    const drafted = await api.request('plans.update', { params, body: { name: 'New', productId: 'other' } });
    expect(drafted.body).toMatchObject({ name: 'New', productId: 'other', description: 'old', version: 1 });
    await api.request('plans.publish', { params });
    const changed = await api.request('plans.update', { params, body: { description: null } });
    expect(changed.body).toMatchObject({ name: 'New', version: 2, status: 'published' });
    expect(changed.body).not.toHaveProperty('description');
    expect(changed.body.updatedAt > drafted.body.createdAt).toBe(true);
    expect(changed.body.key).toBe(drafted.body.key);
    expect((await emittedEvents(api.pool, id)).map(({ type, data }) => [type, data])).toEqual([
      ['plan.created', { planId: id, status: 'draft', version: 1 }],
      ['plan.updated', { planId: id, version: 1 }],
      ['plan.published', { planId: id, status: 'published', version: 1 }],
      ['plan.updated', { planId: id, version: 2 }],
    ]);
    expect((await auditEntries(api.pool, id)).at(-1)).toMatchObject({
      action: 'plans.update',
      before: { description: 'old', version: 1 },
      after: changed.body,
    });
  });

  it('to the values it has: nothing is changed, notified or recorded', async () => {
    const plan = await publishedPlan();
    const params = { planId: plan.id };
    const { name, productId } = plan;
    for (const body of [{}, { name, productId }, { description: null }, { status: 'archived' }]) {
      expect((await api.request('plans.update', { params, body })).body).toEqual(plan);
    }
    expect((await api.request('plans.publish', { params })).body).toEqual(plan);
    expect(await emittedEvents(api.pool, plan.id)).toHaveLength(2);
    expect(await auditEntries(api.pool, plan.id)).toHaveLength(2);
  });

  it('is not changed by a caller that read an older one', async () => {
    const { headers, body } = await api.request('createPlan', { body: { productId: 'p', name: 'Seen' } });
    const params = { planId: body.id };
    const seen = { 'if-match': String(headers.etag) };
    const first = await api.request('plans.update', { params, body: { name: 'Seen 2' }, headers: seen });
    expect(first.status).toBe(200);
    const late = { params, headers: seen };
    const changed = await api.request('plans.update', { ...late, body: { name: 'x' } });
    expectRejection(changed, 'precondition_failed');
    expectRejection(await api.request('plans.publish', late), 'precondition_failed');
    expectRejection(await api.request('plans.archive', late), 'precondition_failed');
    const fresh = await api.request('plans.retrieve', { params });
    expect(fresh.headers.etag).toBe(first.headers.etag);
    const unchanged = { params, headers: { 'if-none-match': String(fresh.headers.etag) } };
    expect((await api.request('plans.retrieve', unchanged)).status).toBe(304);
  });

  it('counts each of many changes at once as a version', async () => {
    const { id } = await publishedPlan();
    const names = Array.from({ length: 10 }, (_, at) => `Name ${at}`);
    await Promise.all(
      names.map((name) => api.request('plans.update', { params: { planId: id }, body: { name } })),
    );
    expect((await api.request('plans.retrieve', { params: { planId: id } })).body.version).toBe(11);
    const notified = await emittedEvents(api.pool, id);
    const versions = notified.flatMap(({ type, data }) => (type === 'plan.updated' ? [data] : []));
    const counted = names.map((_, at) => ({ planId: id, version: at + 2 }));
    expect(versions).toHaveLength(10);
    expect(versions).toEqual(expect.arrayContaining(counted));
  });

  it('changes status only as the rule allows, along any path', async () => {
    const moves = { published: 'plans.publish', archived: 'plans.archive' } as const;
    const ways = fc.array(fc.constantFrom('published', 'archived'), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(ways, async (way) => {
        const { id } = await createPlan();
        let status: (typeof PLAN_STATUSES)[number] = 'draft';
        const notified = ['plan.created'];
        for (const to of way) {
          const legal = nextPlanStatuses(status);
          const response = await api.request(moves[to], { params: { planId: id } });
          if (status !== to && !legal.includes(to)) {
            expectRejection(response, 'illegal_transition');
            expect(response.body).toMatchObject({ error: { details: { from: status, to, legal } } });
            continue;
          }
          if (status !== to) notified.push(`plan.${to}`);
          status = to;
          expect(response.body).toMatchObject({ status, version: 1 });
        }
        const events = await emittedEvents(api.pool, id);
        expect(events.map(({ type }) => type).sort()).toEqual(notified.sort());
      }),
      { numRuns: 25 },
    );
  });
});

describe('the list of plans', () => {
  it('is filtered by status and product', async () => {
    const key = (await api.addWorkspace()).live.secret;
    const make = (name: string, productId: string) =>
      api.request('createPlan', { key, body: { name, productId } });
    await make('a', 'x');
    const { body: b } = await make('b', 'y');
    await make('c', 'y');
    await api.request('plans.publish', { key, params: { planId: b.id } });
    const names = async (query: Record<string, string>) => {
      const { body } = await api.request('plans.list', { key, query });
      expect(body.total).toBe(body.data.length);
      return body.data.map(({ name }: { name: string }) => name).join('');
    };
    expect(await names({})).toBe('cba');
    expect(await names({ productId: 'y' })).toBe('cb');
    expect(await names({ status: 'published' })).toBe('b');
    expect(await names({ status: 'draft', productId: 'y' })).toBe('c');
    expect(await names({ productId: `' OR true --` })).toBe('');
    const deleted = await api.request('plans.list', { query: { status: 'deleted' } });
    expectRejection(deleted, 'invalid_request', 'status');
  });
});
