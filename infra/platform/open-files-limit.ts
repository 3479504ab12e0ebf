import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';

/** A start of all in one was seen to fail with 128 and to come through with 192; connections come on top. */
export const OPEN_FILES_MIN = 512;
const RAISE = 'raise the hard limit (ulimit -Hn, LimitNOFILE= of a systemd unit, --ulimit nofile= of Docker)';

/**
 * Node raises its soft limit to the hard one. Throws Fatal `open_files_limit` (exit 2) where a start would
 * fail in the middle with EMFILE; logs where connections would be rejected before CONNECTIONS_MAX. Nothing is
 * known where there is no /proc.
 */
export function checkOpenFilesLimit(connectionsMax: number, log: Logger, limit = readOpenFilesLimit()): void {
  if (limit === undefined) return;
  if (limit < OPEN_FILES_MIN) {
    const message = `A process may open ${limit} files, and Metergate needs ${OPEN_FILES_MIN}: ${RAISE}.`;
    throw new Fatal('open_files_limit', message);
  }
  if (limit >= connectionsMax + OPEN_FILES_MIN) return;
  const message = `connections will be rejected before CONNECTIONS_MAX is reached: ${RAISE}`;
  log.warn({ openFilesMax: limit, connectionsMax }, message);
}

function readOpenFilesLimit(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
    if (soft === undefined) return undefined;
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return undefined;
  }
}
