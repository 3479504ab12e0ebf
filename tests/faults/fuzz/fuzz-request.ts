/** A request that is whole HTTP and whose content is fuzzed. */
export interface FuzzRequest {
  /** What was done to it, for the message of a failure. */
  what: string;
  target: Target;
  includeEvents: boolean;
  /** Names in lower case; without those of the connection, of the framing and of the key. */
  headers: Record<string, string>;
  /** As it goes on the wire. */
  body: Buffer;
  chunked: boolean;
  /** The idempotency keys it was made of: free as long as it is rejected. */
  keys: string[];
}

/** The control plane's bodies are another environment's: what they make is no customer here. */
export interface PlaneKeys {
  usage: string;
  control: string;
}

export interface SocketsOptions {
  origin: string;
  keys: PlaneKeys;
  seed: number;
  run: string;
  /** Whose usage it is. */
  customer: string;
  /** Clients that leave; a third as many talk at random, and a tenth of it dribble in each way. */
  count: number;
  /** False: no client dribbles, since it takes a quarter of a minute until they are closed. */
  slow: boolean;
}

export type Target = 'single' | 'batch' | 'customers' | 'meters';

/** Two of the data plane's and two that it passes on to the control plane. */
export const TARGET_PATH: Record<Target, string> = {
  single: '/api/v1/usage/events',
  batch: '/api/v1/usage/events/batch',
  customers: '/api/v1/customers',
  meters: '/api/v1/meters',
};

export function isUsage(target: Target): boolean {
  return target === 'single' || target === 'batch';
}

/** A request as its bodies are before anything is done to it. */
export function soundRequest(
  target: Target,
  body: string | Buffer,
  more: Partial<FuzzRequest> = {},
): FuzzRequest {
  return {
    what: 'untouched',
    target,
    includeEvents: target === 'batch',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(body),
    chunked: false,
    keys: [],
    ...more,
  };
}
