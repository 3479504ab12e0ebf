import type { TrackingClient } from './tracking-process.ts';

export const NODE_CLIENT: TrackingClient = {
  name: 'Node.js',
  command: [process.execPath, 'dist-tests/tests/clients/track-until-killed.js'],
};
