/**
 * The form of an email address for comparing it: ignores letter case, the way in which accents are composed, and the dot of
 * an i. Two users cannot have addresses that differ in these alone. `email_lower` holds it.
 */
export function addressKey(address: string): string {
  return address.normalize('NFC').toLowerCase().replaceAll('ı', 'i');
}
