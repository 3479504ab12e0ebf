import { apiPath, useOperation } from '../../api/rest.ts';
import { count } from '../../design/figures.ts';

interface ReplayableCountProps {
  endpointId: string;
  from: string;
  to: string;
}

/** As many as one page has. */
const COUNTED_MAX = 100;

/** How many deliveries of a period have not arrived. */
export function ReplayableCount(period: ReplayableCountProps) {
  const query = { ...period, status: 'undelivered', limit: COUNTED_MAX };
  const { data } = useOperation<'webhookDeliveries.listAll'>(apiPath(['webhooks', 'deliveries'], query));
  if (data === undefined) return null;
  const more = data.nextCursor === undefined ? '' : ' or more';
  return (
    <p>
      Deliveries of this period that have not arrived: {count(data.data.length)}
      {more}. Those that failed or are held are made again, those that wait become due.
    </p>
  );
}
