import { identityOf, isLiving, type ProcessIdentity, signal } from '../../infra/platform/process-identity.ts';
import { startEmbeddedPostgres } from '../../infra/postgres/embedded.ts';
import { seenInTime } from '../support/in-time.ts';
import { childrenOf } from '../support/processes.ts';
import { SILENT } from '../support/silent-log.ts';
import type { StoreProcess } from './store-process.ts';

export interface PostgresProcess extends StoreProcess {
  /** What an installation reaches it by, through a proxy on this port. */
  urlThrough(port: number): string;
  stop(): Promise<void>;
}

const GONE = { timeoutMs: 10_000 };

/** A Postgres server of our own, started from the binaries of the embedded one, as an operator's would be. */
export async function startPostgresProcess(directory: string): Promise<PostgresProcess> {
  const start = () => startEmbeddedPostgres({ directory, log: SILENT });
  let server = await start();
  return {
    address: () => ({ host: '127.0.0.1', port: Number(new URL(server.url).port) }),
    urlThrough(port) {
      const url = new URL(server.url);
      url.port = String(port);
      return url.href;
    },
    async kill() {
      const family = signalFamily(server.pid, 'SIGKILL');
      await seenInTime(() => !family.some(isLiving) || undefined, GONE, 'the end of Postgres by SIGKILL');
    },
    async start() {
      server = await start();
    },
    freeze: () => void signalFamily(server.pid, 'SIGSTOP'),
    thaw: () => void signalFamily(server.pid, 'SIGCONT'),
    stop: () => server.stop(),
  };
}

/** Signals a process and its children, and gives them. The parent is stopped first: it makes no more. */
function signalFamily(pid: number, name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): ProcessIdentity[] {
  if (name !== 'SIGCONT') signal(pid, 'SIGSTOP');
  const family = [pid, ...childrenOf(pid)].map(identityOf);
  for (const member of family) signal(member.pid, name);
  return family;
}
