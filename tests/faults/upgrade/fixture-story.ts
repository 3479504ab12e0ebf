import type { KeptEvent } from '../../support/ledger.ts';
import type { World } from '../../support/world.ts';

/** What is known of a kept data folder: who wrote it, when, and everything that was acknowledged of it. */
export interface FixtureStory {
  commit: string;
  seed: number;
  /** The events occurred in the forty days before, or a minute after. */
  writtenAtMs: number;
  modes: Record<Mode, FixtureMode>;
}

export type Mode = 'live' | 'test';

export interface FixtureMode {
  world: World;
  events: KeptEvent[];
}

const UNITS = 'units:';

export function storyText(story: FixtureStory): string {
  return JSON.stringify(story, (_, value) => (typeof value === 'bigint' ? `${UNITS}${value}` : value));
}

/** What the release that wrote the fixture called these times. */
const RENAMED = { askedAtMs: 'requestedAtMs', answeredAtMs: 'respondedAtMs' } as const;

export function parseStory(text: string): FixtureStory {
  return JSON.parse(text, (_, value) => {
    if (typeof value === 'string' && value.startsWith(UNITS)) return BigInt(value.slice(UNITS.length));
    for (const [was, is] of Object.entries(RENAMED)) {
      if (typeof value === 'object' && value !== null && was in value) value[is] = value[was];
    }
    return value;
  }) as FixtureStory;
}
