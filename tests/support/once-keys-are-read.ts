import { KeysToRead } from '../../infra/ports/idempotency-store.ts';

/** Claims or decides as a request does: again once the keys that it needs are read. */
export async function onceKeysAreRead<Made>(act: () => Made | Promise<Made>): Promise<Made> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof KeysToRead)) throw error;
      await error.read('a test');
    }
  }
}
