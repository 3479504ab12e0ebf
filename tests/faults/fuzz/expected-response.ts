import type { World } from '../../support/world.ts';
import { type ExpectedItem, expectItem } from './expected-item.ts';
import { type FuzzRequest, isUsage } from './fuzz-request.ts';
import {
  hasUnsoundText,
  inflated,
  isTaggedObject,
  memberOf,
  readTagged,
  type Tagged,
} from './read-tagged.ts';

/** The response that the contract requires: one of `rejected`, or the items one by one. */
export type Expected =
  | { rejected: Set<string> }
  | { items: ExpectedItem[] }
  /** A control-plane body that was read: created, or rejected with one of these. */
  | { created: Tagged; rejected: Set<string> };

const BODY_BYTES_MAX = 1024 * 1024;
const BATCH_ITEMS_MAX = 500;

export function expectResponse(request: FuzzRequest, world: World): Expected {
  const { target, headers, body } = request;
  const mediaType = (headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase();
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const lines = target === 'batch' && mediaType === 'application/x-ndjson';
  if (!lines && mediaType !== 'application/json') return rejectedAs('unsupported_media_type');
  if (encoding !== 'identity' && !(encoding === 'gzip' && isUsage(target))) {
    return rejectedAs('unsupported_media_type');
  }
  if (body.length > BODY_BYTES_MAX) return rejectedAs('payload_too_large');
  const sent = encoding === 'gzip' ? inflated(body, BODY_BYTES_MAX) : body;
  const whole = sent instanceof Buffer ? withoutMark(sent) : sent;
  const headerFault = target === 'single' ? headerKeyFault(headers['idempotency-key']) : undefined;
  if (headerFault !== undefined) return rejectedAs(headerFault);
  if (whole === 'too large') return rejectedAs('payload_too_large');
  if (whole === undefined) return rejectedAs('invalid_json');
  if (lines) return expectLines(whole, world);
  const read = readTagged(whole);
  if (!read) return rejectedAs('invalid_json');
  if (target === 'single') return expectSingle(read.value, headers['idempotency-key'], world);
  return target === 'batch' ? expectBatch(read.value, world) : expectCreation(read.value, headers);
}

/** A byte order mark in front of a body is skipped. */
function withoutMark(body: Buffer): Buffer {
  return body.subarray(body.toString('latin1', 0, 3) === '\u00ef\u00bb\u00bf' ? 3 : 0);
}

function rejectedAs(...codes: string[]): Expected {
  return { rejected: new Set(codes) };
}

/** A header beyond ASCII, or with a tab in it: what the client meant is unknowable. */
function headerKeyFault(key: string | undefined): string | undefined {
  return key !== undefined && /[^\x20-\x7e]/.test(key) ? 'idempotency_key_invalid' : undefined;
}

function expectSingle(value: Tagged, header: string | undefined, world: World): Expected {
  if (!isTaggedObject(value)) return rejectedAs('invalid_request');
  const member = memberOf(value, 'idempotencyKey') ?? undefined;
  const own = member === '$' && header?.trim() ? undefined : member;
  const given = header?.trim() ? `$${header.trim()}` : undefined;
  if (given !== undefined && own !== undefined && own !== given) return rejectedAs('idempotency_key_invalid');
  return { items: [expectItem(value, given ?? own, world)] };
}

function expectBatch(value: Tagged, world: World): Expected {
  const events = isTaggedObject(value) ? memberOf(value, 'events') : undefined;
  return Array.isArray(events) ? expectItems(events, world) : rejectedAs('invalid_request');
}

function expectItems(items: Tagged[], world: World): Expected {
  if (items.length > BATCH_ITEMS_MAX) return rejectedAs('batch_too_large');
  return {
    items: items.map((item) => {
      return expectItem(item, isTaggedObject(item) ? memberOf(item, 'idempotencyKey') : undefined, world);
    }),
  };
}

/** Line by line, and no further than the first that is too many. */
function expectLines(body: Buffer, world: World): Expected {
  const items: Tagged[] = [];
  for (const line of body.toString('latin1').split('\n')) {
    if (/^[ \t\r]*$/.test(line)) continue;
    const read = readTagged(Buffer.from(line, 'latin1'));
    if (!read) return rejectedAs('invalid_json');
    items.push(read.value);
    if (items.length > BATCH_ITEMS_MAX) return rejectedAs('batch_too_large');
  }
  return expectItems(items, world);
}

/** Which fields a customer or a meter needs is for the tests of those; here it is who reads JSON how. */
function expectCreation(value: Tagged, headers: Record<string, string>): Expected {
  if (hasUnsoundText(value)) return rejectedAs('invalid_request');
  const key = headers['idempotency-key'];
  const keyCodes = key === undefined ? [] : ['idempotency_key_invalid', 'idempotency_key_reused'];
  return {
    created: value,
    rejected: new Set(['invalid_request', 'value_invalid', 'already_exists', ...keyCodes]),
  };
}
