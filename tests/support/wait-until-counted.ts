import { type Api, getPatiently } from './api.ts';
import type { World } from './world.ts';

/** Until all that was acknowledged is counted. */
export function waitUntilCounted(
  { api, world }: { api: Api; world: World },
  patienceMs: number,
): Promise<void> {
  return waitUntilRead(api, `/usage/${world.customers[0]?.id}/api_calls`, patienceMs);
}

/** A strong read responds when all that was acknowledged before is counted; it is repeated after a 503. */
export async function waitUntilRead(api: Api, counter: string, patienceMs: number): Promise<void> {
  const path = `${counter}?consistency=strong`;
  const { status } = await getPatiently(api, path, patienceMs);
  if (status !== 200) throw new Error(`${path} returned ${status}`);
}
