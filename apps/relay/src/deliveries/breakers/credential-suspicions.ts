import type { RelayDeviceId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { LRUCache } from 'lru-cache';
import type { RelayDevice } from '../../registrations/store/relay-device.js';
import type { RealmId } from '../../servers/server-tables.js';
import { smallLruMap } from './small-lru-map.js';

export type SuspectDevice = Pick<RelayDevice, 'id' | 'realmId'>;

/** Evidence for and against an app's credential. */
interface Suspicion {
  /** Devices that became suspects since the vendor last accepted the credential, with their realms. */
  readonly suspects: LRUCache<RelayDeviceId, RealmId>;
  /**
   * Devices whose own tokens are at fault, because the credential worked for another device. The value is the time in
   * Unix milliseconds until which the device is ignored.
   */
  readonly excused: LRUCache<RelayDeviceId, number>;
  /** The first two realms seen with this app. */
  readonly realms: Set<RealmId>;
}

const fewestDevices = 3;
const fewestRealms = 2;
const excusedMilliseconds = 24 * 60 * 60_000;
const maximumDevices = 1000;
const maximumApps = 10_000;

/**
 * Collects responses that blame a credential although one token may be at fault. The credential is blamed once three
 * devices have caused such a response since the credential last worked. If the app serves several realms, the devices
 * must belong to at least two of them. A device that turns out to be at fault itself is ignored for one day.
 */
export class CredentialSuspicions {
  readonly #clock: Clock;
  readonly #apps = new LRUCache<string, Suspicion>({ max: maximumApps });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a realm uses an app. */
  noteUse(appId: string, realmId: RealmId): void {
    const { realms } = this.#of(appId);
    if (realms.size < fewestRealms) realms.add(realmId);
  }

  /** Adds a suspect device. Returns whether there are now enough suspects to blame the credential. */
  suspect(appId: string, { id, realmId }: SuspectDevice): boolean {
    const { suspects, excused, realms } = this.#of(appId);
    if (this.#isExcused(excused, id)) return false;
    suspects.set(id, realmId);
    const isOfSeveral = new Set(suspects.values()).size >= Math.min(fewestRealms, realms.size);
    return suspects.size >= fewestDevices && isOfSeveral;
  }

  /** Whether a device is a suspect or excused. Another refusal for such a device is weak evidence. */
  isSuspect(appId: string, { id }: SuspectDevice): boolean {
    const known = this.#apps.get(appId);
    return known !== undefined && (known.suspects.has(id) || this.#isExcused(known.excused, id));
  }

  /** Whether a device of the same realm became a suspect since the vendor last accepted the credential. */
  isRealmSuspect(appId: string, { realmId }: SuspectDevice): boolean {
    const suspects = this.#apps.get(appId)?.suspects.values() ?? [];
    return [...suspects].includes(realmId);
  }

  isUnderSuspicion(appId: string): boolean {
    return (this.#apps.get(appId)?.suspects.size ?? 0) > 0;
  }

  /** Excuses the current suspects: the credential worked, so their own tokens are at fault. */
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
