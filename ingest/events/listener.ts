import { type EventPath, readEventPath } from '../../schemas/primitives/event-path.ts';
import type { EventSource } from '../../schemas/resources/meters.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';

/** A meter that counts events of a type, with its paths read. */
export interface Listener {
  meterKey: string;
  /** The end of an idempotency key, made once. */
  meterKeyJson: string;
  /** Undefined: each event counts 1. */
  value: EventPath | undefined;
  filters: Array<{ path: EventPath; values: ReadonlySet<string> }>;
  /** Of properties by name, the name already as JSON. */
  properties: Array<{ name: string; nameJson: string; path: EventPath }>;
}

export interface ListeningMeter {
  key: string;
  aggregation: Aggregation;
  /** Of a `unique` meter. */
  property: string | undefined;
  eventSource: EventSource;
}

/** Of a stored meter, whose paths were checked when it was made. */
export function listenerOf({ key, aggregation, property, eventSource }: ListeningMeter): Listener {
  const { valueProperty, filters = {}, groupBy = {} } = eventSource;
  const value = valueProperty === undefined ? undefined : pathOf(valueProperty);
  const paths = new Map(Object.entries(groupBy).map(([name, path]) => [name, pathOf(path)]));
  const isUnique = aggregation === 'unique' && property !== undefined;
  if (isUnique && !paths.has(property)) paths.set(property, value ?? [property]);
  return {
    meterKey: key,
    meterKeyJson: JSON.stringify(key),
    value: isUnique ? undefined : value,
    filters: Object.entries(filters).map(([path, values]) => ({
      path: pathOf(path),
      values: new Set(values),
    })),
    properties: [...paths].map(([name, path]) => ({ name, nameJson: JSON.stringify(name), path })),
  };
}

/** One that no release reads leads nowhere. */
function pathOf(text: string): EventPath {
  return readEventPath(text) ?? [text];
}
