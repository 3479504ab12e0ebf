import { Fatal } from '../schemas/failures.ts';

/** Exit codes that scripts rely on. Source: the contract, §10. */
export const EXIT = { stopped: 0, failed: 1, badConfiguration: 2, dataDirInUse: 3 } as const;

/** Starting again cannot help: the supervisor passes these on. */
export function isFinal(exitCode: number | null): exitCode is 2 | 3 {
  return exitCode === EXIT.badConfiguration || exitCode === EXIT.dataDirInUse;
}

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof Fatal)) return EXIT.failed;
  if (error.code === 'bad_configuration' || error.code === 'listen_failed') return EXIT.badConfiguration;
  return error.code === 'data_dir_in_use' ? EXIT.dataDirInUse : EXIT.failed;
}
