import { type Endpoints, readEndpoints } from '../infra/platform/endpoints-file.ts';
import type { Clock } from '../infra/ports/clock.ts';

/** The current addresses of Postgres and the control plane; undefined while they are unknown. */
export interface EndpointDiscovery {
  postgresUrl(): string | undefined;
  controlUrl(): string | undefined;
}

/** The control plane comes back on other ports: a read address is trusted this long. */
const TRUSTED_MS = 100;

/**
 * From the file that the control side writes. `databaseUrl` is the operator's own Postgres, where there is
 * one.
 */
export function createEndpointDiscovery(file: string, clock: Clock, databaseUrl?: string): EndpointDiscovery {
  let endpoints: Endpoints | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;

  function current(): Endpoints | undefined {
    const now = clock.monotonicMs();
    if (now - readAtMs < TRUSTED_MS) return endpoints;
    endpoints = readEndpoints(file) ?? endpoints;
    readAtMs = now;
    return endpoints;
  }

  return {
    postgresUrl: () => databaseUrl ?? current()?.postgresUrl,
    controlUrl: () => current()?.controlUrl,
  };
}
