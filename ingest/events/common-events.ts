import {
  createEventWriter,
  type EventMapping,
  type EventWriter,
  type PreparedMappings,
  prepareMappings,
  type WrittenEvents,
} from '../engine/wasm/cloud-events.ts';
import type { EventsForm } from './events-head.ts';
import type { Listener } from './listener.ts';
import type { ListenersByType } from './listeners.ts';
import { USAGE_BYTES_MAX } from './usage-batches.ts';

/**
 * Events of the common form as the bodies of usage batches, each event one item: a fifth of what reading them
 * into objects costs. Undefined for all others, valid or not, which usage-batches.ts takes.
 */
export type CommonEvents = (
  form: EventsForm,
  body: Buffer,
  listeners: ListenersByType,
) => WrittenEvents | undefined;

export function createCommonEvents(write: EventWriter = createEventWriter()): CommonEvents {
  /** As long as the cached listeners live. */
  const prepared = new WeakMap<ListenersByType, { mappings: PreparedMappings | undefined }>();

  function mappingsOf(listeners: ListenersByType): PreparedMappings | undefined {
    const known = prepared.get(listeners) ?? { mappings: prepareMappings(mappingsIn(listeners)) };
    prepared.set(listeners, known);
    return known.mappings;
  }

  return (form, body, listeners) => {
    if (form === 'binary' || form === 'logs' || listeners.size === 0) return undefined;
    const mappings = mappingsOf(listeners);
    const written = mappings && write(body, mappings);
    if (!written || (form !== 'either' && written.isArray !== (form === 'batch'))) return undefined;
    const bytes = written.bodies.reduce((sum, { length }) => sum + length, 0);
    return bytes > USAGE_BYTES_MAX ? undefined : written;
  };
}

/** Of a type without one no event is of the common form. */
function mappingsIn(listeners: ListenersByType): EventMapping[] {
  const mappings: EventMapping[] = [];
  for (const [type, [listener, ...others]] of listeners) {
    const mapping = listener && others.length === 0 && isPlain(type) ? mappingOf(type, listener) : undefined;
    if (mapping) mappings.push(mapping);
  }
  return mappings;
}

function mappingOf(
  type: string,
  { meterKey, value, filters, properties }: Listener,
): EventMapping | undefined {
  const paths = [...(value ? [value] : []), ...properties.map(({ path }) => path)];
  const names = paths.flatMap((path) => (path.length === 1 ? path : []));
  const texts = names.filter((name) => typeof name === 'string');
  // mutant: filtered-event-common
  if (filters.length > 0 || texts.length < paths.length) return undefined;
  if (![meterKey, ...texts, ...properties.map(({ name }) => name)].every(isPlain)) return undefined;
  return {
    type,
    meterKey,
    valueName: value && String(value[0]),
    properties: properties.map(({ name, path }) => ({ name, memberName: String(path[0]) })),
  };
}

/** ASCII that JSON writes as it is. */
function isPlain(text: string): boolean {
  return /^[ !#-[\]-~]+$/.test(text);
}
