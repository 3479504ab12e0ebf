import { poll } from '../../infra/platform/poll.ts';
import { ask, type NewKey, newKey } from './request-as.ts';
import type { TenancyScenario } from './tenancy-scenario.ts';

const TIERS = { 'data plane': 'usage.submitBatch', 'control plane': 'workspace.retrieve' } as const;
export type Tier = keyof typeof TIERS;

const PATIENCE = { timeoutMs: 15_000, everyMs: 20 };

/**
 * How long keys that were just in use go on after each was ended in its own way, in milliseconds: through the
 * API, by a rotation without an overlap, and through the admin command.
 */
export async function revocationTimes(scenario: TenancyScenario): Promise<number[]> {
  const { secret } = scenario.alpha.live;
  const ends: Array<(key: NewKey) => Promise<unknown>> = [
    ({ id: keyId }) => ask(scenario, 'apiKeys.revoke', secret, { keyId }),
    ({ id: keyId }) => ask(scenario, 'apiKeys.rotate', secret, { keyId, body: { overlapSeconds: 0 } }),
    ({ id }) => scenario.admin(['key', 'revoke', '--key', id]),
  ];
  return await Promise.all(ends.map((end) => timeOf(scenario, end)));
}

async function timeOf(scenario: TenancyScenario, end: (key: NewKey) => Promise<unknown>): Promise<number> {
  const key = await newKey(scenario);
  for (const tier of ['data plane', 'control plane'] as const) {
    const code = await codeOn(scenario, tier, key.key);
    if (code !== undefined) throw new Error(`the ${tier} rejects a new key: ${code}`);
  }
  await end(key);
  const endedMs = performance.now();
  for (const tier of ['data plane', 'control plane'] as const) {
    const rejected = async () =>
      (await codeOn(scenario, tier, key.key)) === 'key_revoked' ? true : undefined;
    if (!(await poll(rejected, PATIENCE))) return Number.POSITIVE_INFINITY;
  }
  return performance.now() - endedMs;
}

/** The error code that this tier returns for the key; undefined where it accepts it. */
export async function codeOn(
  scenario: TenancyScenario,
  tier: Tier,
  key: string,
): Promise<string | undefined> {
  const body = tier === 'data plane' ? { events: [] } : undefined;
  return (await ask(scenario, TIERS[tier], key, { body })).code;
}
