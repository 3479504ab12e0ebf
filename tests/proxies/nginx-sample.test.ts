import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { quietPort } from '../support/quiet-port.ts';
import { testFolder } from '../support/test-folder.ts';
import { expectKeepsPages, startProxy, startPublicPort } from './proxy-under-test.ts';

/** Red with `location = /metrics`: other spellings of the path are passed on. */
it('nginx with the sample serves the API, and keeps metrics and readiness to itself', async () => {
  const [port, backend] = [await quietPort(), await startPublicPort()];
  const folder = testFolder();
  const sample = readFileSync('infra/deploy/nginx.conf', 'utf8')
    .replace('127.0.0.1:8080', `127.0.0.1:${backend}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
    .replace(/^ *ssl_.*\n/gm, '');
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => {
    mkdirSync(join(folder, name));
    return `${name}_temp_path ${join(folder, name)};`;
  });
  const file = join(folder, 'nginx.conf');
  // A worker of another user could not write into the folder.
  const main = `user ${userInfo().username}; daemon off; pid ${folder}/pid; error_log stderr; events {}`;
  writeFileSync(file, `${main}\nhttp { access_log off; ${folders.join(' ')}\n${sample}}\n`);
  await expectKeepsPages(await startProxy({ command: 'nginx', args: ['-p', folder, '-c', file], port }));
});
