import type { BouncerKey, KeyRing } from './key-ring.js';

/** What differs between two rings, one phrase for each key, for the audit log and for people. Keys by id. */
export function describeChanges(before: KeyRing | undefined, after: KeyRing): string[] {
  return [
    ...bouncerKeyChanges(before, after),
    ...signingKeyChanges(before, after),
    ...recoveryKeyChanges(before, after),
    ...tokenKeyChanges(before, after),
    ...(before?.published?.sequence === after.published?.sequence
      ? []
      : [`key list ${after.published?.sequence} signed`]),
  ];
}

function bouncerKeyChanges(before: KeyRing | undefined, after: KeyRing): string[] {
  const known = new Map(before?.bouncerKeys.map((key) => [key.id, key]));
  return after.bouncerKeys.flatMap((key) => {
    const old = known.get(key.id);
    if (old?.state !== key.state) return [`bouncer key ${key.id}: ${old?.state ?? 'new'} -> ${key.state}`];
    return datesOf(old) === datesOf(key) ? [] : [`bouncer key ${key.id}: dated again`];
  });
}

function datesOf(key: BouncerKey): string {
  return JSON.stringify(Object.values(key).filter((value) => typeof value === 'number'));
}

function signingKeyChanges(before: KeyRing | undefined, after: KeyRing): string[] {
  const current = after.signingKeys.at(-1)?.publicKey;
  if (before?.signingKeys.at(-1)?.publicKey === current) return [];
  return [`signing key ${current} signs from now on`];
}

function recoveryKeyChanges(before: KeyRing | undefined, { recoveryPublicKey }: KeyRing): string[] {
  if (recoveryPublicKey === undefined || before?.recoveryPublicKey === recoveryPublicKey) return [];
  return [`recovery key ${recoveryPublicKey} added`];
}

function tokenKeyChanges(before: KeyRing | undefined, after: KeyRing): string[] {
  const ids = (ring: KeyRing | undefined) => new Set(ring?.tokenKeys.map(({ id }) => id));
  const [old, now] = [ids(before), ids(after)];
  const formBefore = new Map(before?.tokenKeys.map(({ id, oldestForm }) => [id, oldestForm]));
  const moved = after.tokenKeys.filter(
    ({ id, oldestForm }) => oldestForm > (formBefore.get(id) ?? oldestForm),
  );
  return [
    ...[...now].filter((id) => !old.has(id)).map((id) => `token key ${id} added`),
    ...[...old].filter((id) => !now.has(id)).map((id) => `token key ${id} destroyed`),
    ...moved.map(({ id, oldestForm }) => `token key ${id}: only tokens of form ${oldestForm} are accepted`),
  ];
}
