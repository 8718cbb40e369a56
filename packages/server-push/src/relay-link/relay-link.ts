import {
  encodeRelayNotifyRequest,
  type JsonObject,
  type KeyListAnswer,
  keyListAnswer,
  keyListPath,
  type RelayAppsAnswer,
  type RelayNotifyAnyAnswer,
  relayAppsAnswer,
  relayAppsPath,
  relayNotifyAnyAnswer,
  relayNotifyPath,
  relayReceiptsAnswer,
  relayReceiptsPath,
  relayRegisterManyPath,
  relayRegisterPath,
  relayRemoveAnswer,
  relayRemovePath,
  relayRevokeAnswer,
  relayRevokePath,
  type SealedRevocationOnWire,
  serverAnalyticsPath,
  serverDeactivatePath,
  serverRegisterPath,
  serverTransferPath,
  serverVerifyPath,
  type WrittenPushRequest,
} from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import type { ConnectTrouble } from '@waxwing/service/lifecycle';
import type { z } from 'zod';
import type { RegistrationFormat, RegistrationResult } from './registration-format.js';
import { interpretRefusal, notKnown, type RelayOutcome } from './relay-answer.js';
import { type Exchange, type ProbeAnswer, RelayExchange, type RelayLinkOptions } from './relay-exchange.js';
import { RelayKind } from './relay-kind.js';
import { formOf, jsonOf } from './request-content.js';
import {
  analyticsAnswer,
  deactivateAnswer,
  encodeRegistration,
  joinAnswer,
  type ServerRegistration,
  transferAnswer,
  verifiedAnswer,
} from './server-registration.js';

/** HTTP client for the relay, with this server's credentials. Returns failures as outcomes, never throws them. */
export class RelayLink {
  readonly kind = new RelayKind();
  readonly #exchange: RelayExchange;
  readonly #pushStatus: RelayLinkOptions['pushStatus'];
  readonly #realmUuid: string;

  constructor(options: RelayLinkOptions) {
    this.#exchange = new RelayExchange(options);
    this.#pushStatus = options.pushStatus;
    this.#realmUuid = options.realmUuid;
  }

  /** Uses a different key, starting with the next request. */
  useServerKey(serverKey: Secret<string>): void {
    this.#exchange.useServerKey(serverKey);
  }

  /** Forwards a sealed registration. */
  async register<Registration, Registered>(
    format: RegistrationFormat<Registration, Registered>,
    registration: Registration,
    signal?: AbortSignal,
  ): Promise<RelayOutcome<Registered>> {
    const content = formOf(format.form(this.#realmUuid, registration));
    return this.#exchange.askAsServer({ path: relayRegisterPath, content, signal }, format.answer);
  }

  /**
   * Forwards several sealed registrations in one request. Returns one outcome for each, in order. A relay that does not
   * know the request, such as a stock relay, refuses it permanently with `NOT_FOUND`.
   */
  async registerMany<Registration, Registered>(
    format: RegistrationFormat<Registration, Registered>,
    registrations: readonly Registration[],
    signal?: AbortSignal,
  ): Promise<RelayOutcome<readonly RelayOutcome<Registered>[]>> {
    const content = jsonOf(format.body(this.#realmUuid, registrations));
    const exchange = { path: relayRegisterManyPath, content, signal, finalStatuses: [404, 405] };
    const outcome = await this.#exchange.askAsServer(exchange, format.manyAnswer(registrations.length));
    if (outcome.kind !== 'accepted') return outcome;
    return { kind: 'accepted', answer: outcome.answer.results.map(interpretResult) };
  }

  /**
   * Asks the relay to deliver notifications. The caller must keep the request within the relay's body limit, and must
   * include only one device unless {@link RelayKind.isOurs} is true.
   */
  async notify(
    requests: readonly WrittenPushRequest[],
    signal?: AbortSignal,
  ): Promise<RelayOutcome<RelayNotifyAnyAnswer>> {
    const content = jsonOf(encodeRelayNotifyRequest(this.#realmUuid, requests));
    const outcome = await this.#exchange.askAsServer(
      { path: relayNotifyPath, content, signal },
      relayNotifyAnyAnswer,
    );
    if (outcome.kind === 'accepted') this.kind.learn(outcome.answer.results === undefined ? 'stock' : 'ours');
    await this.#pushStatus.report(outcome);
    return outcome;
  }

  /** Fetches the receipts of up to 200 queued notifications. Stock relays do not know the request. */
  async fetchReceipts(notificationIds: readonly string[]) {
    const path = `${relayReceiptsPath}?ids=${notificationIds.join(',')}`;
    return this.#exchange.ask({ path, finalStatuses: [404, 405] }, relayReceiptsAnswer);
  }

  /**
   * Asks the relay to delete devices; `encode` builds the form. A relay that does not know the request, such as a stock
   * relay, refuses it permanently, which does not affect the recorded health of the link.
   */
  async remove(
    encode: (realmUuid: string) => Record<string, string>,
    signal?: AbortSignal,
  ): Promise<RelayOutcome<unknown>> {
    if (this.kind.isStock) return notKnown;
    const content = formOf(encode(this.#realmUuid));
    const exchange = { path: relayRemovePath, content, signal, ...this.#ofExtension };
    return this.#exchange.askAsServer(exchange, relayRemoveAnswer);
  }

  /** Forwards a phone's sealed revocation. A relay that does not know the request refuses it permanently. */
  async revoke(revocation: SealedRevocationOnWire, signal?: AbortSignal): Promise<RelayOutcome<unknown>> {
    if (this.kind.isStock) return notKnown;
    const { bouncer_public_key, encrypted_push_revocation } = revocation;
    const content = formOf({ bouncer_public_key, encrypted_push_revocation });
    return this.#exchange.askAsServer(
      { path: relayRevokePath, content, signal, ...this.#ofExtension },
      relayRevokeAnswer,
    );
  }

  /** Sends a notify request without notifications, and returns the raw response. Does not report it to the monitor. */
  async probe(): Promise<ProbeAnswer | ConnectTrouble> {
    const content = jsonOf(encodeRelayNotifyRequest(this.#realmUuid, []));
    return this.#exchange.probe({ path: relayNotifyPath, isFresh: true, content });
  }

  /** Registers this server with an id and a key that the server chose. Idempotent for the same id and key. */
  async join(registration: ServerRegistration): Promise<RelayOutcome<{ readonly created: boolean }>> {
    const content = formOf(encodeRegistration(this.#exchange.credentials, registration));
    return this.#exchange.ask(
      { path: serverRegisterPath, content, isAnonymous: true, finalStatuses: [404, 405] },
      joinAnswer,
    );
  }

  /** Requests the secret that this server publishes to prove that it runs at the registered host. */
  async startTransfer(hostname: string): Promise<RelayOutcome<Secret<string>>> {
    const content = formOf({ hostname });
    return this.#exchange.ask({ path: serverTransferPath, content, isAnonymous: true }, transferAnswer);
  }

  /** Requests that the relay read the secret at this server's host. Returns the server's id and its new key. */
  async verifyChallenge(hostname: string, accessToken: Secret<string>) {
    const content = formOf({ hostname, access_token: accessToken.reveal() });
    return this.#exchange.ask({ path: serverVerifyPath, content, isAnonymous: true }, verifiedAnswer);
  }

  /** Deactivates this server at the relay. A relay that does not know the request refuses it permanently. */
  async deactivate(): Promise<RelayOutcome<unknown>> {
    const content = jsonOf({});
    return this.#exchange.ask(
      { path: serverDeactivatePath, content, finalStatuses: [404, 405] },
      deactivateAnswer,
    );
  }

  /**
   * Reports the server's organization, so that the relay assigns it to this server. The response contains the
   * organization's push status.
   */
  async reportRealm(realm: JsonObject): Promise<RelayOutcome<z.output<typeof analyticsAnswer>>> {
    const realms = jsonOf([realm]).body;
    const content = formOf({ realm_counts: '[]', installation_counts: '[]', realms });
    return this.#exchange.ask({ path: serverAnalyticsPath, content }, analyticsAnswer);
  }

  /**
   * Fetches the organization's apps, and whether the relay can deliver to each. Stock relays do not know the request.
   */
  async fetchApps(): Promise<RelayOutcome<RelayAppsAnswer>> {
    const path = `${relayAppsPath}?realm_uuid=${this.#realmUuid}`;
    return this.#exchange.ask({ path, finalStatuses: [404, 405] }, relayAppsAnswer);
  }

  /**
   * Fetches the relay's signed key list, without credentials. A relay without key lists, such as a stock relay, refuses
   * the request permanently.
   */
  async fetchKeyList(): Promise<RelayOutcome<KeyListAnswer>> {
    return this.#exchange.ask(
      { path: keyListPath, isAnonymous: true, finalStatuses: [404, 405] },
      keyListAnswer,
    );
  }

  /** Options for requests that stock relays do not know. */
  get #ofExtension(): Pick<Exchange, 'finalStatuses' | 'isFormRequired'> {
    return { finalStatuses: [400, 404, 405], isFormRequired: this.kind.isOurs };
  }
}

function interpretResult<Registered>(result: RegistrationResult<Registered>): RelayOutcome<Registered> {
  return result.result === 'success'
    ? { kind: 'accepted', answer: result.registered }
    : interpretRefusal(result);
}
