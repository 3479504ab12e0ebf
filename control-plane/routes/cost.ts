import { Rejected } from '../../schemas/failures.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { type CostDeps, createReadCost } from '../cost/read-cost.ts';
import type { Handlers } from '../http/request-context.ts';
import { findCustomer } from '../usage/customer-meter.ts';
import { beginReadTime } from '../usage/read-time.ts';
import { breakdownSpan } from '../usage/window.ts';

type CostQuery = Parameters<Handlers['cost.ofCustomer']>[1]['query'];

export function createCostHandlers(
  deps: CostDeps,
): Pick<Handlers, 'cost.ofCustomer' | 'cost.ofSubscription'> {
  const cost = createReadCost(deps);
  return {
    'cost.ofCustomer': async (context, { params, query }) => {
      const time = beginReadTime(query.consistency);
      const span = requestedSpan(query, context.nowMs);
      const customerId = await time.within(findCustomer(context, params.customerId));
      return cost.ofCustomer(context, customerId, { span, consistency: query.consistency, time });
    },

    'cost.ofSubscription': async (context, { params: { subscriptionId }, query }) => {
      const time = beginReadTime(query.consistency);
      const wish = { span: requestedSpan(query, context.nowMs), consistency: query.consistency, time };
      return (await cost.ofSubscription(context, subscriptionId, wish)) ?? notFound(subscriptionId);
    },
  };
}

/** Throws Rejected when it contradicts itself. */
function requestedSpan({ from, to }: CostQuery, nowMs: number): Span | undefined {
  return breakdownSpan(
    { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
    nowMs,
  ).span;
}

function notFound(id: string): never {
  throw new Rejected('subscription_not_found', `There is no subscription ${id}.`, {
    param: 'subscriptionId',
  });
}
