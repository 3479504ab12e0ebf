import { Rejected } from '../../schemas/failures.ts';
import { readEventPath } from '../../schemas/primitives/event-path.ts';
import type { EventSource } from '../../schemas/resources/meters.ts';

/** Its known members. Throws Rejected `invalid_request` for a path that cannot be followed. */
export function readEventSource({ eventType, valueProperty, filters, groupBy }: EventSource): EventSource {
  if (valueProperty !== undefined) checkPath(valueProperty, 'eventSource.valueProperty');
  for (const path of Object.keys(filters ?? {})) checkPath(path, 'eventSource.filters');
  for (const [name, path] of Object.entries(groupBy ?? {})) checkPath(path, `eventSource.groupBy.${name}`);
  return {
    eventType,
    ...(valueProperty === undefined ? {} : { valueProperty }),
    ...(filters === undefined ? {} : { filters }),
    ...(groupBy === undefined ? {} : { groupBy }),
  };
}

function checkPath(path: string, param: string): void {
  if (readEventPath(path)) return;
  const form = 'the name of a member, or a path of names and indexes such as `$.usage.tokens`';
  throw new Rejected('invalid_request', `\`${param}\` must be ${form}.`, { param });
}
