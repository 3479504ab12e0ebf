import { pino } from 'pino';

/** For code under test whose log no test reads. */
export const SILENT = pino({ level: 'silent' });
