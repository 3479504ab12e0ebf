import type { ErrorCode } from '../../schemas/error-codes.ts';
import { Rejected } from '../../schemas/failures.ts';
import { otherModeOf, splitEnvironment } from '../../schemas/primitives/environment.ts';
import { findAddon } from '../store/addons.ts';
import { findKey } from '../store/api-keys.ts';
import { findCustomer } from '../store/customers.ts';
import { findFeature } from '../store/features.ts';
import { findMeter } from '../store/meters.ts';
import { findPlan } from '../store/plans.ts';
import { findSubscription } from '../store/subscriptions.ts';
import { findDelivery } from '../store/webhook-deliveries.ts';
import { findEndpoint } from '../store/webhook-endpoints.ts';
import { findEvent } from '../store/webhook-events.ts';
import type { Caller, Database } from './request-context.ts';

/** The parts of a request in which the name of an object may be. */
export interface NamedIn {
  params: object;
  query: object;
  body?: unknown;
}

/**
 * For an error about an unknown object: adds that the same workspace has it in its other mode. A test key
 * that requests a live object is more common than a request for an object that never existed. Other
 * workspaces are not searched, and status and code stay.
 */
export async function withOtherMode(
  db: Database,
  { environment, kind }: Pick<Caller, 'environment' | 'kind'>,
  error: unknown,
  input: NamedIn,
): Promise<unknown> {
  if (kind !== 'secret' || !(error instanceof Rejected)) return error;
  const { code, message, param, details } = error.rejection;
  const name = param === undefined ? undefined : textAt(input, param);
  const find = findOf(code, param, name);
  if (find === undefined || name === undefined) return error;
  const { mode } = splitEnvironment(environment);
  const { mode: other } = splitEnvironment(otherModeOf(environment));
  const found = await find(db, otherModeOf(environment), name).catch(() => undefined);
  if (found === undefined) return error;
  const hint = `${message.replace(/\.$/, '')} in ${mode} mode; one with this id exists in ${other} mode.`;
  return new Rejected(code, hint, { ...(param ? { param } : {}), details: { ...details, existsIn: other } });
}

type Find = (db: Database, environment: string, name: string) => Promise<unknown>;

const BY_CODE: Partial<Record<ErrorCode, Find>> = {
  customer_not_found: findCustomer,
  plan_not_found: findPlan,
  subscription_not_found: findSubscription,
  feature_not_found: findFeature,
  meter_not_found: findMeter,
  endpoint_not_found: findEndpoint,
};

/**
 * Objects without a code of their own. The code is also used for what is not attached, so they are found by
 * id alone.
 */
const BY_PARAM: Record<string, Find> = {
  addonId: findAddon,
  deliveryId: findDelivery,
  eventId: findEvent,
  keyId: findKey,
};

function findOf(code: ErrorCode, param = '', name = ''): Find | undefined {
  if (code !== 'not_found') return BY_CODE[code];
  return ID.test(name) ? BY_PARAM[param.split('.').at(-1) ?? ''] : undefined;
}

const ID = /^[a-z]+_[a-z2-7]{26}$/;

/** The value at `addons.0.addonId` of the body, or under this name in the path or the query. */
function textAt({ params, query, body }: NamedIn, param: string): string | undefined {
  const places: unknown[] = [params, query, body];
  const texts = places.map((place) => param.split('.').reduce<unknown>(memberOf, place));
  return texts.find((text) => typeof text === 'string');
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
