import type { Client } from 'pg';
import type { TObject } from 'typebox';
import { checkOf } from '../../control-plane/http/json-schema.ts';
import { EVENTS, type EventType, envelopeSchema } from '../../schemas/events.ts';

/**
 * Throws if an event in the outbox departs from the schema of its type: a member is missing, is of
 * another type, or is not in the schema. Rows that a test inserts itself have no `data` and are skipped.
 * Every test with a database of its own checks it. Breaks that turn one red: a number that is emitted as
 * text; a member that is left out, renamed or added without its schema.
 */
export async function checkEmittedEvents(client: Client): Promise<void> {
  const { rows } = await client.query<{ type: EventType; body: string }>(
    `SELECT type, body FROM webhook_events WHERE body LIKE '%"data":%'`,
  );
  for (const { type, body } of rows) {
    const fault = faultOf(type, JSON.parse(body));
    if (fault !== undefined) throw new Error(`the event ${body} departs from its schema: ${fault}`);
  }
}

/** What is wrong with the body of an event of this type. */
export function faultOf(type: EventType, envelope: { data: object }): string | undefined {
  try {
    envelopeCheck(type)(envelope);
  } catch (error) {
    return (error as Error).message;
  }
  const { data }: { data: TObject } = EVENTS[type];
  const unknown = Object.keys(envelope.data).filter((name) => !Object.hasOwn(data.properties, name));
  return unknown.length === 0 ? undefined : `\`data\` has ${unknown.join(', ')}`;
}

const checks = new Map<EventType, ReturnType<typeof checkOf>>();

/** Compiled once for each type. */
function envelopeCheck(type: EventType): ReturnType<typeof checkOf> {
  const known = checks.get(type);
  if (known) return known;
  const check = checkOf(envelopeSchema(type));
  checks.set(type, check);
  return check;
}
