import { Rejected } from '../../schemas/failures.ts';
import { exactJson, parseExact } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { UsageEventAmendment } from '../../schemas/resources/usage-corrections.ts';
import type { RequestContext } from '../http/request-context.ts';
import { readDecimal } from '../input/read-decimal.ts';
import { readPlainValues } from '../input/read-metadata.ts';
import type { FoundEvent } from '../store/read-usage-events.ts';
import type { RecordedUsage } from '../store/usage-corrections.ts';
import { givenTime } from '../subscriptions/read-times.ts';
import { findCustomer, findKnownMeter } from '../usage/customer-meter.ts';
import { recordedUsage } from './recorded-usage.ts';

/** As for usage that clients send, where the limit can be set: a clock may be ahead of ours. */
const AHEAD_MS_MAX = 300_000;
const MEMBERS = ['value', 'occurredAt', 'customerId', 'meterId', 'properties'] as const;

/**
 * The event that counts in the place of this one: of any time in the past, and of customers and meters that
 * are archived, as the event itself may be. Throws Rejected.
 */
export async function readAmendment(
  context: RequestContext,
  event: FoundEvent,
  { body, bodyText }: { body: UsageEventAmendment; bodyText: string },
): Promise<RecordedUsage> {
  if (MEMBERS.every((name) => body[name] === undefined)) {
    const message = `Send at least one of ${MEMBERS.map((name) => `\`${name}\``).join(', ')}.`;
    throw new Rejected('invalid_request', message, { param: 'value' });
  }
  const before = recordedUsage(event);
  const { value } = parseExact(bodyText) as { value?: unknown };
  const { customerId, meterId } = body;
  return {
    customerId: customerId === undefined ? before.customerId : await findCustomer(context, customerId),
    meterId: meterId === undefined ? before.meterId : (await findKnownMeter(context, meterId)).key,
    value: value === undefined ? before.value : readDecimal(value, 'value'),
    occurredAt: readTime(context, body) ?? before.occurredAt,
    properties: body.properties === undefined ? before.properties : readProperties(bodyText),
  };
}

function readTime({ nowMs }: RequestContext, { occurredAt }: UsageEventAmendment): string | undefined {
  const atMs = givenTime(occurredAt)?.getTime();
  if (atMs === undefined) return undefined;
  if (atMs <= nowMs + AHEAD_MS_MAX) return timestampText(atMs);
  const message = '`occurredAt` lies more than 5 minutes ahead.';
  throw new Rejected('event_in_future', message, { param: 'occurredAt' });
}

/** Null: none are left. */
function readProperties(bodyText: string): string | null {
  const text = readPlainValues(bodyText, 'properties') ?? '{}';
  const names = Object.keys(parseExact(text) as object).sort();
  if (names.length === 0) return null;
  const values = parseExact(text) as Record<string, unknown>;
  return exactJson(new Map(names.map((name) => [name, values[name]])));
}
