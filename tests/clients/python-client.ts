import { pythonSources } from '../mutants/python-mutants.ts';
import type { TrackingClient } from './tracking-process.ts';

/** `env` becomes the program that it starts: a kill meets it. */
export const PYTHON_CLIENT: TrackingClient = {
  name: 'Python',
  get command() {
    return [
      ...['env', `PYTHONPATH=${pythonSources()}`, 'PYTHONDONTWRITEBYTECODE=1'],
      ...['python3', 'sdk/python/tests/programs/track_until_killed.py'],
    ];
  },
};
