import { idempotencyStoreConformance } from '../ports/conformance/idempotency-store.ts';
import { openKeysUnderTest } from './keys-under-test.ts';

const create = async () => {
  const installation = await openKeysUnderTest();
  let keys = await installation.open();
  return {
    store: () => keys,
    // Whatever is on the log, this store does not look there.
    write: async () => 1,
    async restart() {
      await keys.close();
      keys = await installation.open();
    },
    close: () => keys.close(),
  };
};

idempotencyStoreConformance('Valkey', create, 'keeps claims');
