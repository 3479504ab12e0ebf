import { type Instance, startInstance } from './instance.ts';
import { ofThisFile } from './of-this-file.ts';

/** A whole Metergate that all tests of a file share. */
export function instanceOfThisFile(
  environment: Record<string, string> = { LOG_LEVEL: 'warn' },
): Promise<Instance> {
  return ofThisFile(startInstance(environment), (instance) => instance.remove());
}
