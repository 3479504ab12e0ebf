import {
  isSameTerm,
  type MeteredTerm,
  meteredPeriod,
  termAfter,
  UNMETERED,
} from '../../../domain/rules/metered-terms.ts';
import {
  type MeterOfCustomer,
  readTermsOfCustomers,
  replaceMeteredTerms,
  type TermOfCustomer,
} from '../../../domain/store/metered-terms.ts';
import { markMeters } from '../../../domain/store/settlement-marks.ts';
import type { Database } from '../../http/request-context.ts';
import { type FoundFacts, readMeteredFacts, type TimeFacts } from '../../store/metered-facts.ts';

/** A customer that a change affects, and from when on. */
export interface ChangedCustomer {
  customerId: string;
  sinceMs: number;
}

/**
 * Records the metered terms of customers from the time of a change on, with the changes that time alone will
 * bring, in the change's transaction; and marks what has to be settled again. The customers' rows in
 * `entitlements_told` are locked: two changes of one customer are recorded one after the other.
 *
 * Recorded terms stay: the tables describe the time since the last recorded change, and nothing before it. A
 * change that is reported late takes effect from that last change on.
 */
export async function recordMeteredTerms(
  db: Database,
  { environment, nowMs }: { environment: string; nowMs: number },
  customers: readonly ChangedCustomer[],
): Promise<void> {
  const from = customers.map(({ customerId, sinceMs }) => ({ customerId, from: new Date(sinceMs) }));
  const recorded = await readTermsOfCustomers(db, environment, from);
  const recordedOf = byCustomer(recorded);
  const requested = customers.map(({ customerId, sinceMs }) => {
    const lastMs = lastRecordedMs(recordedOf.get(customerId) ?? [], nowMs);
    // mutant: history-by-what-holds-now
    return { customerId, since: new Date(Math.max(sinceMs, lastMs ?? sinceMs)) };
  });
  const times = await readMeteredFacts(db, environment, { requested, now: new Date(nowMs) });
  if (recorded.length === 0 && times.every(({ facts }) => facts.size === 0)) return;
  const changes = [...byCustomer(times)].flatMap(([customerId, ahead]) => {
    const own = recordedOf.get(customerId) ?? [];
    return metersOf(own, ahead).flatMap((meterKey) => {
      const before = own.filter((term) => term.meterKey === meterKey);
      return changeOf({ environment, customerId, meterKey }, { before, times: ahead }) ?? [];
    });
  });
  if (changes.length === 0) return;
  // Most changes replace nothing: the recorded terms apply from earlier times on.
  const replacing = changes.filter(({ isReplacing }) => isReplacing);
  const replaced = replacing.map(({ place, fromMs }) => ({ ...place, from: new Date(fromMs) }));
  const terms = changes.flatMap(({ place, terms: own }) => own.map((term) => ({ ...term, ...place })));
  await replaceMeteredTerms(db, replaced, terms);
  const marks = changes.filter(({ settleFromMs }) => settleFromMs <= nowMs);
  if (marks.length === 0) return;
  await markMeters(
    db,
    marks.map(({ place, settleFromMs }) => ({ ...place, from: new Date(settleFromMs) })),
  );
}

/** The start of the latest term of any meter that has begun by now. */
function lastRecordedMs(terms: readonly TermOfCustomer[], nowMs: number): number | undefined {
  return terms.reduce<number | undefined>(
    (lastMs, { startsMs }) => (startsMs > nowMs ? lastMs : Math.max(lastMs ?? startsMs, startsMs)),
    undefined,
  );
}

function byCustomer<One extends { customerId: string }>(all: readonly One[]): Map<string, One[]> {
  const lists = new Map<string, One[]>();
  for (const one of all) {
    const list = lists.get(one.customerId);
    if (list) list.push(one);
    else lists.set(one.customerId, [one]);
  }
  return lists;
}

/** The metered features of one customer: those that it has, and those that it had. */
function metersOf(recorded: readonly TermOfCustomer[], times: readonly TimeFacts[]): string[] {
  const metered = times.flatMap(({ facts }) => [...facts.keys()]);
  return [...new Set([...recorded.map(({ meterKey }) => meterKey), ...metered])];
}

interface Changing {
  before: readonly TermOfCustomer[];
  /** The terms of the change, and those that time will bring after it. */
  times: readonly TimeFacts[];
}

interface TermsChange {
  place: MeterOfCustomer;
  /** Replaces recorded terms from that time on, if there are any. */
  fromMs: number;
  isReplacing: boolean;
  terms: MeteredTerm[];
  /** Usage from then on may have another cost. */
  settleFromMs: number;
}

/** Undefined if all recorded terms stay. */
function changeOf(place: MeterOfCustomer, { before, times }: Changing): TermsChange | undefined {
  const factsAt = ({ facts }: TimeFacts) => facts.get(place.meterKey) ?? UNMETERED;
  const [first] = times;
  if (!first) return undefined;
  const sinceMs = first.at.getTime();
  const earlier = before.filter(({ startsMs }) => startsMs < sinceMs);
  const fromMs = backdated(earlier.at(-1), first.facts.get(place.meterKey), sinceMs);
  const kept: MeteredTerm[] = earlier.filter(({ startsMs }) => startsMs < fromMs);
  const terms: MeteredTerm[] = [];
  for (const time of times) {
    const startsMs = time === first ? fromMs : time.at.getTime();
    const term = termAfter([...kept, ...terms], factsAt(time), startsMs);
    if (term) terms.push(term);
  }
  const old = before.filter(({ startsMs }) => startsMs >= fromMs);
  const at = terms.findIndex((term, place) => !old[place] || !isSameTerm(term, old[place]));
  if (at < 0 && terms.length === old.length) return undefined;
  const differs = [at < 0 ? undefined : terms[at], old[at < 0 ? terms.length : at]];
  const changedMs = Math.min(...differs.flatMap((term) => (term ? [term.startsMs] : [])));
  const periods = [before, [...kept, ...terms]].map((all) => meteredPeriod(all, changedMs).fromMs);
  const isSamePeriod = periods[0] === periods[1];
  const settleFromMs = isSamePeriod ? changedMs : Math.min(...periods);
  return { place, fromMs, isReplacing: old.length > 0, terms, settleFromMs };
}

/**
 * A subscription created with a period that has already begun, for example an imported one, applies from the
 * start of that period, if no other terms applied until now.
 */
function backdated(last: MeteredTerm | undefined, first: FoundFacts | undefined, sinceMs: number): number {
  const { source } = first ?? {};
  const isNew = source !== undefined && source.createdAtMs >= sinceMs;
  const isFree = !last || (!last.source && last.limits.length === 0 && !last.isUnlimited);
  if (!isNew || !isFree) return sinceMs;
  return Math.min(sinceMs, Math.max(source.period.fromMs, last?.startsMs ?? source.period.fromMs));
}
