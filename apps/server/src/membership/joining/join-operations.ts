import { ProtocolError } from '@waxwing/protocol';
import { hashCredential, Secret } from '@waxwing/service/config';
import { anyone, booleanParameter, noAnswer, operation, type RawAnswer } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import {
  hashPassword,
  isPasswordLength,
  passwordLength,
} from '../../platform/authentication/password-hash.js';
import { findUsableInvitation } from '../invitations/invitation-store.js';
import { isInvitationToken } from '../invitations/invitation-token.js';
import {
  type FormEntries,
  formPage,
  joinedPage,
  joinedRedirect,
  noInvitationPage,
  tooManyTriesPage,
} from './join-page.js';
import { joinRealm } from './join-realm.js';

const path = '/join/{token}/';
const page = { answer: noAnswer, answerType: 'text/html' } as const;

/**
 * `GET /join/…/`: returns the sign-up page of an invitation link. Unknown, expired and revoked links get the same 404.
 * A client address that tries too many such links gets 429. With `joined`, returns the page that confirms a sign-up.
 */
export const getJoinPage = operation({
  method: 'GET',
  path,
  summary: 'Returns the sign-up page of an invitation link.',
  actor: anyone,
  parameters: z.object({ token: z.string(), joined: booleanParameter.default(false) }),
  ...page,
  codes: [],
  async handle(context: ServerContext, { head: { address }, parameters: { token, joined } }) {
    if (joined) return joinedPage(context.realm);
    return counted(context, address, async () => {
      const isGood = await isGoodToken(context, token);
      const answer = isGood ? formPage(context.realm, { fullName: '', email: '' }) : noInvitationPage();
      return { answer, isFailure: !isGood };
    });
  },
});

/**
 * `POST /join/…/`: creates a user from an invitation and redirects to a page that confirms the sign-up. For invalid
 * input, returns the form again, with status 400 and the reason. Each failure counts against the client's address, so
 * that attackers cannot enumerate users.
 */
export const joinByInvitation = operation({
  method: 'POST',
  path,
  summary: 'Creates a user from an invitation link.',
  actor: anyone,
  // The form's fields are optional here. If one is missing, the response is the form with an error message.
  parameters: z.object({
    token: z.string(),
    full_name: z.string().default(''),
    email: z.string().default(''),
    password: z
      .string()
      .default('')
      .transform((text) => new Secret(text)),
  }),
  ...page,
  codes: [],
  // Waits in the bounded queue of password checks and hashes.
  waitsForOthers: true,
  async handle(context: ServerContext, { head: { address }, parameters, signal }) {
    const { token, full_name: fullName, email, password } = parameters;
    return counted(context, address, async () => {
      if (!(await isGoodToken(context, token))) return failure(noInvitationPage());
      const entries = { fullName: fullName.trim(), email: email.trim() };
      if (!isPasswordLength(password.reveal())) {
        const { minimum, maximum } = passwordLength;
        return failure(
          formPage(context.realm, entries, `A password must have ${minimum} to ${maximum} characters.`),
        );
      }
      const passwordHash = await context.hashQueue.run({ client: address ?? token, signal }, () =>
        hashPassword(password),
      );
      return join(context, token, { ...entries, passwordHash });
    });
  },
});

interface Counted {
  readonly answer: RawAnswer;
  /** Whether the attempt counts as a failure of the client's address. */
  readonly isFailure: boolean;
}

function failure(answer: RawAnswer): Counted {
  return { answer, isFailure: true };
}

async function counted(
  { addressFailures, clock }: ServerContext,
  address: string | undefined,
  work: () => Promise<Counted>,
): Promise<RawAnswer> {
  const wait = address === undefined ? undefined : addressFailures.take(address, clock());
  if (wait !== undefined) return tooManyTriesPage(wait);
  const { answer, isFailure } = await work().catch((error: unknown) => {
    // The client is a browser, so a full queue is reported as a page and not as JSON.
    if (!(error instanceof ProtocolError) || error.code !== 'RATE_LIMIT_HIT') throw error;
    return { answer: tooManyTriesPage(error.retryAfterSeconds ?? 1), isFailure: false };
  });
  if (!isFailure && address !== undefined) addressFailures.giveBack(address);
  return answer;
}

async function isGoodToken({ clock, database: { db } }: ServerContext, token: string): Promise<boolean> {
  if (!isInvitationToken(token)) return false;
  return (await findUsableInvitation(db, hashCredential(token), clock())) !== undefined;
}

async function join(
  context: ServerContext,
  token: string,
  newcomer: FormEntries & { readonly passwordHash: string },
): Promise<Counted> {
  const { database, realm } = context;
  try {
    const id = await database.writeFirst((transaction) =>
      joinRealm(context, transaction, hashCredential(token), newcomer),
    );
    if (id === undefined) return failure(noInvitationPage());
    return { answer: joinedRedirect(), isFailure: false };
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code !== 'BAD_REQUEST') throw error;
    return failure(formPage(realm, newcomer, error.message));
  }
}
