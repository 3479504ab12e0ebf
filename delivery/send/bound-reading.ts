import type { Socket } from 'node:net';
import { AttemptFailed } from './attempt-failed.ts';

/**
 * Ends a connection on which more bytes come back for one request than a response may have. This includes
 * bytes that no response handler sees, such as chunk extensions. A request begins with a write.
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
