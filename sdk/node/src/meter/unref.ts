/** Lets the process end while the timer waits. Some platforms' timers are numbers, and hold nothing. */
export function unref(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
}
