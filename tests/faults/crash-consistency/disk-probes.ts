import type { ApiResponse } from '../../support/api.ts';
import type { Judged } from '../../support/compare.ts';
import { units } from '../../support/exact.ts';
import type { PlannedRequest } from '../../support/generator.ts';
import type { MeantEvent } from '../../support/planned-event.ts';
import { type Outcome, sendOnce } from '../../support/send.ts';

/**
 * Requests that have to be written. A rejected request is repeated until it is acknowledged: at the edge of
 * a full disk its event may have been written before. The ledger records each response.
 */
export interface DiskProbes {
  send(): Promise<Outcome & { response: ApiResponse }>;
  /** Those that were acknowledged, newest last. */
  acknowledged(): PlannedRequest[];
}

export function createDiskProbes(judged: Judged, run: string): DiskProbes {
  const acknowledged: PlannedRequest[] = [];
  let next = probeOf(judged, `${run}-probe-0`);
  return {
    async send() {
      const { response, hasResponse } = await sendOnce(next, judged);
      if (response instanceof Error) throw response;
      if (hasResponse) {
        acknowledged.push(next);
        next = probeOf(judged, `${run}-probe-${acknowledged.length}`);
      }
      return { response, hasResponse };
    },
    acknowledged: () => [...acknowledged],
  };
}

/** Too many to fit into the rest of a block. */
const PROBE_EVENTS = 200;

function probeOf({ world }: Judged, run: string): PlannedRequest {
  const [customer, meter] = [world.customers[0], world.meters[0]];
  const occurredAtMs = Date.now();
  const items = Array.from({ length: PROBE_EVENTS }, (_, at) => {
    const key = `${run}-${at}`;
    const event: MeantEvent = { key, customer: 0, meter: 0, value: units('1'), occurredAtMs, properties: [] };
    const named = { customerId: customer?.id, meterId: meter?.key, idempotencyKey: key };
    const json = JSON.stringify({ ...named, occurredAt: new Date(occurredAtMs).toISOString(), value: 1 });
    return { json, echoedKey: key, event };
  });
  const body = `{"events":[${items.map(({ json }) => json).join(',')}]}`;
  return { kind: 'batch', gzip: false, includeEvents: false, items, body };
}
