import { identityOf, type ProcessIdentity, parentOf, programOf } from '../infra/platform/process-identity.ts';

const SHELL = /^(sh|dash|ash|bash|busybox)$/;

/**
 * The npm that runs us, where one does. It stands between the operator and us, with a shell in between on
 * most machines: when it is killed nobody passes signals on any more, and whoever killed it believes that
 * we are gone.
 */
export function npmProcess(): ProcessIdentity | undefined {
  if (process.env.npm_lifecycle_event !== 'start') return undefined;
  const parent = process.ppid;
  const npm = SHELL.test(programOf(parent)) ? parentOf(parent) : parent;
  return identityOf(npm ?? parent);
}
