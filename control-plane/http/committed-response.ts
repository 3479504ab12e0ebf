/** A handler's response that is durable already, with its own status: of an operation that commits itself. */
export class CommittedResponse {
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;

  constructor({ status, body, replayed }: { status: number; body: string; replayed: boolean }) {
    this.status = status;
    this.body = body;
    this.replayed = replayed;
  }
}
