import { formatPushAccountId, type PushAccountId } from '@waxwing/protocol/phone';
import type { SeenNotifications } from '../notifications/seen-notifications.js';
import {
  mergeSeen,
  noneSeen,
  type SeenOfAccount,
  withNotification,
} from '../notifications/seen-of-account.js';
import { decodeSeen, encodeSeen } from '../notifications/seen-text.js';
import { changeTexts, type StoredTexts } from './stored-texts.js';

// Maximum notifications per account. Their text fits into 2 kB: encrypted storages such as expo-secure-store have a
// limit of 2048 bytes.
const seenOfEachAccount = 150;

/** Creates replay protection that keeps one text per account. */
export function createTextSeenNotifications(texts: StoredTexts): SeenNotifications {
  const textName = (id: PushAccountId) => `waxwing.seen.${formatPushAccountId(id)}`;
  async function read(name: string): Promise<SeenOfAccount> {
    const text = await texts.read(name);
    if (text === undefined) return noneSeen;
    const { seen, isDamaged } = decodeSeen(text, Math.floor(Date.now() / 1000));
    if (isDamaged) texts.noteDamage(name, text);
    return seen;
  }
  return {
    addIfNew: (notification) =>
      changeTexts(async () => {
        const name = textName(notification.pushAccountId);
        const seen = withNotification(await read(name), notification, seenOfEachAccount);
        if (seen === undefined) return false;
        await texts.write(name, encodeSeen(seen));
        return true;
      }),
    copy: (from, to) =>
      changeTexts(async () => {
        const merged = mergeSeen(await read(textName(to)), await read(textName(from)), seenOfEachAccount);
        await texts.write(textName(to), encodeSeen(merged));
      }),
    forget: (id) => changeTexts(() => texts.remove(textName(id))),
  };
}
