import { type Api, getPatiently } from './api.ts';
import type { World } from './world.ts';

/** A strong read responds when all that was acknowledged before is counted; it is repeated after a 503. */
export async function waitUntilCounted(
  { api, world }: { api: Api; world: World },
  patienceMs: number,
): Promise<void> {
  const path = `/usage/${world.customers[0]?.id}/api_calls?consistency=strong`;
  const { status } = await getPatiently(api, path, patienceMs);
  if (status !== 200) throw new Error(`${path} returned ${status}`);
}
