/** One that waits until there is room for its event. */
interface Waiter {
  chars: number;
  timer: ReturnType<typeof setTimeout>;
  resolve(): void;
}

/** Callers that wait for room: the room that comes is theirs in the order of their calls. */
export class RoomQueue {
  private readonly hasRoom: (chars: number) => boolean;
  private readonly waiters = new Set<Waiter>();

  constructor(hasRoom: (chars: number) => boolean) {
    this.hasRoom = hasRoom;
  }

  /**
   * Calls back when it is this one's turn and there is room, or after `timeoutMs` whether there is or not.
   * Resolves with what that returns. Within the callback the room is still there.
   */
  async wait<T>(chars: number, timeoutMs: number, callback: () => T): Promise<T> {
    if (this.waiters.size === 0 && this.hasRoom(chars)) return callback();
    return await new Promise<T>((resolve) => {
      const waiter: Waiter = {
        chars,
        timer: setTimeout(() => this.end(waiter), timeoutMs),
        resolve: () => resolve(callback()),
      };
      this.waiters.add(waiter);
    });
  }

  /** There may be more room than before. */
  serve(): void {
    for (const waiter of [...this.waiters]) {
      if (!this.hasRoom(waiter.chars)) return;
      this.remove(waiter);
      waiter.resolve();
    }
  }

  private end(waiter: Waiter): void {
    this.remove(waiter);
    waiter.resolve();
    this.serve();
  }

  private remove(waiter: Waiter): void {
    clearTimeout(waiter.timer);
    this.waiters.delete(waiter);
  }
}
