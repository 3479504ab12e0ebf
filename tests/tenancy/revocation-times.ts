import { poll } from '../../infra/platform/poll.ts';
import { ask, type NewKey, newKey } from './ask-as.ts';
import type { TenancyScene } from './tenancy-scene.ts';

const TIERS = { 'data plane': 'usage.submitBatch', 'control plane': 'workspace.retrieve' } as const;
export type Tier = keyof typeof TIERS;

const PATIENCE = { timeoutMs: 15_000, everyMs: 20 };

/**
 * How long keys that were just in use go on after each was ended in its own way, in milliseconds: through the
 * API, by a rotation without an overlap, and through the admin command.
 */
export async function revocationTimes(scene: TenancyScene): Promise<number[]> {
  const { secret } = scene.alpha.live;
  const ends: Array<(key: NewKey) => Promise<unknown>> = [
    ({ id: keyId }) => ask(scene, 'apiKeys.revoke', secret, { keyId }),
    ({ id: keyId }) => ask(scene, 'apiKeys.rotate', secret, { keyId, body: { overlapSeconds: 0 } }),
    ({ id }) => scene.admin(['key', 'revoke', '--key', id]),
  ];
  return await Promise.all(ends.map((end) => timeOf(scene, end)));
}

async function timeOf(scene: TenancyScene, end: (key: NewKey) => Promise<unknown>): Promise<number> {
  const key = await newKey(scene);
  for (const tier of ['data plane', 'control plane'] as const) {
    const code = await codeOn(scene, tier, key.key);
    if (code !== undefined) throw new Error(`the ${tier} refuses a new key: ${code}`);
  }
  await end(key);
  const endedMs = performance.now();
  for (const tier of ['data plane', 'control plane'] as const) {
    const refused = async () => ((await codeOn(scene, tier, key.key)) === 'key_revoked' ? true : undefined);
    if (!(await poll(refused, PATIENCE))) return Number.POSITIVE_INFINITY;
  }
  return performance.now() - endedMs;
}

/** What this tier tells the key; undefined where it takes it. */
export async function codeOn(scene: TenancyScene, tier: Tier, key: string): Promise<string | undefined> {
  const body = tier === 'data plane' ? { events: [] } : undefined;
  return (await ask(scene, TIERS[tier], key, { body })).code;
}
