/**
 * Output that cannot be written is lost, and nothing else happens: the reader of our output may have ended
 * (EPIPE), and without a listener that ends the process with 1, whatever its exit code was to be.
 */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
