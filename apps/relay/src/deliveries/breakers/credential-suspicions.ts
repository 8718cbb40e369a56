import type { RelayDeviceId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { LRUCache } from 'lru-cache';
import type { RelayDevice } from '../../registrations/store/relay-device.js';
import type { RealmId } from '../../servers/server-tables.js';
import { smallLruMap } from './small-lru-map.js';

export type SuspectDevice = Pick<RelayDevice, 'id' | 'realmId'>;

interface Suspicion {
  /** Devices and their realms, since the vendor last took the credential. */
  readonly suspects: LRUCache<RelayDeviceId, RealmId>;
  /** Until when (Unix milliseconds) a device says nothing, because the credential worked for another one beside it. */
  readonly excused: LRUCache<RelayDeviceId, number>;
  /** Of the realms that the app serves, the first two that were seen. */
  readonly realms: Set<RealmId>;
}

const fewestDevices = 3;
const fewestRealms = 2;
const excusedMilliseconds = 24 * 60 * 60_000;
const maximumDevices = 1000;
const maximumApps = 10_000;

/**
 * Answers that blame a credential and may be one token's fault all the same. They count as the credential's when several
 * tokens got them, of several realms where the app serves several, and no notification of the app was judged on its
 * merits meanwhile. A device that turned out to be at fault itself counts no more for a day.
 */
export class CredentialSuspicions {
  readonly #clock: Clock;
  readonly #apps = new LRUCache<string, Suspicion>({ max: maximumApps });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An app is used by this realm, too. */
  noteUse(appId: string, realmId: RealmId): void {
    const { realms } = this.#of(appId);
    if (realms.size < fewestRealms) realms.add(realmId);
  }

  /** One more device got such an answer. Whether they are enough to blame the credential. */
  suspect(appId: string, { id, realmId }: SuspectDevice): boolean {
    const { suspects, excused, realms } = this.#of(appId);
    if (this.#isExcused(excused, id)) return false;
    suspects.set(id, realmId);
    const isOfSeveral = new Set(suspects.values()).size >= Math.min(fewestRealms, realms.size);
    return suspects.size >= fewestDevices && isOfSeveral;
  }

  /** Whether a device got such an answer, so that one more of it tells little. */
  isSuspect(appId: string, { id }: SuspectDevice): boolean {
    const known = this.#apps.get(appId);
    return known !== undefined && (known.suspects.has(id) || this.#isExcused(known.excused, id));
  }

  /** Whether a device of the same realm got such an answer since the vendor last took the credential. */
  isRealmSuspect(appId: string, { realmId }: SuspectDevice): boolean {
    const suspects = this.#apps.get(appId)?.suspects.values() ?? [];
    return [...suspects].includes(realmId);
  }

  isUnderSuspicion(appId: string): boolean {
    return (this.#apps.get(appId)?.suspects.size ?? 0) > 0;
  }

  /** The credential worked: whoever was refused beside that is at fault itself. */
  excuse(appId: string): void {
    const known = this.#apps.get(appId);
    if (known === undefined) return;
    const until = this.#clock() + excusedMilliseconds;
    for (const id of known.suspects.keys()) known.excused.set(id, until);
    known.suspects.clear();
  }

  #isExcused(excused: LRUCache<RelayDeviceId, number>, id: RelayDeviceId): boolean {
    return this.#clock() < (excused.get(id) ?? 0);
  }

  #of(appId: string): Suspicion {
    const known = this.#apps.get(appId);
    if (known !== undefined) return known;
    const fresh: Suspicion = {
      suspects: smallLruMap(maximumDevices),
      excused: smallLruMap(maximumDevices),
      realms: new Set(),
    };
    this.#apps.set(appId, fresh);
    return fresh;
  }
}
