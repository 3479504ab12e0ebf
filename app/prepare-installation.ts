import type { Pool } from 'pg';
import {
  checkServerSecret,
  type DerivedSecrets,
  deriveSecrets,
  ensureIdentityKey,
  readServerSecret,
} from '../domain/secrets.ts';
import type { DataDir } from '../infra/platform/data-dir.ts';
import { publicUrl } from '../infra/platform/public-url.ts';
import type { Config, SeedDemo } from './config/config.ts';
import { demoGreeting, ensureDemoWorkspace } from './demo/demo-workspace.ts';

export interface Installed {
  config: Config;
  paths: Pick<DataDir, 'root' | 'demoKeys'>;
  pool: Pool;
}

/**
 * What the first start makes and every later one finds. Ingest waits for the identity key. Any number of
 * processes may do it at once, but for the demo workspace.
 */
export async function prepareInstallation(
  { config, paths, pool }: Installed,
  { seedDemo }: { seedDemo: SeedDemo },
): Promise<DerivedSecrets> {
  const secrets = await openSecrets({ config, paths, pool });
  await ensureIdentityKey(pool);
  if (seedDemo !== 'false') {
    const demo = { pool, pepper: secrets.keyPepper, file: paths.demoKeys, withData: seedDemo === 'true' };
    const keys = await ensureDemoWorkspace(demo);
    // Plain stdout, never the logger: what is logged is kept and shipped.
    if (keys) process.stdout.write(demoGreeting(keys, publicUrl(config), paths.demoKeys));
  }
  return secrets;
}

/** The secrets of this installation, which the database has to be of. */
export async function openSecrets({ config, paths, pool }: Installed): Promise<DerivedSecrets> {
  const secret = readServerSecret({ given: config.serverSecret, dataDir: paths.root });
  // mutant: secret-unchecked
  await checkServerSecret(pool, secret, paths.root);
  return deriveSecrets(secret);
}
