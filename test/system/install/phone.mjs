// Acts as a phone whose app uses the packed packages. Registers, and decrypts the push that it is given.
import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
} from '@waxwing/client';

const { bouncerPublicKey, token, account } = JSON.parse(process.env.OPTIONS);
const phone = await createPushClient({
  bouncerPublicKey,
  pushToken: () => ({ tokenKind: 'fcm', token }),
  accounts: createMemoryPushAccountStore(),
  seen: createMemorySeenNotifications(),
});
const { code, errorCode, warning } = await phone.registrar(account).sync();
console.log(`registered ${code}`, errorCode, warning);
process.stdin.once('data', async (data) => {
  console.log(`opened ${JSON.stringify(await phone.open(JSON.parse(data)))}`);
});
