/** What is being read into a memory just now. */
export interface SingleFlight<Found> {
  /**
   * Waits for the fill of this name that is under way, else begins one. `isStillTrue` says, at its end,
   * whether what was read of this id may be kept: nothing was said of it meanwhile.
   */
  join(place: FillPlace, fill: Fill<Found>): Promise<Found | undefined>;
  /** These have changed: what is read of them just now may be of before. Who asks from now on reads anew. */
  doubt(ids: readonly string[]): void;
  doubtEnvironment(environment: string): void;
  doubtAll(): void;
}

export interface FillPlace {
  name: string;
  environment: string;
}

type Fill<Found> = (isStillTrue: (id: string) => boolean) => Promise<Found | undefined>;

interface UnderWay<Found> extends FillPlace {
  found: Promise<Found | undefined>;
  /** Ids that were said to have changed since it began. Few are under way, each for milliseconds. */
  doubted: Set<string>;
  isDoubted: boolean;
}

export function createSingleFlight<Found>(): SingleFlight<Found> {
  const all = new Set<UnderWay<Found>>();
  /** Those that may still be joined. */
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
        part(one); // whom it reads it learns last
      }
    },
    doubtEnvironment: (environment) => doubtWhere((one) => one.environment === environment),
    doubtAll: () => doubtWhere(() => true),
  };
}
