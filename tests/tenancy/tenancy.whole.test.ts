import { join } from 'node:path';
import { describe, expect, it, onTestFailed } from 'vitest';
import { newApiKey } from '../../domain/rules/api-key.ts';
import type { OperationId } from '../../schemas/routes.ts';
import { SCOPES } from '../../schemas/scopes.ts';
import { ofThisFile } from '../support/of-this-file.ts';
import { isHidden } from './is-hidden.ts';
import { markerOf } from './make-objects.ts';
import { ask, customerToken, faults, type NewKey, newKey } from './request-as.ts';
import { codeOn, revocationTimes, type Tier } from './revocation-times.ts';
import { findSecrets, secretsOf } from './secrets-shown.ts';
import { spoiltRequests } from './spoilt-requests.ts';
import { openTenancyScenario, type TenantName } from './tenancy-scenario.ts';
import {
  type CrossingRequest,
  crossingRequests,
  type TenantRequest,
  tenantRequests,
} from './tenant-requests.ts';
import { idsIn, readTenantRows } from './tenant-rows.ts';
import type { WatchedResponse } from './watched-client.ts';

/*
 * Promises 16, 17 and 18 of a whole Metergate, through its public port. The requests are made from the route
 * table: an operation is covered on the day it is added, and one whose parameters are not explained here
 * fails.
 */
const scenario = await ofThisFile(
  openTenancyScenario({ LOG_LEVEL: 'trace', SEED_DEMO: 'false' }),
  ({ close }) => close(),
);
const { environment, objects: objectsOfAlpha } = scenario.tenants['alpha live'];
const requests = tenantRequests(objectsOfAlpha);

const rowsOfAlpha = () => readTenantRows(scenario.pool, environment);
/** What no other tenant may be shown. */
const ownOfAlpha = async () => [
  ...idsIn(await rowsOfAlpha(), environment),
  markerOf(scenario.tenants['alpha live'].name),
];
const isSigned = ({ route }: TenantRequest) => route.access === 'signature';

/*
 * Seen red with the mutants key-of-any-environment, customer-of-any-environment,
 * products-of-all-environments, scope-not-checked, revoked-key-taken (tests/mutants/tenancy-mutants.ts).
 */
describe('promise 16: no request crosses into another environment', () => {
  const rejections: Array<[what: string, code: string, keyOf: () => string | undefined | Promise<string>]> = [
    ['no key', 'unauthenticated', () => undefined],
    ['an unknown key', 'unauthenticated', () => newApiKey('secret', 'live')],
    ['a mistyped key', 'unauthenticated', () => scenario.alpha.live.secret.replace(/.$/, '_')],
    ['a revoked key', 'key_revoked', revokedKey],
    ['an expired key', 'key_expired', expiredKey],
    ['a publishable key', 'publishable_key_not_allowed', () => scenario.alpha.live.publishable],
  ];
  it.each(rejections)('%s is rejected everywhere, and changes nothing', async (what, code, keyOf) => {
    const key = await keyOf();
    const requested = requests.filter(
      ({ route }) => what !== 'a publishable key' || route.access !== 'publishable',
    );
    const before = await rowsOfAlpha();
    const isRight = (response: WatchedResponse, request: TenantRequest) =>
      response.code === (isSigned(request) ? 'signature_invalid' : code);
    expect(await faults(scenario, requested, { keyOf: () => key, isRight })).toEqual([]);
    expect(await rowsOfAlpha()).toEqual(before);
  });

  it('a key with every scope but the right one is rejected everywhere, and changes nothing', async () => {
    const keys = new Map<string, string>();
    for (const scope of SCOPES) {
      const scopes = SCOPES.filter((other) => other !== scope);
      keys.set(scope, (await newKey(scenario, { kind: 'secret', scopes })).key);
    }
    const requested = requests.filter(({ route }) => keys.has(route.access));
    const before = await rowsOfAlpha();
    const keyOf = ({ route }: TenantRequest) => keys.get(route.access);
    const isRight = ({ code }: WatchedResponse) => code === 'insufficient_scope';
    expect(await faults(scenario, requested, { keyOf, isRight })).toEqual([]);
    expect(await rowsOfAlpha()).toEqual(before);
  });

  it('a customer token reads its own customer, is rejected elsewhere, and changes nothing', async () => {
    const tokens = await Promise.all(TENANTS.map((name) => customerToken(scenario, name)));
    const before = await rowsOfAlpha();
    for (const [at, name] of TENANTS.entries()) {
      const reads = (request: TenantRequest) => request.route.customerToken && isReadBy(name, request);
      const isRight = ({ status, code }: WatchedResponse, request: TenantRequest) => {
        if (isSigned(request)) return code === 'signature_invalid';
        return reads(request) ? status === 200 : code === 'customer_token_not_allowed';
      };
      expect(await faults(scenario, requests, { keyOf: () => tokens[at], isRight })).toEqual([]);
    }
    expect(await rowsOfAlpha()).toEqual(before);
  });

  it('to another workspace nothing is there, shown or changed', () => crossAs('beta live'));
  it('to the other mode nothing is there, shown or changed', () => {
    // One workspace has both modes: its settings are all that they share.
    return crossAs('alpha test', 'workspace.update');
  });

  async function crossAs(name: TenantName, shared?: OperationId): Promise<void> {
    const { key, objects } = scenario.tenants[name];
    const all = crossingRequests(objects, scenario.tenants['alpha live'].objects);
    const crossing = all.filter(({ operationId }) => operationId !== shared);
    expect(crossing.length).toBeGreaterThan(requests.length);
    const [before, own] = [await rowsOfAlpha(), await ownOfAlpha()];
    const isRight = (response: WatchedResponse, request: CrossingRequest) => isHidden(response, request, own);
    expect(await faults(scenario, crossing, { keyOf: () => key, isRight })).toEqual([]);
    expect(await rowsOfAlpha()).toEqual(before);
  }

  it('pages without a key show nothing of anybody', async () => {
    const own = await ownOfAlpha();
    for (const page of ['healthz', 'readyz', 'metrics', 'openapi.json', 'docs', 'widget/v1.js']) {
      const text = await (await fetch(`${scenario.instance.origin}/${page}`)).text();
      expect(own.filter((one) => text.includes(one))).toEqual([]);
    }
  });

  // Without this a request that finds nothing for any tenant would pass as one that hides something.
  it('the same requests find what they name for its owner', async () => {
    const wrong: string[] = [];
    const isRight = ({ status, code }: WatchedResponse, request: TenantRequest) => {
      if (isSigned(request)) return code === 'signature_invalid';
      return status < 300 || status === 409 || code === 'endpoint_removed';
    };
    const keyOf = () => scenario.alpha.live.secret;
    for (const request of requests) wrong.push(...(await faults(scenario, [request], { keyOf, isRight })));
    expect(wrong).toEqual([]);
  });
});

const TENANTS = ['alpha live', 'alpha test', 'beta live'] as const;

/** The requests are about objects of the first tenant; what names no customer is of each one's own. */
function isReadBy(name: TenantName, { route }: TenantRequest): boolean {
  return name === 'alpha live' || !route.path.includes('{customerId}');
}

async function revokedKey(): Promise<string> {
  const { id: keyId, key } = await newKey(scenario);
  await ask(scenario, 'apiKeys.revoke', scenario.alpha.live.secret, { keyId });
  return key;
}

async function expiredKey(): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_000).toISOString();
  const { key } = await newKey(scenario, { kind: 'secret', scopes: ['*'], expiresAt });
  await expect.poll(() => codeOn(scenario, 'control plane', key), { timeout: 20_000 }).toBe('key_expired');
  return key;
}

/*
 * Seen red with the mutants revoked-key-taken and, while no notification arrives, key-never-looked-up-again;
 * with the latter and `clear` taken out of KeyCache.forget, both are.
 */
describe('promise 18: a revoked key is rejected on both tiers within 10 s', () => {
  const WITHIN_MS = 10_000;

  it('through the API, by a rotation without an overlap, and through the admin command', async () => {
    for (const ms of await revocationTimes(scenario)) expect(ms).toBeLessThan(WITHIN_MS);
  });

  it('also while no notification arrives', async () => {
    await scenario.cutListening();
    onTestFailed(() => scenario.restoreListening());
    for (const ms of await revocationTimes(scenario)) expect(ms).toBeLessThan(WITHIN_MS);
    scenario.restoreListening();
  });
});

describe('a whole Metergate', () => {
  // Red when `saw` is taken out of auth.ts or of app/roles/ingest.ts.
  it('knows after a stop when a key was used last, on either tier', async () => {
    const used: NewKey[] = [];
    for (const tier of TIERS) {
      const key = await newKey(scenario);
      await codeOn(scenario, tier, key.key);
      used.push(key);
    }
    expect(await scenario.instance.stop()).toBe(0);
    const { rows } = await scenario.pool.query<{ at: Date | null }>(
      'SELECT last_used_at AS at FROM api_keys WHERE id = ANY ($1)',
      [used.map(({ id }) => id)],
    );
    expect(rows).toEqual(used.map(() => ({ at: expect.any(Date) })));
    await scenario.instance.start();
  });

  it('rejects unknown meters as soon as the workspace is strict', async () => {
    const { key, objects } = scenario.tenants['beta live'];
    const submit = async (meterId: string) => {
      const body = { customerId: objects.customerId, meterId, value: 1 };
      return (await ask(scenario, 'usage.submit', key, { body })).code;
    };
    const setStrict = (strictMeters: boolean) =>
      ask(scenario, 'workspace.update', key, { body: { strictMeters } });
    await setStrict(true);
    expect(await submit('unheard-of')).toBe('meter_not_found');
    expect(await submit(objects.meterKey)).toBeUndefined();
    await setStrict(false);
    expect(await submit('unheard-of')).toBeUndefined();
  });
});

describe('the admin command', () => {
  it('makes keys that work at once, and lists them', async () => {
    const { workspaceId } = scenario.beta;
    const named = [
      '--workspace',
      workspaceId,
      '--mode',
      'test',
      '--kind',
      'secret',
      '--scopes',
      'usage:write',
    ];
    const { stdout } = await scenario.admin(['key', 'create', ...named, '--json']);
    const { id, key } = JSON.parse(stdout) as NewKey;
    expect(await tryCode('data plane', key)).toBe('taken');
    expect((await scenario.admin(['key', 'list', '--workspace', workspaceId])).stdout).toContain(id);
  });

  it('ends with 2 for bad arguments, 1 for what cannot be done, and says why', async () => {
    const nowhere = { DATA_DIR: join(scenario.instance.dataDir, 'nowhere') };
    const failures: Array<[args: string[], code: number, says: RegExp, settings?: Record<string, string>]> = [
      [['workspace', 'create'], 2, /--name is missing[\s\S]*Usage:/],
      [['workspace', 'list'], 2, /^Bad configuration: PORT/, { PORT: 'x' }],
      [['key', 'list', '--workspace', 'ws_none'], 1, /^There is no workspace ws_none/],
      [['key', 'revoke', '--key', 'key_none'], 1, /^There is no such key/],
      [['workspace', 'list'], 1, /^No Metergate runs on .*nowhere: start it first/, nowhere],
      [['workspace', 'list'], 1, /^The Postgres of this Metergate does not/, UNAVAILABLE],
    ];
    for (const [args, code, says, settings] of failures) {
      const failure = await scenario.admin(args, settings).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(says) });
    }
  });
});

const UNAVAILABLE = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };

/*
 * Over everything that this file did. Seen red with the mutants whole-key-kept, headers-in-the-log and
 * unknown-key-repeated, and with the processor's secrets stored as they were sent.
 */
describe('promise 17: no secret appears but in the response that shows it', () => {
  it('in no log, page, error or row, with good and bad requests and a restart', async () => {
    const canary = 'sk_processor_4eC39HqLyjWDarjtT1zdp7dc';
    const misplaced = 'canary_9dKq2LmVbX7tRw0ZyHs5';
    const key = scenario.alpha.live.secret;
    for (const body of [
      { action: 'connect', apiKey: canary, secret: canary },
      { action: 'connect', secret: canary },
      { action: 'set_webhook_secret', secret: canary },
    ]) {
      await ask(scenario, 'connectProcessor', key, { body });
    }
    for (const role of ['data plane', 'control side'] as const) await scenario.instance.kill(role);
    const backAgain = async () => (await Promise.all(TIERS.map((tier) => tryCode(tier, key)))).join(' ');
    await expect.poll(backAgain, { timeout: 30_000 }).toBe('taken taken');
    const spoilt = requests.flatMap((request) => spoiltRequests(request, misplaced));
    const responses = await Promise.all(spoilt.map((request) => scenario.client.ask(request, key)));
    const failed = responses.filter(({ status }) => status >= 500);
    expect(failed.map(({ operationId, requested }) => `${operationId} ${requested.slice(0, 200)}`)).toEqual(
      [],
    );
    const texts = await Promise.all(
      ['metrics', 'readyz'].map(async (page) => (await fetch(`${scenario.instance.origin}/${page}`)).text()),
    );
    expect(await scenario.instance.stop()).toBe(0);
    const secrets = [...secretsOf(scenario), canary];
    expect(secrets.length).toBeGreaterThan(20);
    const pages = texts.join('\n');
    expect(await findSecrets(scenario, { secrets, misplaced, pages })).toEqual([]);
  });
});

const TIERS = ['data plane', 'control plane'] as const;

/** While a process is down there may be no response at all. */
async function tryCode(tier: Tier, key: string): Promise<string> {
  return await codeOn(scenario, tier, key).then(
    (code = 'taken') => code,
    () => 'unavailable',
  );
}
