interface Place {
  leave(): void;
}

/**
 * Requests in flight at the control plane. Those without a valid secret key, which every browser can send,
 * have only their parts, so that a flood of them leaves the others their places. Reads, of which pages send
 * many, leave theirs to the beacons of those pages and to the processors' webhooks.
 */
interface Places {
  taken(): number;
  areAllTaken(): boolean;
  /** `isStrangers`: without a valid secret key. Undefined: no such request may take a place now. */
  take(request: { isStrangers: boolean; hasBody: boolean }): Place | undefined;
}

/** Of all places: the most that either kind of request without a valid secret key takes. */
const STRANGERS_PART = 1 / 8;

export function createPlaces(max: number): Places {
  const all = createPart(max);
  const strangers = {
    withBody: createPart(max * STRANGERS_PART),
    withoutBody: createPart(max * STRANGERS_PART),
  };

  function partsOf({ isStrangers, hasBody }: { isStrangers: boolean; hasBody: boolean }) {
    // mutant: strangers-take-all-places
    if (isStrangers) return [all, hasBody ? strangers.withBody : strangers.withoutBody];
    return [all];
  }

  return {
    taken: all.taken,
    areAllTaken: all.isFull,
    take(request) {
      const parts = partsOf(request);
      if (parts.some(({ isFull }) => isFull())) return undefined;
      for (const { enter } of parts) enter();
      return {
        leave() {
          for (const { leave } of parts) leave();
        },
      };
    },
  };
}

function createPart(most: number) {
  const max = Math.max(1, Math.floor(most));
  let taken = 0;
  return {
    taken: () => taken,
    isFull: () => taken >= max,
    enter() {
      taken += 1;
    },
    leave() {
      taken -= 1;
    },
  };
}
