import { onTestFinished } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { PartitionOutcome, PartitionWriter } from '../../infra/ports/event-log.ts';
import type { DistributedIdempotencyStore } from '../../infra/ports/idempotency-store.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { decodeFrame, type Frame } from '../../schemas/stored/frame.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createStamps } from '../engine/created-at.ts';
import { createEngineHarness } from '../engine/engine-under-test.ts';
import { createDistributedEngine } from '../engine/js/distributed-engine.ts';
import type { IdentifyDeps } from '../engine/js/js-engine.ts';
import { createDistributedUsage } from './begin-distributed-usage.ts';

/** A log of frames in memory, whose appends end as the test sets. */
export interface LogUnderTest {
  frames: Frame[];
  /** Called before each append. `unknown-written`: the response is lost, but the frame is on the log. */
  next(): Promise<PartitionOutcome['status'] | 'unknown-written'>;
  writer(partition: number): PartitionWriter;
}

const LOG_ID = Buffer.alloc(16, 9);

export function createLogUnderTest(): LogUnderTest {
  const log: LogUnderTest = {
    frames: [],
    next: async () => 'durable',
    writer: () => ({
      logId: LOG_ID,
      close: async () => undefined,
      async append(pieces): Promise<PartitionOutcome> {
        const status = await log.next();
        if (status === 'not_sent') return { status, cause: 'the test' };
        if (status !== 'unknown') log.frames.push(decodeFrame(Buffer.concat(pieces)));
        if (status !== 'durable') return { status: 'unknown', cause: 'the test' };
        const end = log.frames.length;
        return { status, position: end - 1, end };
      },
    }),
  };
  return log;
}

export interface Responded {
  status: number;
  replayed: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into JSON of every shape
  json: any;
}

export const CUSTOMER = 'cus_aaaaaaaaaaaaaaaaaaaaaaaaaa';

/** An engine that knows a customer and the meter `calls`. */
export async function openDistributedEngine(
  stamps: Partial<IdentifyDeps>,
  customer: { archived?: boolean } = {},
) {
  const names = await createEngineHarness(() => undefined as never);
  onTestFinished(() => names.close());
  names.putCustomer({ id: CUSTOMER, ...customer });
  names.putMeter({ key: 'calls' });
  return createDistributedEngine({ ...names.identifyDeps, ...stamps, hotWindowMs: 3 * 86_400_000 });
}

/** One data plane of several: its own engine, over the log and the keys of all. */
export async function openDataPlane(
  keys: DistributedIdempotencyStore,
  log: LogUnderTest,
  warehouse: Pick<Warehouse, 'query'> = { query: async () => [] },
  customer: { archived?: boolean } = {},
) {
  const partitions = 2;
  const engine = await openDistributedEngine(createStamps(systemClock), customer);
  const deps = { engine, keys, partitions, warehouse, writer: log.writer, clock: systemClock, log: SILENT };
  const usage = createDistributedUsage(deps);
  onTestFinished(() => usage.drain());
  return async (key: string, value: number, occurredAt?: string): Promise<Responded> => {
    const event = { customerId: CUSTOMER, meterId: 'calls', value, occurredAt };
    const request: UsageRequest = {
      ...{ environment: 'ws_a:live', kind: 'single', includeEvents: false, requestId: 'req_a' },
      ...{ idempotencyKey: key, body: Buffer.from(JSON.stringify(event)) },
    };
    const response = await new Promise<Response>((respond, fail) => {
      usage.begin(request, { respond, fail, noSpace: () => fail(new Error('no space')) });
    });
    return {
      status: response.status,
      replayed: response.replayed,
      json: JSON.parse(response.body.toString()),
    };
  };
}
