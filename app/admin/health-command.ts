/** In a container: exit 0 when the role that runs here responds with 200, else 1. */
import { request } from 'undici';
import { readEnv, toConfig } from '../config/config.ts';

const TIMEOUT_MS = 3_500;
const [page = '/healthz'] = process.argv.slice(2);

process.exitCode = await fetchPage(page).catch(() => 1);

async function fetchPage(path: string): Promise<number> {
  const { port } = toConfig(readEnv());
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { signal });
  await body.dump();
  return statusCode === 200 ? 0 : 1;
}
