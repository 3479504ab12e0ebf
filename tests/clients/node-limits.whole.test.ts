import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../sdk/node/src/client/client.ts';
import { createEntitlements } from '../../sdk/node/src/entitlements/check.ts';
import { createMeter } from '../../sdk/node/src/meter/meter.ts';
import { endChild } from '../support/child-end.ts';
import { inTime } from '../support/in-time.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';

/* What the README of sdk/node promises of a limit, in figures, and of a server that is killed. */
const instance = await instanceOfThisFile();
const to = { url: instance.origin, apiKey: instance.keys().live.secret };
const client = createClient(to);
const WAIT = { timeout: 20_000, interval: 20 };

const PROCESSES = 4;
const PER_SECOND = 100;
const LIMIT = 1_500;
/** From a use until it is acknowledged: `lingerMs`, and a second for a timer, a request and its response. */
const ACKNOWLEDGED_WITHIN_MS = 1_000 + 1_000;

interface Use {
  usedAtMs: number[];
  knownToMs: number;
  sources: Record<string, number>;
  waiting: number;
}

async function customerOf(externalId: string, limits: Record<string, number>): Promise<string> {
  const { id: customerId } = await client.customers.create({
    body: { name: externalId, email: 'a@b.example', externalId },
  });
  for (const [featureKey, value] of Object.entries(limits)) {
    await client.overrides.put({ customerId, featureKey, body: { value } });
  }
  return customerId;
}

async function makeFeature(key: string): Promise<void> {
  await client.meters.create({ body: { key, name: key, aggregation: 'sum' } });
  await client.features.create({ body: { key, name: key, type: 'metered', meterKey: key } });
}

/** Red when what others use is counted seconds late, or not at all. */
it('four processes pass a limit by no more than the others use until their usage is known', async () => {
  await makeFeature('shared');
  await customerOf('shared', { shared: LIMIT });
  const children = Array.from({ length: PROCESSES }, startUsing);
  await Promise.all(children.map((child) => inTime(once(child, 'message'), 60_000, 'a ready process')));
  for (const child of children) child.send('begin');
  const uses = await Promise.all(
    children.map(async (child) => {
      const [use] = await inTime(once(child, 'message'), 60_000, 'the end of a process');
      return use as Use;
    }),
  );
  const used = uses.reduce((sum, { usedAtMs }) => sum + usedAtMs.length, 0);
  const overrun = used - LIMIT;
  const { ageMs, unknown } = lastUse(uses);
  const rate = `${PROCESSES} processes, each ${PER_SECOND}/s, asOf ${ageMs} ms old`;
  const figures = `overrun by ${overrun} of ${LIMIT}, at most ${unknown}: ${rate}; ${sourcesOf(uses)}`;
  process.stderr.write(`${figures}\n`);
  expect(overrun, figures).toBeGreaterThanOrEqual(0);
  expect(overrun, figures).toBeLessThanOrEqual(unknown);
  expect(uses.map(({ waiting }) => waiting)).toEqual(uses.map(() => 0));
  const of = { customerId: 'shared', meterId: 'shared', consistency: 'strong' } as const;
  expect((await client.usage.retrieve(of)).current).toBe(used);
});

function startUsing(): ChildProcess {
  const env = {
    ...process.env,
    LIMIT_URL: to.url,
    LIMIT_KEY: to.apiKey,
    LIMIT_CUSTOMER: 'shared',
    LIMIT_PER_SECOND: String(PER_SECOND),
  };
  const child = fork('dist-tests/tests/clients/use-a-limit.js', { env });
  onTestFinished(async () => void (await endChild(child)));
  return child;
}

/** What was known when the last of all was allowed, and how many uses of the others may have been unknown. */
function lastUse(uses: readonly Use[]): { ageMs: number; unknown: number } {
  const endMs = (use: Use): number => use.usedAtMs.at(-1) ?? 0;
  const last = uses.reduce((one, other) => (endMs(other) > endMs(one) ? other : one));
  const isUnknown = (atMs: number) => atMs > last.knownToMs - ACKNOWLEDGED_WITHIN_MS;
  const others = uses.filter((use) => use !== last).flatMap(({ usedAtMs }) => usedAtMs);
  return { ageMs: endMs(last) - last.knownToMs, unknown: others.filter(isUnknown).length };
}

function sourcesOf(uses: readonly Use[]): string {
  return JSON.stringify(uses.map(({ sources }) => sources));
}

/** Last: it kills the server. Red when a policy is that of another feature, or what was known is lost. */
it('what a policy decides when the server is killed is what the README says of it', async () => {
  for (const key of ['kept', 'opened', 'shut']) await makeFeature(key);
  const customerId = await customerOf('killed', { kept: 5, opened: 5, shut: 5 });
  const quiet = { onError: () => undefined };
  const meter = createMeter({ ...to, ...quiet, lingerMs: 50 });
  const fallback = { kept: 'last_known', opened: 'open' } as const;
  const local = createEntitlements({ client, isLocal: true, meter, fallback, timeoutMs: 500, ...quiet });
  const asking = createEntitlements({ client, fallback, timeoutMs: 500 });
  onTestFinished(async () => {
    local.close();
    await meter.close({ timeoutMs: 0 });
  });
  const decided = async (of: typeof local, featureKey: string) => {
    const { allowed, source } = await of.check({ customerId, featureKey });
    return [allowed, source];
  };
  await vi.waitFor(async () => expect(await decided(local, 'kept')).toEqual([true, 'local']), WAIT);
  expect(await decided(asking, 'kept')).toEqual([true, 'server']);
  const dataPlane = instance.pid('data plane');
  await instance.kill('supervisor');
  process.kill(dataPlane, 'SIGKILL');
  await vi.waitFor(async () => expect(await decided(local, 'shut')).toEqual([false, 'fallback']), WAIT);
  expect(await decided(local, 'opened')).toEqual([true, 'fallback']);
  for (const of of [asking, local]) {
    expect(await decided(of, 'kept')).toEqual([true, 'fallback']);
    expect(await decided(of, 'opened')).toEqual([true, 'fallback']);
    expect(await decided(of, 'shut')).toEqual([false, 'fallback']);
  }
  // Its own usage counts on, in what it knew last.
  for (let at = 0; at < 7; at++) {
    expect(await decided(local, 'kept')).toEqual([at < 5, 'fallback']);
    meter.track({ customerId, meterId: 'kept', value: 1 });
  }
  expect(meter.stats()).toMatchObject({ tracked: 7, dropped: 0, rejected: 0 });
});
