import { identityOf, type ProcessIdentity, parentOf, programOf } from '../infra/platform/process-identity.ts';

const SHELL = /^(sh|dash|ash|bash|busybox)$/;

/**
 * The npm process that started this one, if any. It is between the operator and this process, with a shell in
 * between on most machines. When it is killed, no signals are passed on any more, and the operator who killed
 * it assumes that Metergate has stopped.
 */
export function npmProcess(): ProcessIdentity | undefined {
  if (process.env.npm_lifecycle_event !== 'start') return undefined;
  const parent = process.ppid;
  const npm = SHELL.test(programOf(parent)) ? parentOf(parent) : parent;
  return identityOf(npm ?? parent);
}
