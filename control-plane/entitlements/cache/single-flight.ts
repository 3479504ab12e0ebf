/** Reads in progress that fill a cache. */
export interface SingleFlight<Found> {
  /**
   * Joins the running fill of this name, or starts one. At the end of the fill `isStillValid` returns whether
   * the data of this id may be cached: it may unless the id was invalidated meanwhile.
   */
  join(place: FillPlace, fill: Fill<Found>): Promise<Found | undefined>;
  /** Invalidates ids: running reads of them may be stale. Requests from now on start a new read. */
  doubt(ids: readonly string[]): void;
  doubtEnvironment(environment: string): void;
  doubtAll(): void;
}

export interface FillPlace {
  name: string;
  environment: string;
}

type Fill<Found> = (isStillValid: (id: string) => boolean) => Promise<Found | undefined>;

interface UnderWay<Found> extends FillPlace {
  found: Promise<Found | undefined>;
  /** Ids that were invalidated since it began. Few fills run at a time, each for milliseconds. */
  doubted: Set<string>;
  isDoubted: boolean;
}

export function createSingleFlight<Found>(): SingleFlight<Found> {
  const all = new Set<UnderWay<Found>>();
  /** The fills that may still be joined. */
  const byName = new Map<string, UnderWay<Found>>();

  function begin(place: FillPlace, fill: Fill<Found>): UnderWay<Found> {
    const one: UnderWay<Found> = {
      ...place,
      doubted: new Set(),
      isDoubted: false,
      found: fill((id) => !one.isDoubted && !one.doubted.has(id)).finally(() => {
        all.delete(one);
        part(one);
      }),
    };
    all.add(one);
    byName.set(one.name, one);
    return one;
  }

  function part(one: UnderWay<Found>): void {
    if (byName.get(one.name) === one) byName.delete(one.name);
  }

  function doubtWhere(isMeant: (one: UnderWay<Found>) => boolean): void {
    for (const one of all) {
      if (!isMeant(one)) continue;
      one.isDoubted = true;
      part(one);
    }
  }

  return {
    join: (place, fill) => (byName.get(place.name) ?? begin(place, fill)).found,
    doubt(ids) {
      for (const one of all) {
        for (const id of ids) one.doubted.add(id);
        part(one); // a fill learns the id that it reads only at its end
      }
    },
    doubtEnvironment: (environment) => doubtWhere((one) => one.environment === environment),
    doubtAll: () => doubtWhere(() => true),
  };
}
