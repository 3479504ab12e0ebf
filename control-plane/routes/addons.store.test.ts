import { describe, expect, it } from 'vitest';
import { apiOfThisFile, type CallOptions, expectRejection } from '../api-under-test.ts';
import { auditEntries } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Add-ons and what they give, over HTTP; the tests of plans show how the values are checked.
 *
 * Mutants this suite catches: an add-on's statement without its environment; the old set kept along with the
 * new one.
 */
const api = await apiOfThisFile();
await api.request('features.create', { body: { key: 'seats', name: 'Seats', type: 'limit' } });
await api.request('features.create', { body: { key: 'sso', name: 'SSO', type: 'boolean' } });

let made = 0;
async function newAddon() {
  const response = await api.request('addons.create', { body: { key: `addon-${++made}`, name: 'Add-on' } });
  expect(response.status).toBe(201);
  return response.body;
}

const put = (addonId: string, entitlements: unknown, options: CallOptions = {}) =>
  api.request('addons.replaceEntitlements', { params: { addonId }, ...options, body: { entitlements } });

it('an add-on is created, recorded, and read by id and by key', async () => {
  const addon = await newAddon();
  expect(addon).toEqual({
    id: expect.stringMatching(/^addon_[a-z2-7]{26}$/),
    key: `addon-${made}`,
    name: 'Add-on',
    createdAt: expect.any(String),
    updatedAt: addon.createdAt,
  });
  for (const addonId of [addon.id, addon.key]) {
    expect((await api.request('addons.retrieve', { params: { addonId } })).body).toEqual(addon);
  }
  expect((await api.request('addons.list')).body.data[0]).toEqual(addon);
  expect(await auditEntries(api.pool, addon.id)).toMatchObject([{ action: 'addons.create', after: addon }]);
});

describe('an add-on', () => {
  it('has a key of its own, and is not visible in another environment', async () => {
    const { id, key } = await newAddon();
    const body = { key, name: 'again' };
    expectRejection(await api.request('addons.create', { body }), 'already_exists', 'key');
    const theirs = { key: api.keys.test.secret };
    for (const addonId of [id, key, 'addon_gone', '__proto__']) {
      const params = { addonId };
      expectRejection(await api.request('addons.retrieve', { ...theirs, params }), 'not_found', 'addonId');
      const given = await api.request('addons.retrieveEntitlements', { ...theirs, params });
      expectRejection(given, 'not_found', 'addonId');
      expectRejection(await put(addonId, [], theirs), 'not_found', 'addonId');
    }
    expect((await api.request('addons.create', { ...theirs, body })).status).toBe(201);
  });

  it.each([
    { key: 'addon_x' },
    { key: '' },
    { key: '.' },
    { key: undefined },
    { name: '' },
    { name: undefined },
  ])('is rejected with %o', async (fields) => {
    const body = { key: 'rejected', name: 'x', ...fields };
    expectRejection(await api.request('addons.create', { body }), 'invalid_request', Object.keys(fields)[0]);
  });

  it('gives what it was set to give, replaced as a whole', async () => {
    const { id, createdAt } = await newAddon();
    const first = await put(id, [
      { featureKey: 'sso', value: true },
      { featureKey: 'seats', value: 0.5, soft: true },
    ]);
    expect(first.body).toEqual({
      addonId: id,
      entitlements: [
        { featureKey: 'seats', type: 'limit', value: 0.5, soft: true },
        { featureKey: 'sso', type: 'boolean', value: true, soft: false },
      ],
    });
    const second = await put(id, [{ featureKey: 'seats', value: null }]);
    const params = { addonId: id };
    const seen = await api.request('addons.retrieveEntitlements', { params });
    expect(seen.body).toEqual(second.body);
    expect(seen.body.entitlements).toEqual([
      { featureKey: 'seats', type: 'limit', value: null, soft: false },
    ]);
    expect((await api.request('addons.retrieve', { params })).body.updatedAt > createdAt).toBe(true);
    expect(await auditEntries(api.pool, id)).toMatchObject([
      { action: 'addons.create' },
      { before: { addonId: id, entitlements: [] }, after: first.body },
      { before: first.body, after: second.body },
    ]);
  });

  it('to the set it has: nothing is recorded', async () => {
    const { id } = await newAddon();
    const set = [{ featureKey: 'seats', value: 1 }];
    await put(id, set);
    expect((await put(id, set)).status).toBe(200);
    expect(await auditEntries(api.pool, id)).toHaveLength(2);
  });

  it('is changed only as it was seen, and only by what can be', async () => {
    const { id } = await newAddon();
    const { headers } = await api.request('addons.retrieveEntitlements', { params: { addonId: id } });
    const seen = { headers: { 'if-match': String(headers.etag) } };
    expect((await put(id, [{ featureKey: 'sso', value: false }], seen)).status).toBe(200);
    expectRejection(await put(id, [], seen), 'precondition_failed');
    const wrong = [{ featureKey: 'sso', value: 1 }];
    expectRejection(await put(id, wrong), 'invalid_request', 'entitlements.0.value');
    const deleted = [{ featureKey: 'deleted', value: 1 }];
    expectRejection(await put(id, deleted), 'feature_not_found', 'entitlements.0.featureKey');
  });
});
