import { spawnSync } from 'node:child_process';

const RESPONSE_MS = 10_000;
let known: boolean | undefined;

/** True where a Docker engine responds: its client alone may be there without one. */
export function hasContainerEngine(): boolean {
  known ??=
    spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: RESPONSE_MS }).status ===
    0;
  return known;
}
