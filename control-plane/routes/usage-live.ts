import type { KeyCache } from '../../domain/api-key-cache.ts';
import type { LiveUsage } from '../analytics/live/live-usage.ts';
import { isStillGood } from '../http/key-still-good.ts';
import { RawResponse } from '../http/raw-response.ts';
import type { Handlers } from '../http/request-context.ts';
import { findCustomer, findKnownMeter } from '../usage/customer-meter.ts';

export interface UsageLiveDeps {
  liveUsage: LiveUsage;
  keys: KeyCache;
}

export function createUsageLiveHandlers({
  liveUsage,
  keys,
}: UsageLiveDeps): Pick<Handlers, 'usageLive.stream'> {
  return {
    'usageLive.stream': async (context, { query }) => {
      const { environment } = context;
      const { customerId: customer, meterId, forSeconds } = query;
      const customerId = customer === undefined ? undefined : await findCustomer(context, customer);
      const meter = meterId === undefined ? undefined : await findKnownMeter(context, meterId);
      const body = await liveUsage.open({
        ...{ environment, customerId, meterKey: meter?.key },
        forMs: forSeconds * 1_000,
        isAllowed: () => isStillGood(keys, context),
      });
      return new RawResponse('text/event-stream', body);
    },
  };
}
