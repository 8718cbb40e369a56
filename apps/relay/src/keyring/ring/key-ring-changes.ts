import type { BouncerKey, KeyRing } from './key-ring.js';

/**
 * Describes the differences between two rings, one phrase per key, for the audit log and for operators. Names keys by
 * id. With `newKeysAreMadeUp` (a preview), omits the ids of new keys, because these keys are discarded after the
 * preview.
 */
export function describeChanges(
  before: KeyRing | undefined,
  after: KeyRing,
  { newKeysAreMadeUp = false } = {},
): string[] {
  const nameOf: NewKeyNaming = (kind, name) =>
    newKeysAreMadeUp ? `a new ${kind} key` : `${kind} key ${name}`;
  return [
    ...bouncerKeyChanges(before, after, nameOf),
    ...signingKeyChanges(before, after, nameOf),
    ...recoveryKeyChanges(before, after),
    ...tokenKeyChanges(before, after, nameOf),
    ...vapidKeyChanges(before, after),
    ...(before?.published?.sequence === after.published?.sequence
      ? []
      : [`key list ${after.published?.sequence} signed`]),
  ];
}

type NewKeyNaming = (kind: 'bouncer' | 'signing' | 'token', name: string) => string;

function bouncerKeyChanges(before: KeyRing | undefined, after: KeyRing, nameOf: NewKeyNaming): string[] {
  const known = new Map(before?.bouncerKeys.map((key) => [key.id, key]));
  return after.bouncerKeys.flatMap((key) => {
    const old = known.get(key.id);
    if (old === undefined) return [`${nameOf('bouncer', key.id)}: new -> ${key.state}`];
    if (old.state !== key.state) return [`bouncer key ${key.id}: ${old.state} -> ${key.state}`];
    return datesOf(old) === datesOf(key) ? [] : [`bouncer key ${key.id}: new dates`];
  });
}

function datesOf(key: BouncerKey): string {
  return JSON.stringify(Object.values(key).filter((value) => typeof value === 'number'));
}

function signingKeyChanges(before: KeyRing | undefined, after: KeyRing, nameOf: NewKeyNaming): string[] {
  const current = after.signingKeys.at(-1)?.publicKey;
  if (current === undefined || before?.signingKeys.at(-1)?.publicKey === current) return [];
  return [`${nameOf('signing', current)} signs from now on`];
}

function recoveryKeyChanges(before: KeyRing | undefined, { recoveryPublicKey }: KeyRing): string[] {
  if (recoveryPublicKey === undefined || before?.recoveryPublicKey === recoveryPublicKey) return [];
  return [`recovery key ${recoveryPublicKey} added`];
}

function tokenKeyChanges(before: KeyRing | undefined, after: KeyRing, nameOf: NewKeyNaming): string[] {
  const ids = (ring: KeyRing | undefined) => new Set(ring?.tokenKeys.map(({ id }) => id));
  const [old, now] = [ids(before), ids(after)];
  return [
    ...[...now].filter((id) => !old.has(id)).map((id) => `${nameOf('token', id)} added`),
    ...[...old].filter((id) => !now.has(id)).map((id) => `token key ${id} destroyed`),
  ];
}

function vapidKeyChanges(before: KeyRing | undefined, after: KeyRing): string[] {
  const keys = (ring: KeyRing | undefined) => new Map(ring?.vapidKeys.map((key) => [key.name, key]));
  const [old, now] = [keys(before), keys(after)];
  return [
    ...[...now.keys()].filter((name) => !old.has(name)).map((name) => `VAPID key of ${name} added`),
    ...[...old.keys()].filter((name) => !now.has(name)).map((name) => `VAPID key of ${name} destroyed`),
  ];
}
