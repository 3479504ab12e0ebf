import { Fatal } from '../../schemas/failures.ts';

/** Exit codes that scripts rely on: docs/operate/troubleshooting.md explains them. */
export const EXIT = { stopped: 0, failed: 1, badConfiguration: 2, dataDirInUse: 3, dataRejected: 4 } as const;

const BAD_CONFIGURATION = new Set([
  ...['bad_configuration', 'listen_failed', 'data_dir_closed', 'open_files_limit', 'postgres_path_unusable'],
]);

/** What is stored cannot be used as it is, and nothing of it was changed: an operator has to put it right. */
const DATA_REJECTED = new Set([
  ...['database_newer', 'warehouse_newer', 'log_version_newer', 'record_file_newer', 'frame_version_unknown'],
  ...['frame_damaged', 'frame_of_other_log', 'log_identity_damaged', 'log_trimmed', 'range_changed'],
  ...[
    'record_file_damaged',
    'record_file_truncated',
    'record_file_foreign',
    'log_behind_keys',
    'log_missing',
  ],
  ...['warehouse_missing', 'warehouse_older', 'warehouse_foreign', 'warehouse_stamp_damaged'],
  ...[
    'database_older',
    'keys_missing',
    'database_missing',
    'identity_key_mismatch',
    'server_secret_invalid',
    'server_secret_mismatch',
    'server_secret_missing',
  ],
]);

/** Starting again cannot help: the supervisor passes these on. */
export function isFinal(exitCode: number | null): exitCode is 2 | 3 | 4 {
  return (
    exitCode === EXIT.badConfiguration || exitCode === EXIT.dataDirInUse || exitCode === EXIT.dataRejected
  );
}

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof Fatal)) return EXIT.failed;
  if (BAD_CONFIGURATION.has(error.code)) return EXIT.badConfiguration;
  if (error.code === 'data_dir_in_use') return EXIT.dataDirInUse;
  // mutant: rejection-started-again
  return DATA_REJECTED.has(error.code) ? EXIT.dataRejected : EXIT.failed;
}
