/** Why a command was not carried out: one sentence for the person at the terminal, with what to do. */
export class CommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
  }
}
