const POLICIES: readonly unknown[] = ['none', 'interval', 'each'];

/** Throws a TypeError for a folder or a policy, and a RangeError for a bound, that cannot be one. */
export function checkSpool(options: { folder: unknown; fsync: unknown; bytesMax: number }): void {
  const { folder, fsync, bytesMax } = options;
  if (typeof folder !== 'string' || folder === '') throw new TypeError('`folder` must name a folder.');
  // Another word would flush nothing.
  if (!POLICIES.includes(fsync)) throw new TypeError('`fsync` must be none, interval or each.');
  if (Number.isSafeInteger(bytesMax) && bytesMax > 0) return;
  throw new RangeError('`bytesMax` must be a whole number above 0.');
}
