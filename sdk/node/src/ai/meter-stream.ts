import type { Meter } from '../meter/meter.ts';
import type { UsageEvent } from '../meter/usage-event.ts';

/** How many tokens of each kind: `input`, `output`, `cached_input` or what your meters tell apart. */
export type TokenCounts = Readonly<Record<string, number>>;

export interface MeteredStream<Chunk> {
  meter: Pick<Meter, 'track'>;
  /** What the model sends. */
  stream: AsyncIterable<Chunk>;
  /** What a chunk says of the whole call so far; most say nothing. */
  tokensOf: (chunk: Chunk) => TokenCounts | undefined;
  /** Of a stream that ended before it said so, by its chunks. Without it nothing is counted then. */
  estimate?: (chunks: number) => TokenCounts;
  /** Without `value`; the kind is the property `kind`. Its key, if it has one, gets the kind behind it. */
  event: Omit<UsageEvent, 'value'>;
}

/**
 * Passes a stream of a model on, and counts its tokens when it ends: in order, by an error, or because the
 * caller does not read on.
 */
export async function* meterStream<Chunk>(
  metered: MeteredStream<Chunk>,
): AsyncGenerator<Chunk, void, undefined> {
  const { meter, stream, tokensOf, estimate, event } = metered;
  let counts: TokenCounts | undefined;
  let chunks = 0;
  try {
    for await (const chunk of stream) {
      chunks += 1;
      counts = tokensOf(chunk) ?? counts;
      yield chunk;
    }
  } finally {
    for (const one of eventsOf(event, counts ?? estimate?.(chunks) ?? {})) meter.track(one);
  }
}

function eventsOf(event: MeteredStream<unknown>['event'], counts: TokenCounts): UsageEvent[] {
  const used = Object.entries(counts).filter(([, tokens]) => tokens > 0);
  return used.map(([kind, value]) => {
    const key =
      event.idempotencyKey === undefined ? {} : { idempotencyKey: `${event.idempotencyKey}:${kind}` };
    return { ...event, ...key, value, properties: { ...event.properties, kind } };
  });
}
