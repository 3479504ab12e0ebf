import fc from 'fast-check';
import { expect, it } from 'vitest';
import { apiOfThisFile } from '../api-under-test.ts';
import { emittedEvents, subscriptionsUnderTest } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Every version of a plan, along any way of changing it, against a model that keeps them all.
 *
 * Mutants this suite catches: a published plan, or a draft with something pinned to it, replaced in place; a
 * new version without a copy; the same set or name counted as a change; an archived plan changed in place.
 */
const FEATURES = ['a', 'b', 'c'];

const api = await apiOfThisFile();
for (const key of FEATURES) {
  await api.request('features.create', { body: { key, name: key, type: 'limit' } });
}
const customerId = await subscriptionsUnderTest(api).customer();

type Limits = Record<string, number | boolean | null>;

type Step =
  | { does: 'replace'; limits: Limits }
  | { does: 'rename'; name: string }
  | { does: 'pin' }
  | { does: 'publish' }
  | { does: 'archive' };

const limit = fc.option(fc.integer({ min: 0, max: 3 }), { nil: null });
/** Few enough that the same set occurs twice in a row sometimes. */
const limits = fc.oneof(
  fc.constantFrom<Limits>({}, { a: 1 }),
  fc.record({ a: limit, b: limit, c: limit }, { requiredKeys: [] }).map((given) => ({ ...given }) as Limits),
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('replace' as const), limits }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('rename' as const), name: fc.constantFrom('x', 'y') }),
  },
  { weight: 2, arbitrary: fc.constant({ does: 'pin' as const }) },
  { weight: 1, arbitrary: fc.constant({ does: 'publish' as const }) },
  { weight: 1, arbitrary: fc.constant({ does: 'archive' as const }) },
);

it('each version gives forever what it gave when the next one came', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 12 }), async (way) => {
      const { body } = await api.request('createPlan', { body: { productId: 'p', name: 'x' } });
      const params = { planId: String(body.id) };
      const model = createModel();
      for (const step of way) {
        await take(params, step, model.versions.length);
        model.take(step);
      }
      const { body: plan } = await api.request('plans.retrieve', { params });
      expect(plan).toMatchObject({ status: model.status(), version: model.versions.length });
      for (const [at, expected] of model.versions.entries()) {
        const seen = await api.request('plans.retrieveEntitlements', { params, query: { version: at + 1 } });
        expect(limitsOf(seen.body.entitlements)).toEqual(expected);
      }
      const notified = (await emittedEvents(api.pool, params.planId)).filter(
        ({ type }) => type === 'plan.updated',
      );
      expect(notified).toHaveLength(model.changes());
    }),
    { numRuns: 40 },
  );
});

async function take(params: { planId: string }, step: Step, planVersion: number): Promise<void> {
  // Rejected for an archived plan.
  if (step.does === 'pin') {
    const { body } = await api.request('subscriptions.create', {
      body: { customerId, ...params, planVersion },
    });
    // It counts also when it has ended, and the next one is accepted then.
    await api.request('subscriptions.cancel', { params: { subscriptionId: String(body.id) } });
  }
  if (step.does === 'rename') await api.request('plans.update', { params, body: { name: step.name } });
  if (step.does === 'publish') await api.request('plans.publish', { params });
  if (step.does === 'archive') await api.request('plans.archive', { params });
  if (step.does !== 'replace') return;
  const entitlements = Object.entries(step.limits).map(([featureKey, value]) => ({ featureKey, value }));
  const response = await api.request('plans.replaceEntitlements', { params, body: { entitlements } });
  expect(response.status).toBe(200);
}

function limitsOf(entitlements: Array<{ featureKey: string; value: Limits[string] }>): Limits {
  return Object.fromEntries(entitlements.map(({ featureKey, value }) => [featureKey, value]));
}

/** The same, with every version as a whole. */
function createModel() {
  let status = 'draft';
  let name = 'x';
  let changes = 0;
  const pinned = new Set<number>();
  const versions: Limits[] = [{}];

  function put(limits: Limits): void {
    changes += 1;
    if (status === 'draft' && !pinned.has(versions.length)) versions.pop();
    versions.push(limits);
  }

  return {
    versions,
    status: () => status,
    changes: () => changes,
    take(step: Step): void {
      const now = versions.at(-1) ?? {};
      if (step.does === 'replace' && !isSame(now, step.limits)) put(step.limits);
      if (step.does === 'rename' && name !== step.name) put(now);
      if (step.does === 'rename') name = step.name;
      if (step.does === 'pin' && status !== 'archived') pinned.add(versions.length);
      if (step.does === 'publish' && status === 'draft') status = 'published';
      if (step.does === 'archive') status = 'archived';
    },
  };
}

function isSame(one: Limits, other: Limits): boolean {
  return (
    FEATURES.every((key) => one[key] === other[key]) && Object.keys(one).length === Object.keys(other).length
  );
}
