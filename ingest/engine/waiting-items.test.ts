import { expect, it } from 'vitest';
import type { UsageRequest } from '../../infra/ports/engine.ts';
import type { Customer, UsageRegistry } from '../registry-entries.ts';
import { createPlainParts } from './js/js-engine.ts';

const BATCH = 500;
const WAITING_MAX = 200_000 / BATCH;

/** Of a world whose Postgres takes its time. */
function slowParts() {
  const responses: Array<() => void> = [];
  const fillCustomers = () =>
    new Promise<Map<string, Customer>>((resolve) => responses.push(() => resolve(new Map())));
  const namesInOtherMode = async () => new Set<string>();
  const nothing = () => undefined;
  const registry = { findCustomer: nothing, findMeter: nothing, fillCustomers, namesInOtherMode };
  const { read } = createPlainParts({
    registry: registry as Partial<UsageRegistry> as UsageRegistry,
    createdAtMs: () => 0,
    arrivalOf: () => 0,
    limits: { ageMsMax: 1, aheadMsMax: 1 },
    identityOf: () => new Uint8Array(32),
  });
  return { read, responses };
}

const event = { idempotencyKey: 'a', customerId: 'stranger', meterId: 'm', value: 1 };
const body = Buffer.from(JSON.stringify({ events: [event, ...Array(BATCH - 1).fill(1)] }));
const request = { environment: 'e', kind: 'batch', body, requestId: 'r' } as UsageRequest;

// Red without a bound: bodies of a kilobyte become 70 each, and ten thousand connections may wait so.
it('takes no more items that wait for names than fit, and more once those are found', async () => {
  const { read, responses } = slowParts();
  const waiting = Array.from({ length: WAITING_MAX }, () => read(request));
  const beyond = read(request);
  expect('rejection' in beyond && beyond.rejection).toMatchObject({ code: 'overloaded' });
  expect(responses).toHaveLength(WAITING_MAX);
  for (const response of responses) response();
  expect(await Promise.all(waiting)).toHaveLength(WAITING_MAX);
  expect(read(request)).toBeInstanceOf(Promise);
});
