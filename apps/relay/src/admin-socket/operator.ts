import { ProtocolError } from '@waxwing/protocol';
import type { ActorKind } from '@waxwing/service/http';

/** The person who runs an admin command on the relay's machine. */
export interface Operator {
  /** Account name on that machine, for the audit log. */
  readonly name: string;
}

/** The request header that names the operator, percent-encoded. */
export const operatorHeader = 'waxwing-operator';

const maximumNameCharacters = 100;

/**
 * Actor kind of the admin socket. Access is controlled by the modes of the socket and its folder. The name is
 * self-reported and grants no rights.
 */
export const operator: ActorKind<unknown, Operator> = {
  name: 'operator',
  description:
    'The name of the operator, percent-encoded, for the audit log. A user with access to the socket may send every request.',
  header: operatorHeader,
  codes: ['UNAUTHORIZED'],
  async authenticate(_context, head) {
    const name = decodeName(head.header(operatorHeader) ?? '');
    if (name === undefined) {
      const message = `Name the operator in the ${operatorHeader} header, percent-encoded, with at most ${maximumNameCharacters} characters`;
      throw new ProtocolError('UNAUTHORIZED', { message });
    }
    // A constant instead of the operator's name, which may be an email address and belongs in the audit log only.
    head.setActor('operator');
    return { name };
  },
};

function decodeName(text: string): string | undefined {
  try {
    const name = decodeURIComponent(text);
    return name !== '' && name.length <= maximumNameCharacters ? name : undefined;
  } catch {
    // The percent-encoding is malformed. The caller's error message describes the expected format.
    return undefined;
  }
}
