import { ProtocolError } from '@waxwing/protocol';
import type { ActorKind } from '@waxwing/service/http';

/** Who has the relay do something on its own machine. */
export interface Operator {
  /** As they are called there; for the audit log. */
  readonly name: string;
}

/** The request header that names the operator, percent-encoded. */
export const operatorHeader = 'waxwing-operator';

const maximumNameCharacters = 100;

/**
 * Whoever may open the relay's Unix socket, which its mode and its folder decide. The name is what they say of
 * themselves: it gives no right.
 */
export const operator: ActorKind<unknown, Operator> = {
  name: 'operator',
  description:
    'The name of who asks, percent-encoded, for the audit log. What may be asked is decided by who may open the socket.',
  header: operatorHeader,
  codes: ['UNAUTHORIZED'],
  async authenticate(_context, head) {
    const name = decodeName(head.header(operatorHeader) ?? '');
    if (name === undefined) {
      const message = `Name who asks in the header ${operatorHeader}, percent-encoded, with at most ${maximumNameCharacters} characters`;
      throw new ProtocolError('UNAUTHORIZED', { message });
    }
    // The name of an account may be an e-mail address: it is for the audit log alone.
    head.setActor('operator');
    return { name };
  },
};

function decodeName(text: string): string | undefined {
  try {
    const name = decodeURIComponent(text);
    return name !== '' && name.length <= maximumNameCharacters ? name : undefined;
  } catch {
    // Percent signs that encode nothing: the refusal says what is expected.
    return undefined;
  }
}
