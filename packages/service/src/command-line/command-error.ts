/** Failure of a command. The message is one sentence that also tells the user what to do. */
export class CommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
  }
}
