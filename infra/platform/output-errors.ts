/**
 * What cannot be said is lost, and nothing else: whoever read our output may have gone (EPIPE), and without a
 * listener that ends the process with 1, whatever it was to end with.
 */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
