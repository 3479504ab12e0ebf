import { Badge } from '../../design/pieces.tsx';
import { Ago } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { outcomeText } from './attempt-outcome.ts';
import type { EndpointState, Failing } from './failing.ts';

/** Whether it gets its events: an endpoint that is enabled may fail. */
export function EndpointStatus({ endpoint }: { endpoint: Pick<EndpointState, 'status' | 'failing'> }) {
  const { status, failing } = endpoint;
  return failing === undefined ? <StatusBadge status={status} /> : <Badge tone="bad">Failing</Badge>;
}

/** Since when it fails, how, and what follows. */
export function FailureOf({ failing }: { failing: Failing }) {
  const { failingSince, lastStatus, lastError } = failing;
  return (
    <>
      Failing since <Ago at={failingSince} />. {outcomeText({ status: lastStatus, error: lastError })}.
    </>
  );
}
