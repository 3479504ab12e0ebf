import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Unusable } from '../read-options.ts';
import { lookAtInstance } from './tested-instance.ts';

let server: Server | undefined;
afterEach(() => {
  server?.close().closeAllConnections();
});

/** Has the meter already. */
async function look(meter: object): Promise<string> {
  server = createServer(({ method, url = '' }, response) => {
    const responses: Array<[start: string, status: number, body: object]> = [
      ['/api/v1/meters/', 200, meter],
      ['/api/v1/meters', 409, {}],
      ['/api/v1/customers', 201, { id: 'cus_1', createdAt: new Date().toISOString() }],
    ];
    const [, status, body] = responses.find(([start]) => url.startsWith(start)) ?? ['', 200, { method }];
    response.setHeader('x-api-version', 'v1').setHeader('content-type', 'application/json');
    response.writeHead(status).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { api, meterKey } = await lookAtInstance(url, 'sk_test_x');
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
