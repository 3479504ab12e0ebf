import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { quietPort } from '../support/quiet-port.ts';
import { testFolder } from '../support/test-folder.ts';
import { expectKeepsPages, startProxy, startPublicPort } from './proxy-under-test.ts';

/** Red with a `respond` next to `reverse_proxy`: `respond` runs first, and everything is 404. */
it('Caddy with the sample serves the API, and keeps metrics and readiness to itself', async () => {
  const [port, backend] = [await quietPort(), await startPublicPort()];
  const folder = testFolder();
  const sample = readFileSync('infra/deploy/Caddyfile', 'utf8')
    .replace('127.0.0.1:8080', `127.0.0.1:${backend}`)
    .replace('billing.example.com', `http://127.0.0.1:${port}`);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, `{\n  admin off\n}\n${sample}`);
  const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const args = ['run', '--adapter', 'caddyfile', '--config', file];
  await expectKeepsPages(await startProxy({ command: 'caddy', args, env, port }));
});
