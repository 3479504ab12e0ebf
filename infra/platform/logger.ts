import { destination, type Logger, pino } from 'pino';

export interface LoggerOptions {
  /** Which process: `supervisor`, `ingest`, `control`. */
  role: string;
  level: string;
  /** A file descriptor; stderr by default. */
  dest?: number;
}

/** Lines that cannot be written now wait up to this, then they are dropped. */
const UNWRITTEN_BYTES_MAX = 1024 * 1024;

/**
 * The process's logger: JSON lines on stderr. Stdout is for people: the ready line and the demo keys. A line
 * that cannot be written is lost, and nothing else: where the log lies on a full disk, work continues.
 */
export function createLogger({ role, level, dest = 2 }: LoggerOptions): Logger {
  // Synchronous: the last line before a crash is the one that is needed.
  const lines = destination({ dest, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  // mutant: log-errors-thrown
  lines.on('error', () => undefined);
  let isTrying = false;
  // Once that much waits, nothing is tried any more but what is empty, with all that waits before it.
  lines.on('drop', (line: string) => {
    if (isTrying) return;
    isTrying = true;
    lines.write('');
    lines.write(line);
    isTrying = false;
  });
  return pino(
    {
      level,
      base: { role, pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      serializers: { err: errorFields },
    },
    // Without its flushSync, which tries until the disk has room: each line is written at once anyway.
    { write: (line: string) => void lines.write(line) },
  );
}

/** Errors of drivers carry rows, statements and URLs with passwords: no further field is logged. */
function errorFields(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause !== undefined && depth < 3 ? { cause: errorFields(error.cause, depth + 1) } : {};
  return { type: error.name, ...code, message: error.message, stack: error.stack, ...cause };
}
