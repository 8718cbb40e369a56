import type { Socket } from 'node:net';
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { ownUid } from '@waxwing/service/config';
import type { AnyOperation } from '@waxwing/service/http';
import type { buildConnector } from 'undici';
import type { z } from 'zod';
import { connectToSocket } from './connect-to-socket.js';
import { operatorHeader } from './operator.js';
import { describeDistrust, readSocketFacts } from './trusted-socket.js';

/** A request that a command sends to the running relay. */
export interface AdminQuestion<Answer extends z.ZodObject = z.ZodObject> {
  readonly declared: Pick<AnyOperation, 'method' | 'path'> & { readonly answer: Answer };
  /** The operation's parameters, as form fields. */
  readonly form: Readonly<Record<string, string>>;
  /** The operator's name, for the audit log. */
  readonly operatorName: string;
}

const maximumAnswerBytes = 1024 * 1024;
const silenceMilliseconds = 30_000;
const wentAway = 'The relay disconnected before it answered: see its log, then try again.';
const isOfOtherVersion =
  "The running relay does not know this command: restart it with this command's version.";

interface Answer {
  readonly status: number;
  readonly fields: JsonObject;
}

/**
 * Sends a request to the running relay. Returns the declared fields of the response, or `undefined` if no relay listens
 * at `path`. A request may contain a private key, so the function first verifies that the listener is this user or
 * root.
 * @throws CommandError if the relay refuses, is not trusted, or closes the connection.
 */
export async function askAdminSocket<Answer extends z.ZodObject>(
  path: string,
  question: AdminQuestion<Answer>,
): Promise<z.output<Answer> | undefined> {
  const socket = await connectTrusted(path);
  if (socket === undefined) return undefined;
  const { status, fields } = await ask(socket, question);
  if (status !== 200) throw new CommandError(refusalSentence(status, fields));
  const answer = question.declared.answer.safeParse(fields);
  if (!answer.success) throw new CommandError(isOfOtherVersion);
  return answer.data;
}

async function ask(socket: Socket, { declared, form, operatorName }: AdminQuestion): Promise<Answer> {
  // Lazy import: undici is needed only if a relay is running.
  const { Client } = await import('undici');
  const client = new Client('http://localhost', {
    connect: connectOnce(socket),
    headersTimeout: silenceMilliseconds,
    bodyTimeout: silenceMilliseconds,
    maxResponseSize: maximumAnswerBytes,
  });
  const hasBody = declared.method !== 'GET';
  const headers = { [operatorHeader]: encodeURIComponent(operatorName), accept: 'application/json' };
  try {
    const { statusCode, body } = await client.request({
      method: declared.method,
      path: declared.path,
      headers: hasBody ? { ...headers, 'content-type': 'application/x-www-form-urlencoded' } : headers,
      body: hasBody ? new URLSearchParams(form).toString() : null,
    });
    const fields = parseJsonOrUndefined(await body.text());
    if (isJsonObject(fields)) return { status: statusCode, fields };
    throw new Error('the response is not a JSON object');
  } catch (cause) {
    throw new CommandError(wentAway, { cause });
  } finally {
    await client.destroy();
    socket.destroy();
  }
}

/**
 * Connector that returns the verified connection once. Never opens a new connection, which might reach another
 * listener.
 */
function connectOnce(socket: Socket): buildConnector.connector {
  let isUsed = false;
  return (_options, callback) =>
    // Deferred to a microtask: undici sends nothing if `connect` calls back synchronously.
    queueMicrotask(() => {
      if (isUsed || socket.destroyed) {
        callback(new Error('the trusted connection has ended'), null);
        return;
      }
      isUsed = true;
      callback(null, socket);
    });
}

function refusalSentence(status: number, { msg }: JsonObject): string {
  switch (status) {
    case 500:
      return 'The relay failed to run the command: see its log.';
    case 503:
      return `The relay cannot run the command now (${msg}): see its log, then try again.`;
    case 408:
      return wentAway;
    case 404:
    case 405:
      return isOfOtherVersion;
    default:
      return typeof msg === 'string' ? msg : wentAway;
  }
}

async function connectTrusted(path: string): Promise<Socket | undefined> {
  const before = readSocketFacts(path);
  if (before?.socket === undefined) return undefined;
  const distrust = describeDistrust(path, before, ownUid);
  if (distrust !== undefined) throw new CommandError(distrust);
  const socket = await connectToSocket(path);
  const after = readSocketFacts(path)?.socket;
  if (socket !== undefined && (after?.ino !== before.socket.ino || after.dev !== before.socket.dev)) {
    socket.destroy();
    throw new CommandError(`The relay's socket ${path} was replaced a moment ago: try again.`);
  }
  return socket;
}
