import { destination, type Logger, pino } from 'pino';

export interface LoggerOptions {
  /** Which process: `supervisor`, `ingest`, `control`. */
  role: string;
  level: string;
}

/** The process's logger: JSON lines on stderr. Stdout is for people: the ready line and the demo keys. */
export function createLogger({ role, level }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { role, pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      serializers: { err: errorFields },
    },
    // Synchronous: the last line before a crash is the one that is needed.
    destination({ dest: 2, sync: true }),
  );
}

/** Errors of drivers carry rows, statements and URLs with passwords: no further field is logged. */
function errorFields(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause !== undefined && depth < 3 ? { cause: errorFields(error.cause, depth + 1) } : {};
  return { type: error.name, ...code, message: error.message, stack: error.stack, ...cause };
}
