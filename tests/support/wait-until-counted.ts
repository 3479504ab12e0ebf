import { type Api, getPatiently } from './api.ts';
import type { World } from './world.ts';

/** A strong read answers when all that was acknowledged before it is counted; 503 is asked again. */
export async function waitUntilCounted(
  { api, world }: { api: Api; world: World },
  patienceMs: number,
): Promise<void> {
  const path = `/usage/${world.customers[0]?.id}/api_calls?consistency=strong`;
  const { status } = await getPatiently(api, path, patienceMs);
  if (status !== 200) throw new Error(`${path} answered ${status}`);
}
