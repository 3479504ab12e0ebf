/** Of kafkajs' inner connection. */
export interface InnerConnection {
  connect(): Promise<unknown>;
  isConnected(): boolean;
  /** What it has of an answer that has not come whole yet. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
}

export interface InnerPoolBuilder {
  build(...where: unknown[]): Promise<{ pool: InnerConnection[] }>;
}

const LENGTH_BYTES = 4;

/**
 * Mends how kafkajs opens a connection again. It keeps the beginning of an answer that was cut off, and takes
 * what comes next for the rest of it: from then on it understands nothing that the broker says, and every
 * request times out until the process is started again. And of two who need the connection at once each opens
 * one, of which the other is heard as well.
 */
export function mendConnections(builder: InnerPoolBuilder): void {
  const build = builder.build;
  builder.build = async (...where) => {
    const built = await build(...where);
    for (const connection of built.pool) mend(connection);
    return built;
  };
}

function mend(connection: InnerConnection): void {
  const connect = connection.connect.bind(connection);
  let connecting: Promise<unknown> | undefined;
  connection.connect = () => {
    if (connection.isConnected()) return Promise.resolve(true);
    if (connecting) return connecting;
    Object.assign(connection, { chunks: [], bytesBuffered: 0, bytesNeeded: LENGTH_BYTES });
    connecting = connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  };
}
