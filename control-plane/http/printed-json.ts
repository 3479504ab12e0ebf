/** A handler's response that is JSON already. */
export class PrintedJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
