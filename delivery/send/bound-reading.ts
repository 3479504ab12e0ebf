import type { Socket } from 'node:net';
import { AttemptFailed } from './attempt-failed.ts';

/**
 * Ends a connection on which more comes back for one request than an answer may have: also of what no
 * handler of an answer is told, like the extensions of chunks. A request begins when something is written.
 */
export function boundReading(socket: Socket, bytesMax: number): void {
  let writtenBytes = socket.bytesWritten;
  let readBytes = socket.bytesRead;
  let beforeResponse = readBytes;
  socket.on('readable', () => {
    if (socket.bytesWritten !== writtenBytes) beforeResponse = readBytes;
    writtenBytes = socket.bytesWritten;
    readBytes = socket.bytesRead;
    if (readBytes - beforeResponse > bytesMax) socket.destroy(new AttemptFailed('response_too_large'));
  });
}
