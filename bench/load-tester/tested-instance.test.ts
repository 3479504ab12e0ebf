import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenUntil } from '../../tests/support/listen.ts';
import { Unusable } from '../read-options.ts';
import { lookAtInstance } from './tested-instance.ts';

/** Has the meter already. */
async function look(meter: object): Promise<string> {
  const server = createServer(({ method, url = '' }, response) => {
    const responses: Array<[start: string, status: number, body: object]> = [
      ['/api/v1/meters/', 200, meter],
      ['/api/v1/meters', 409, {}],
      ['/api/v1/customers', 201, { id: 'cus_1', createdAt: new Date().toISOString() }],
    ];
    const [, status, body] = responses.find(([start]) => url.startsWith(start)) ?? ['', 200, { method }];
    response.setHeader('x-api-version', 'v1').setHeader('content-type', 'application/json');
    response.writeHead(status).end(JSON.stringify(body));
  });
  const { url } = await listenUntil(onTestFinished, server);
  const { api, meterKey } = await lookAtInstance(new URL(url), 'sk_test_x');
  await api.close();
  return meterKey;
}

describe('an instance where the meter is there already', () => {
  it('is used when that is a sum', async () => {
    expect(await look({ aggregation: 'sum', status: 'active' })).toBe('bench_load');
  });

  // Fault this catches: a run of minutes that ends with "the counter is wrong" of every customer.
  it.each([
    [{ aggregation: 'max', status: 'active' }, /bench_load is there already and is max:/],
    [{ aggregation: 'sum', status: 'archived' }, /is archived:/],
  ])('is not used when that is %j', async (meter, words) => {
    const looked = look(meter);
    await expect(looked).rejects.toThrow(Unusable);
    await expect(looked).rejects.toThrow(words);
  });
});
