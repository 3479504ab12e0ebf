import type { Readiness } from '../../schemas/resources/service.ts';
import { PRODUCT_VERSION } from './product-version.ts';

/** The blocker, in words; undefined when there is none. Throws when the check fails. */
export type Check = () => Promise<string | undefined>;

/** The data plane waits three seconds for the control plane. */
const CHECK_TIMEOUT_MS = 2_000;

/** Checks everything that a process needs to work, all at once, each within two seconds. */
export async function runHealthChecks(checks: Record<string, Check>): Promise<Readiness> {
  const names = Object.keys(checks);
  const results = await Promise.all(Object.values(checks).map(run));
  const isReady = results.every(({ ok }) => ok);
  return {
    status: isReady ? 'ready' : 'not_ready',
    version: PRODUCT_VERSION,
    checks: Object.fromEntries(names.map((name, at) => [name, results[at] ?? PENDING])),
  };
}

type CheckResult = NonNullable<Readiness['checks']>[string];

const PENDING: CheckResult = { ok: false, detail: 'cannot be checked' };

async function run(check: Check): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('does not respond'), CHECK_TIMEOUT_MS);
  });
  try {
    const blocker = await Promise.race([check(), late]);
    return { ok: blocker === undefined, detail: blocker ?? 'ok' };
  } catch {
    return PENDING;
  } finally {
    clearTimeout(timer);
  }
}
