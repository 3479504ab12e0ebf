import { describe, expect, it } from 'vitest';
import { createNodeFront } from '../../infra/http/node-front.ts';
import { createUwsFront } from '../../infra/http/uws-front.ts';
import type { CreateFront } from '../../infra/ports/conformance/front-under-test.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { until } from '../../tests/support/raw-connection.ts';
import { startForwarder, startUpstream } from './forwarder-under-test.ts';

describe('reads without a secret key behind uWebSockets.js', () => reads(createUwsFront));
describe('reads without a secret key behind node:http', () => reads(createNodeFront));

const IN_FLIGHT_MAX = 16;
const EIGHTH = 2;
const KEYED = { 'x-env': 'a:live' };

/** An upstream that holds what is sent to /held until the test ends it; the header X-Env acts as a key. */
async function startHolding(createFront: CreateFront, lookUp = async (env: string) => env) {
  const held: Array<() => void> = [];
  const upstream = await startUpstream((req, res) => {
    if (req.url === '/held') held.push(() => res.end('held'));
    else res.end('reached');
  });
  const senderOf = ({ headers }: Pick<Exchange, 'headers'>) => {
    const env = headers.get('x-env');
    return env?.startsWith('new') ? lookUp(env) : env;
  };
  const options = { target: () => upstream, senderOf, inFlightMax: IN_FLIGHT_MAX };
  const { url } = await startForwarder(createFront, options);
  const statuses: number[] = [];
  const flood = (count: number, headers: Record<string, string> = {}) =>
    Array.from({ length: count }, async () => {
      const response = await fetch(`${url}/held`, { headers }).catch(() => undefined);
      statuses.push(response?.status ?? 0);
      await response?.text();
    });
  return { url, held, flood, statuses };
}

function reads(createFront: CreateFront): void {
  // Red when a request without a body takes any place: with 512 of them in flight, every other client got
  // a 503.
  it('take an eighth of the places, and leave the others to secret keys and to bodies', async () => {
    const { url, held, flood, statuses } = await startHolding(createFront);
    const strange = flood(10);
    await until('each is held or rejected', () => held.length + statuses.length === 10);
    expect([held.length, statuses]).toEqual([EIGHTH, Array(10 - EIGHTH).fill(503)]);
    const rejected = await fetch(url);
    expect(rejected.headers.get('retry-after')).toBe('1');
    expect(await rejected.json()).toMatchObject({ error: { code: 'overloaded' } });
    expect((await fetch(url, { method: 'POST', body: 'beacon' })).status).toBe(200);
    const keyed = flood(IN_FLIGHT_MAX - EIGHTH, KEYED);
    await until('those with a key are held', () => held.length === IN_FLIGHT_MAX);
    for (const end of held.splice(0)) end();
    await Promise.all([...strange, ...keyed]);
    const again = flood(EIGHTH);
    await until('their places are free again', () => held.length === EIGHTH);
    for (const end of held) end();
    await Promise.all(again);
  });

  // Red when a key that is not in the cache counts as none: the first read of each key would be rejected.
  it('are none of those with a key that has to be looked up', async () => {
    const known = deferred<string>();
    const { url, held, flood } = await startHolding(createFront, () => known.promise);
    const strange = flood(EIGHTH);
    await until('the eighth is taken', () => held.length === EIGHTH);
    const keyed = fetch(url, { headers: { 'x-env': 'new:live' } });
    expect((await fetch(url)).status).toBe(503);
    known.resolve('new:live');
    expect((await keyed).status).toBe(200);
    for (const end of held) end();
    await Promise.all(strange);
  });
}
