import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { OpenFile } from './segment-appender.ts';

/** How a log is written: on a file system that allows to pass the page cache, and on one that does not. */
export type Form = (typeof FORMS)[number];
export const FORMS = ['past the page cache', 'through the page cache'] as const;

export function openFileIn(form: Form): OpenFile {
  return async (path, flags, mode) => {
    if (form === 'through the page cache' && (flags & constants.O_DIRECT) !== 0) {
      throw Object.assign(new Error('the file system does not allow it'), { code: 'EINVAL' });
    }
    return await open(path, flags, mode);
  };
}
