import { existsSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fatal } from '../../schemas/failures.ts';

/** Another account that the server runs under; undefined when it may run as ourselves. */
export type ServerAccount = { uid: number; gid: number } | undefined;

/** How a program is started: for `child_process.spawn`. */
export interface Launch {
  command: string;
  args: string[];
  account: ServerAccount;
}

/** Postgres does not run as root. An existing cluster keeps its owner, so nothing is ever chowned twice. */
export function chooseServerAccount(cluster: string): ServerAccount {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const account = accountNamed('postgres') ?? accountNamed('nobody');
  if (account) return account;
  throw new Fatal(
    'postgres_account_missing',
    'Postgres does not run as root, and there is no account `postgres` or `nobody`. Start as another user.',
  );
}

/**
 * The launch of a program under an account. Where a folder above one of `paths` is closed to the account (a
 * clone in /root, say), the program gets the one capability that opens it, by util-linux' setpriv.
 */
export function launchAs(
  account: ServerAccount,
  [program, ...args]: [string, ...string[]],
  paths: string[],
): Launch {
  const closed = account && [program, ...paths].map((path) => closedFolder(path, account)).find(Boolean);
  if (!account || closed === undefined) return { command: program, args, account };
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
  if (setpriv === undefined) {
    throw new Fatal(
      'folder_closed',
      `Postgres runs as account ${account.uid} here and may not enter ${closed}. ` +
        'Open it (chmod o+x), move DATA_DIR and the program elsewhere, or start as an ordinary user.',
    );
  }
  const identity = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  // Without this bit access(2), by which initdb looks for its own files, leaves capabilities out (its man
  // page).
  const securebit = '--securebits=+no_setuid_fixup';
  const all = [...identity, ...capability, securebit, '--', program, ...args];
  return { command: setpriv, args: all, account: undefined };
}

function accountNamed(name: string): ServerAccount {
  const line = existsSync('/etc/passwd')
    ? readFileSync('/etc/passwd', 'utf8')
        .split('\n')
        .find((entry) => entry.startsWith(`${name}:`))
    : undefined;
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** The folder nearest to the root that the account may not pass on the way to `path`. */
function closedFolder(path: string, account: { uid: number; gid: number }): string | undefined {
  const above = dirname(path);
  const closed = above === path ? undefined : closedFolder(above, account);
  if (closed !== undefined) return closed;
  const stats = statSync(above, { throwIfNoEntry: false });
  return stats && !mayEnter(stats, account) ? above : undefined;
}

function mayEnter(stats: Stats, account: { uid: number; gid: number }): boolean {
  if (stats.uid === account.uid) return (stats.mode & 0o100) !== 0;
  if (stats.gid === account.gid) return (stats.mode & 0o010) !== 0;
  return (stats.mode & 0o001) !== 0;
}
