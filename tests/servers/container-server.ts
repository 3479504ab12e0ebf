import { spawnSync } from 'node:child_process';
import type { StartedTestContainer } from 'testcontainers';
import { quietPort } from '../support/quiet-port.ts';
import type { TestingServer } from './testing-server.ts';

export interface ContainerServer {
  image: string;
  /** The one that clients reach, inside. Outside it is chosen once, so that it outlives its container. */
  port: number;
  url(hostPort: number): string;
  environment(hostPort: number): Record<string, string>;
  command: string[];
  /** In the container's output, once the server responds. */
  readyLine: RegExp;
}

const START_MS = 120_000;

/** The same as a server of this machine, where Docker responds. */
export async function startContainerServer(spec: ContainerServer): Promise<TestingServer> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const hostPort = await quietPort();
  let container = await runContainer(spec, hostPort);
  const handle = async () => (await getContainerRuntimeClient()).container.getById(container.getId());

  return {
    url: spec.url(hostPort),
    kill: async () => void (await (await handle()).kill()),
    pause: async () => void (await (await handle()).pause()),
    resume: async () => void (await (await handle()).unpause()),
    async restart({ wiped = false } = {}) {
      if (!wiped) return await container.restart({ timeout: 0 });
      await container.stop({ timeout: 0, remove: true });
      container = await runContainer(spec, hostPort);
    },
    stop: async () => void (await container.stop({ timeout: 0, remove: true })),
  };
}

async function runContainer(spec: ContainerServer, hostPort: number): Promise<StartedTestContainer> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = new GenericContainer(spec.image)
    .withExposedPorts({ container: spec.port, host: hostPort })
    .withEnvironment(spec.environment(hostPort))
    .withWaitStrategy(Wait.forLogMessage(spec.readyLine))
    .withStartupTimeout(START_MS);
  return await (spec.command.length > 0 ? container.withCommand(spec.command) : container).start();
}

const RESPONSE_MS = 10_000;
let known: boolean | undefined;

/** True where a Docker engine responds: its client alone may be there without one. */
export function hasContainerEngine(): boolean {
  known ??=
    spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: RESPONSE_MS }).status ===
    0;
  return known;
}
