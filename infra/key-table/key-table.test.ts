import { idempotencyStoreConformance } from '../ports/conformance/idempotency-store.ts';
import { testKeys } from './test-keys.ts';

idempotencyStoreConformance('the key table', testKeys);
