import { Defect, Rejected } from '../../schemas/failures.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { parseExact } from '../../schemas/primitives/exact-json.ts';
import type { NewReservation } from '../../schemas/resources/reservations.ts';
import type { RequestContext } from '../http/request-context.ts';
import { readDecimal } from '../input/read-decimal.ts';
import { findFeaturesOfMeter } from '../store/features.ts';
import { findKnownMeter } from '../usage/customer-meter.ts';
import type { HoldFacts, ReadHoldFacts } from './hold-facts.ts';

/*
 * What requests of reservations send. All of these throw Rejected.
 */

/** Exact to the last digit. Undefined: there is none. Throws Rejected `value_invalid`. */
export function readAmount(bodyText: string): string | undefined {
  const text = readNumber(bodyText, 'amount');
  if (text === undefined || decimalUnits(text) > 0n) return text;
  throw new Rejected('value_invalid', '`amount` must be above 0.', { param: 'amount' });
}

/** From 0 on; undefined: there is none. Throws Rejected `value_invalid`. */
export function readValue(bodyText: string): string | undefined {
  const text = readNumber(bodyText, 'value');
  if (text === undefined || decimalUnits(text) >= 0n) return text;
  throw new Rejected('value_invalid', '`value` must not be below 0.', { param: 'value' });
}

function readNumber(bodyText: string, name: 'amount' | 'value'): string | undefined {
  const { [name]: number } = parseExact(bodyText === '' ? '{}' : bodyText) as Record<string, unknown>;
  return number === undefined ? undefined : readDecimal(number, name);
}

interface Named {
  featureKey?: string | undefined;
  meterId?: string | undefined;
}

/** The key of the feature that is named, or of the one of the customer that counts the named meter. */
export async function featureKeyOf(
  context: RequestContext,
  readHoldFacts: ReadHoldFacts,
  { customerId: customer, featureKey, meterId }: Named & Pick<NewReservation, 'customerId'>,
): Promise<string> {
  const all = await featuresOf(context, { featureKey, meterId });
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  const read = (key: string) =>
    readHoldFacts(context, { customer, featureKey: key, consistency: 'eventual' });
  return theOneHeld(await Promise.all(all.map(read))).featureKey;
}

/** The feature that is named, or those that count the named meter. */
async function featuresOf(context: RequestContext, { featureKey, meterId }: Named): Promise<string[]> {
  if (featureKey !== undefined && meterId !== undefined) throw notOne('meterId');
  if (featureKey !== undefined) return [featureKey];
  if (meterId === undefined) throw notOne('featureKey');
  const meter = await findKnownMeter(context, meterId);
  const features = await findFeaturesOfMeter(context.db, context.environment, meter.key, FEATURES_MAX + 1);
  if (features.length > FEATURES_MAX)
    throw invalid('meterId', 'is counted by many features: send `featureKey`');
  if (features.length > 0) return features.map(({ key }) => key);
  const message = `No feature counts the meter ${meter.key}, so that it has no limit.`;
  throw new Rejected('feature_not_found', message, { param: 'meterId' });
}

/** Of one meter, among which the one is sought that the customer has. */
const FEATURES_MAX = 10;

/** Of features of one meter the one that the customer has; where it has none, any: it is denied. */
function theOneHeld(all: HoldFacts[]): HoldFacts {
  const held = all.filter(({ meterKey }) => meterKey !== undefined);
  const [known = all[0]] = held;
  if (held.length > 1) throw invalid('meterId', 'is counted by several features of it: send `featureKey`');
  if (!known) throw new Defect('a reservation names a feature');
  return known;
}

/** The schema does not say it: generators of clients lose the members of an object of several forms. */
function notOne(param: 'featureKey' | 'meterId'): Rejected {
  return new Rejected('not_reservable', 'Send either `featureKey` or `meterId`.', { param });
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}
