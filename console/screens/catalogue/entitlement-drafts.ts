import { Decimal } from '../../api/exact-body.ts';
import { NO_NUMBER, numberOf } from '../../design/typed-number.ts';
import { type Feature, type Given, givenText } from './shapes.ts';

/** What a reader chose for one feature. */
export interface Draft {
  kind: 'none' | 'yes' | 'no' | 'limit' | 'unlimited';
  /** As it was typed. */
  limit: string;
  soft: boolean;
}

/** As a request has it. */
export interface NewEntitlement {
  featureKey: string;
  value: boolean | null | Decimal;
  soft?: boolean;
}

/** One line of a comparison; undefined where there is nothing. */
export interface Difference {
  name: string;
  before: string | undefined;
  after: string | undefined;
}

export function draftOf({ key }: Feature, given: readonly Given[]): Draft {
  const found = given.find(({ featureKey }) => featureKey === key);
  if (!found) return { kind: 'none', limit: '', soft: false };
  const { value, soft } = found;
  if (typeof value === 'boolean') return { kind: value ? 'yes' : 'no', limit: '', soft };
  return value === null ? { kind: 'unlimited', limit: '', soft } : { kind: 'limit', limit: value, soft };
}

/** The whole new set. Features without a draft keep what they have. */
export function entitlementsOf(
  given: readonly Given[],
  drafts: ReadonlyMap<string, Draft>,
): NewEntitlement[] {
  const kept = given.filter(({ featureKey }) => !drafts.has(featureKey)).map(unchanged);
  const drafted = [...drafts].flatMap(([featureKey, draft]) => {
    const before = given.find((one) => one.featureKey === featureKey);
    return newEntitlement({ ...(before ? furtherOf(before) : {}), featureKey }, draft);
  });
  return [...kept, ...drafted];
}

/** Line by line, what one set has that the other has not, sorted by feature. */
export function differences(given: readonly Given[], next: readonly NewEntitlement[]): Difference[] {
  const before = new Map(given.map((one) => [one.featureKey, givenText(one)]));
  const after = new Map(next.map((one) => [one.featureKey, givenText(shown(one))]));
  return compared(before, after);
}

/** Undefined when it can be sent. */
export function faultOf({ kind, limit }: Draft): string | undefined {
  return kind === 'limit' && numberOf(limit) === undefined ? NO_NUMBER : undefined;
}

export function compared(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Difference[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const lines = names.map((name) => ({ name, before: before.get(name), after: after.get(name) }));
  return lines.filter((line) => line.before !== line.after);
}

function newEntitlement(place: { featureKey: string }, { kind, limit, soft }: Draft): NewEntitlement[] {
  if (kind === 'none') return [];
  if (kind === 'yes' || kind === 'no') return [{ ...place, value: kind === 'yes' }];
  return [{ ...place, value: kind === 'unlimited' ? null : new Decimal(numberOf(limit) ?? limit), soft }];
}

function unchanged(given: Given): NewEntitlement {
  const { value, soft } = given;
  if (typeof value === 'boolean') return { ...furtherOf(given), value };
  return { ...furtherOf(given), value: value === null ? null : new Decimal(value), soft };
}

/** What the form does not show stays as it is. The type is the feature's. */
function furtherOf({ type: _, value: __, soft: ___, ...further }: Given) {
  return further;
}

function shown({ value, soft = false }: NewEntitlement): Pick<Given, 'value' | 'soft'> {
  return { value: value instanceof Decimal ? value.text : value, soft };
}
