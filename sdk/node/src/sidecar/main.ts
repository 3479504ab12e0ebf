#!/usr/bin/env node
import { outliveReaders } from './outlive-readers.ts';
import { readSettings, SettingError } from './settings.ts';
import { startSidecar } from './sidecar.ts';

/** `metergate-sidecar`: see the README. The first SIGTERM or SIGINT sends what waits, the second ends it. */
async function main(): Promise<void> {
  outliveReaders(process.stdout, process.stderr);
  const settings = readSettings(process.env);
  const { port, close } = await startSidecar(settings, log);
  const kept = settings.spool ? `in ${settings.spool.folder}` : 'in memory, and lost with it';
  process.stdout.write(`metergate-sidecar: listening on http://127.0.0.1:${port}; events are kept ${kept}\n`);
  const end = (): void => {
    process.off('SIGTERM', end).off('SIGINT', end);
    close().then(({ sent, rejected, waiting }) => {
      log(`ended: ${sent} events sent, ${rejected} rejected, ${waiting} waiting`);
      if (waiting > 0 && !settings.spool) process.exitCode = 1;
    }, fail);
  };
  process.on('SIGTERM', end).on('SIGINT', end);
}

function log(message: string): void {
  process.stderr.write(`metergate-sidecar: ${message}\n`);
}

function fail(error: unknown): void {
  log(error instanceof SettingError ? error.message : String(error));
  process.exitCode = 1;
}

main().catch(fail);
