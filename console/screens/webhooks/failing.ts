import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';

export type Failing = Listed<'webhookEndpoints.listFailing'>;

const EVERY_MS = 10_000;

/** The endpoints that fail now, by their ids; undefined until they are read, or where the key may not. */
export function useFailing(): ReadonlyMap<string, Failing> | undefined {
  const path = apiPath(['webhooks', 'failing-endpoints']);
  const { data } = useOperation<'webhookEndpoints.listFailing'>(path, { everyMs: EVERY_MS });
  return data && new Map(data.data.map((one) => [one.endpointId, one]));
}

/** What a delivery or an action needs to know of its endpoint. */
export interface EndpointState {
  id: string;
  url: string;
  status: 'enabled' | 'disabled';
  disabledReason?: 'gone' | 'failing' | null | undefined;
  failing: Failing | undefined;
}
