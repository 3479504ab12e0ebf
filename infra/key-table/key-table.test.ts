import { idempotencyStoreConformance } from '../ports/conformance/idempotency-store.ts';
import { testKeys } from './keys-under-test.ts';

idempotencyStoreConformance('the key table', testKeys);
