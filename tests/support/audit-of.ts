import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PROGRAM = join('dist', 'app', 'admin', 'audit-command.js');
const TIMEOUT_MS = 120_000;
const SHOWN = 5;

export interface AuditWish {
  /** With fewer hours compared, nothing is shown: that counts as a difference. */
  hoursMin?: number;
}

/**
 * How rollup, stored events and log of a running Metergate differ, as `npm run audit` says it: empty when
 * they do not. Needs the build.
 */
export async function auditOf(dataDir: string, wish?: AuditWish): Promise<string[]> {
  const env = { ...process.env, DATA_DIR: dataDir };
  const limits = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' as const };
  return await promisify(execFile)(process.execPath, [PROGRAM], { env, ...limits }).then(
    ({ stdout }) => auditFaults(stdout, wish),
    ({ message, stdout, stderr }: Error & { stdout?: string; stderr?: string }) => {
      return auditFaults(`${stdout ?? ''}${stderr || message}`, { hoursMin: Number.POSITIVE_INFINITY });
    },
  );
}

/** Of what the command printed. */
export function auditFaults(output: string, { hoursMin = 1 }: AuditWish = {}): string[] {
  const hours = Number(/^([1-9]\d*) hours compared, 0 differences\.$/m.exec(output)?.[1] ?? 0);
  if (hours >= hoursMin) return [];
  const lines = output.trim().split('\n');
  return [`the audit says: ${lines.at(-1)}`, ...lines.slice(0, Math.min(SHOWN, lines.length - 1))];
}
