import { createCircuitBreaker } from '../../infra/platform/circuit-breaker.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { Invalidation } from '../../schemas/stored/channels.ts';
import { type Listener, type ListeningMeter, listenerOf } from './listener.ts';

/** The meters that count events, by the type of the event. */
export type ListenersByType = ReadonlyMap<string, readonly Listener[]>;

/** Per environment, cached. A meter that begins to listen to a type of its own does so at once. */
export interface Listeners {
  /**
   * Of all types that an environment's meters listen to. A type without a listener is never known for sure:
   * they are queried, and in this turn only where each of `types` has one. Throws Transient.
   */
  find(environment: string, types: ReadonlySet<string>): ListenersByType | Promise<ListenersByType>;
  /** Those of an environment that are cached: a type that is not among them may have some all the same. */
  known(environment: string): ListenersByType | undefined;
  forget(change: Invalidation): void;
  clear(): void;
}

interface ListenersOptions {
  clock: Clock;
  /** Throws Transient. */
  load(environment: string): Promise<ListeningMeter[]>;
}

/** Listeners of all environments that are cached; beyond it all are forgotten. */
const CACHED_MAX = 20_000;

export function createListeners({ clock, load }: ListenersOptions): Listeners {
  const cached = new Map<string, { byType: ListenersByType; entries: number }>();
  const breaker = createCircuitBreaker(clock);
  let entries = 0;
  // As in the registry: what was queried while something changed is used once, and not cached.
  let generation = 0;

  function clear(): void {
    generation++;
    cached.clear();
    entries = 0;
  }

  function drop(environment: string): void {
    entries -= cached.get(environment)?.entries ?? 0;
    cached.delete(environment);
  }

  async function query(environment: string): Promise<ListenersByType> {
    const requested = generation;
    const meters = await breaker(() => load(environment));
    const byType = groupByType(meters);
    if (requested !== generation) return byType;
    drop(environment);
    const added = meters.length + 1;
    if (entries + added > CACHED_MAX) clear();
    cached.set(environment, { byType, entries: added });
    entries += added;
    return byType;
  }

  const asked = shareQueries(query);
  return {
    find(environment, types) {
      const known = cached.get(environment);
      if (known && everyOneIn(known.byType, types)) return known.byType;
      return asked(environment);
    },
    known: (environment) => cached.get(environment)?.byType,
    forget({ kind, environment }) {
      if (kind !== 'meter') return;
      generation++;
      drop(environment);
    },
    clear,
  };
}

interface UnderWay {
  found: Promise<ListenersByType>;
  next: Promise<ListenersByType> | undefined;
}

/**
 * One query at a time in each environment, however many events come that no meter listens to. Who asks while
 * one runs shares the next: it begins later, so it finds all that there was when it was asked for.
 */
function shareQueries(query: (environment: string) => Promise<ListenersByType>) {
  const underWay = new Map<string, UnderWay>();

  function begin(environment: string): Promise<ListenersByType> {
    const one: UnderWay = {
      next: undefined,
      found: query(environment).finally(() => {
        if (!one.next) underWay.delete(environment);
      }),
    };
    underWay.set(environment, one);
    return one.found;
  }

  return (environment: string) => {
    const one = underWay.get(environment);
    if (!one) return begin(environment);
    const beginNext = () => begin(environment);
    one.next ??= one.found.then(beginNext, beginNext);
    return one.next;
  };
}

function everyOneIn(known: ListenersByType, types: ReadonlySet<string>): boolean {
  for (const type of types) if (!known.has(type)) return false;
  return true;
}

function groupByType(meters: readonly ListeningMeter[]): ListenersByType {
  const byType = new Map<string, Listener[]>();
  for (const meter of meters) {
    const { eventType } = meter.eventSource;
    const listeners = byType.get(eventType) ?? [];
    listeners.push(listenerOf(meter));
    byType.set(eventType, listeners);
  }
  return byType;
}
