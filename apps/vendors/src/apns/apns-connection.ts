import { randomUUID } from 'node:crypto';
import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { DeliveryLog } from '../deliveries/delivery-log.js';
import type { AnswerFault, AppleSystem } from '../faults/fault-rule.js';
import type { Faults } from '../faults/faults.js';
import { appleReasons } from '../reasons/apple-reasons.js';
import type { RequestCounts } from '../statistics.js';
import {
  type CheckedRequest,
  checkRequest,
  maximumVoipPayloadBytes,
  type ReceivedRequest,
  readApnsId,
} from './check-request.js';
import type { ProviderTokens } from './provider-tokens.js';

export interface ApnsContext {
  readonly environment: AppleSystem;
  readonly providerTokens: ProviderTokens;
  readonly deliveries: DeliveryLog;
  readonly faults: Faults;
  readonly counts: RequestCounts;
  readonly clock: () => number;
  readonly log: (message: string) => void;
}

interface Exchange {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly apnsId: string;
}

const runawayBodyBytes = 1024 * 1024;

/** One accepted APNs connection. Handles and limits its streams, and shuts down with GOAWAY. */
export class AcceptedApnsConnection {
  readonly #session: ServerHttp2Session;
  readonly #context: ApnsContext;
  readonly #stopReading: () => void;
  #isAuthenticated = false;
  #isSilent = false;
  #streams = 0;
  #openStreams = 0;
  /** Id of the last stream that is processed after a GOAWAY. */
  #lastStreamId = Number.POSITIVE_INFINITY;

  /** @param stopReading stops reading from the socket, but leaves the socket open. */
  constructor(session: ServerHttp2Session, context: ApnsContext, stopReading: () => void) {
    this.#session = session;
    this.#context = context;
    this.#stopReading = stopReading;
    session.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
        this.#onStream(stream, headers, rawHeaders);
      },
    );
    session.on('error', (error: Error) => {
      context.log(`apns ${context.environment}: a connection broke: ${error.message}`);
    });
  }

  /** Sends the client the limit on concurrent streams that follows from the active fault rules. */
  announceStreamLimit(): void {
    if (this.#session.closed || this.#session.destroyed || this.#isSilent) return;
    const { initial, authenticated } = this.#context.faults.streamLimits(this.#context.environment);
    this.#session.settings({ maxConcurrentStreams: this.#isAuthenticated ? authenticated : initial });
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
    stream.on('error', expectReset);
    const { id } = stream;
    if (this.#isSilent || id === undefined || id > this.#lastStreamId) return;
    this.#context.counts.requests += 1;
    this.#streams += 1;
    this.#openStreams += 1;
    stream.once('close', () => {
      this.#openStreams -= 1;
      this.#closeWhenDrained();
    });
    this.#goAwayWhenDue(id);
    this.#readRequest(stream, headers, rawHeaders);
  }

  #readRequest(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
    const chunks: Buffer[] = [];
    let bodyBytes = 0;
    stream.on('data', (chunk: Buffer) => {
      if (bodyBytes <= maximumVoipPayloadBytes) chunks.push(chunk);
      bodyBytes += chunk.length;
      if (bodyBytes > runawayBodyBytes) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
    stream.once('end', () => {
      // A reset stream also emits `end`, with a partial body.
      if (stream.closed || stream.destroyed) return;
      const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      this.#handle(stream, { headers, rawHeaders, body, bodyBytes });
    });
  }

  #handle(stream: ServerHttp2Stream, request: ReceivedRequest): void {
    const { environment, providerTokens, log } = this.#context;
    const { headers } = request;
    const exchange = { stream, headers, apnsId: readApnsId(headers) ?? randomUUID() };
    const checked = checkRequest(request, providerTokens);
    if (!('reason' in checked)) {
      this.#accept(exchange, checked);
      return;
    }
    const { reason, explanation } = checked;
    log(`apns ${environment}: refused with ${reason}, because ${explanation}`);
    this.#answerRefusal(exchange, { kind: 'answer', status: appleReasons[reason], reason });
  }

  #accept(exchange: Exchange, request: CheckedRequest): void {
    const { environment, faults, counts } = this.#context;
    const { deviceToken: token, topic } = request;
    const { latencyMilliseconds, effect } = faults.decide({ vendor: 'apns', token, topic, environment });
    if (effect?.kind === 'silence') {
      counts.countAnswer('no answer');
      this.#isSilent = true;
      this.#stopReading();
      return;
    }
    if (effect?.kind === 'reset' && effect.when === 'before') {
      counts.countAnswer('reset before');
      this.#later(latencyMilliseconds, exchange, () =>
        exchange.stream.close(constants.NGHTTP2_REFUSED_STREAM),
      );
      return;
    }
    if (effect?.kind === 'answer') {
      this.#later(latencyMilliseconds, exchange, () => this.#answerRefusal(exchange, effect));
      return;
    }
    this.#record(exchange, request);
    if (effect) {
      counts.countAnswer('reset after');
      this.#later(latencyMilliseconds, exchange, () =>
        exchange.stream.close(constants.NGHTTP2_INTERNAL_ERROR),
      );
      return;
    }
    this.#later(latencyMilliseconds, exchange, () => this.#answerSuccess(exchange));
  }

  #record({ headers }: Exchange, { deviceToken, bodyText, authorization }: CheckedRequest): void {
    headers.authorization = authorization;
    this.#context.deliveries.add({
      vendor: 'apns',
      token: deviceToken,
      environment: this.#context.environment,
      headers,
      bodyText,
      receivedAtMilliseconds: this.#context.clock(),
    });
  }

  #later(latencyMilliseconds: number, { stream }: Exchange, act: () => void): void {
    const actOnOpenStream = () => {
      if (!stream.closed && !stream.destroyed && !this.#isSilent) act();
    };
    if (latencyMilliseconds === 0) actOnOpenStream();
    else setTimeout(actOnOpenStream, latencyMilliseconds).unref();
  }

  #answerSuccess({ stream, apnsId }: Exchange): void {
    this.#context.counts.countAnswer('200');
    const isSandbox = this.#context.environment === 'sandbox';
    const uniqueId = isSandbox ? { 'apns-unique-id': randomUUID() } : undefined;
    stream.respond({ ':status': 200, 'apns-id': apnsId, ...uniqueId }, { endStream: true });
    if (this.#isAuthenticated) return;
    this.#isAuthenticated = true;
    this.announceStreamLimit();
  }

  #answerRefusal({ stream, apnsId }: Exchange, answer: AnswerFault): void {
    const { status, reason, body, retryAfter, timestampMilliseconds = this.#context.clock() } = answer;
    this.#context.counts.countAnswer(`${status} ${reason}`);
    const retryAfterHeader = retryAfter === undefined ? undefined : { 'retry-after': retryAfter };
    stream.respond({ ':status': status, 'apns-id': apnsId, ...retryAfterHeader });
    stream.end(
      body ?? JSON.stringify({ reason, ...(status === 410 && { timestamp: timestampMilliseconds }) }),
    );
  }

  #goAwayWhenDue(streamId: number): void {
    const goaway = this.#context.faults.decideGoaway(this.#context.environment, this.#streams);
    if (!goaway) return;
    this.#context.counts.countAnswer('goaway');
    this.#lastStreamId = streamId;
    const debugData =
      goaway.reason === undefined ? undefined : Buffer.from(JSON.stringify({ reason: goaway.reason }));
    this.#session.goaway(goaway.errorCode, streamId, debugData);
  }

  #closeWhenDrained(): void {
    if (this.#openStreams > 0 || this.#lastStreamId === Number.POSITIVE_INFINITY || this.#isSilent) return;
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
  }
}

/** Ignores the error of a stream that either side reset: `close` follows, and there is no response to send. */
function expectReset(): void {}
