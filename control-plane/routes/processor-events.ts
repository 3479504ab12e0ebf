import { Rejected } from '../../schemas/failures.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { ProcessorEvent } from '../../schemas/resources/integrations.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readingOf } from '../processor/kept-event.ts';
import { matchSubscription } from '../processor/match-subscription.ts';
import {
  findProcessorEvent,
  listProcessorEvents,
  type ProcessorEventRow,
} from '../store/processor-events.ts';

export const processorEventHandlers: Pick<Handlers, 'processor.listEvents' | 'processor.applyEvent'> = {
  'processor.listEvents': async ({ db, environment }, { query }) => {
    const { rows, total } = await listProcessorEvents(db, environment, query);
    return pageOf(rows.map(shownEvent), total, query);
  },

  'processor.applyEvent': async (context, { params: { processorEventId: id } }) => {
    const { status, processorSubscriptionId } = await knownEvent(context, id);
    if (status === 'unmatched' && processorSubscriptionId !== null) {
      await matchSubscription(context, processorSubscriptionId);
    }
    return shownEvent(await knownEvent(context, id));
  },
};

async function knownEvent({ db, environment }: RequestContext, id: string): Promise<ProcessorEventRow> {
  const row = await findProcessorEvent(db, environment, id);
  if (row) return row;
  throw new Rejected('not_found', `There is no processor event ${id}.`, { param: 'processorEventId' });
}

function shownEvent(row: ProcessorEventRow): ProcessorEvent {
  const { id, type, status, reasons, processorSubscriptionId, subscriptionId, changedAt } = row;
  return {
    id,
    ...(type === null ? {} : { type }),
    status,
    reasons,
    ...(processorSubscriptionId === null ? {} : { processorSubscriptionId }),
    ...(subscriptionId === null ? {} : { subscriptionId }),
    ...readFrom(row),
    missingPriceIds: row.missingPrices,
    // Its order within its second is internal.
    ...(changedAt === null
      ? {}
      : { occurredAt: timestampText(Math.floor(changedAt.getTime() / 1000) * 1000) }),
    receivedAt: timestampText(row.receivedAt.getTime()),
  };
}

function readFrom({ reading }: ProcessorEventRow) {
  if (reading === null) return {};
  const { processorCustomerId, customerName, items } = readingOf(reading);
  return {
    ...(processorCustomerId === undefined ? {} : { processorCustomerId }),
    ...(customerName === undefined ? {} : { customerName }),
    ...(items === undefined ? {} : { items }),
  };
}
