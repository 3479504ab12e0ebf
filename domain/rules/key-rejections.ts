import type { Rejection } from '../../schemas/error-codes.ts';

/** Why a key that was shown is not taken, in the same words by every tier. */
export const KEY_REJECTIONS = {
  unknown: {
    code: 'unauthenticated',
    message: 'This API key is unknown. Check that it is complete and belongs to this server.',
  },
  revoked: {
    code: 'key_revoked',
    message: 'This API key was revoked: use the key that replaced it, or make a new one.',
  },
  expired: {
    code: 'key_expired',
    message: 'This API key has expired: use the key that replaced it, or make a new one.',
  },
} as const satisfies Record<string, Rejection>;
