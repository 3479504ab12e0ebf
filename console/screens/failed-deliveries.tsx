import { apiPath, useOperation } from '../api/rest.ts';
import type { Listed } from '../api/wire.ts';
import { linkTo } from '../app/place.ts';
import { count } from '../design/figures.ts';
import { Loaded } from '../design/loaded.tsx';
import { Badge, Card, Empty } from '../design/pieces.tsx';

type Endpoint = Listed<'listWebhookEndpoints'>;

/** The endpoints that deliveries fail at, each with their number. */
export function FailedDeliveries({ endpoints }: { endpoints: readonly Endpoint[] }) {
  return (
    <Card title="Failed deliveries">
      {endpoints.length === 0 ? <Empty>Nothing is delivered yet.</Empty> : null}
      {endpoints.map((endpoint) => (
        <FailedAt key={endpoint.id} endpoint={endpoint} />
      ))}
    </Card>
  );
}

function FailedAt({ endpoint: { id, url, status, disabledReason } }: { endpoint: Endpoint }) {
  const query = { status: 'failed', pageSize: 1 };
  const read = useOperation<'webhookDeliveries.list'>(
    apiPath(['webhooks', 'endpoints', id, 'deliveries'], query),
  );
  return (
    <div class="row">
      <Loaded read={read} lines={1}>
        {({ total }) => (
          <>
            <Badge tone={total > 0 ? 'bad' : 'good'}>{total > 0 ? `${count(total)} failed` : 'None'}</Badge>
            <a href={linkTo(['webhooks', id], total > 0 ? { status: 'failed' } : {})}>{url}</a>
            {status === 'disabled' ? (
              <span class="muted small">disabled{disabledReason ? `: ${disabledReason}` : ''}</span>
            ) : null}
          </>
        )}
      </Loaded>
    </div>
  );
}
