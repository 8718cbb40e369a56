// Imports the client before the platform, because the import must not use any platform API.
import { startPush } from './push-in-an-app';
import './platform';
import scenario from './scenario.json';

const texts = new Map([['waxwing.accounts', scenario.accountText]]);
const shown = [];
const logged = [];
const forms = [];

/** Fake chat server that accepts the registration, and immediately reports the registration as active. */
async function fetch(url, { method, body = '' }) {
  const path = url.slice(scenario.signIn.realmUrl.length).split('?')[0];
  const form = Object.fromEntries(
    body.split('&').map((field) => field.split('=').map((part) => decodeURIComponent(part))),
  );
  if (method === 'POST' && path === '/api/v1/mobile_push/register') forms.push(form);
  const text = JSON.stringify({ result: 'success', msg: '', ...answerTo(`${method} ${path}`) });
  const headers = new Map([['date', new Date().toUTCString()]]);
  return {
    ok: true,
    status: 200,
    headers: { get: (name) => headers.get(name) ?? null },
    text: async () => text,
  };
}

function answerTo(operation) {
  switch (operation) {
    case 'POST /api/v1/register':
      return {
        queue_id: 'q',
        last_event_id: -1,
        user_id: scenario.signIn.userId,
        realm_url: scenario.signIn.realmUrl,
        realm_uuid: scenario.realmUuid,
        push_devices: {},
      };
    case 'GET /api/v1/mobile_push/bouncer_keys':
      return scenario.keyList;
    case 'GET /api/v1/events':
      return {
        events: [{ id: 0, type: 'push_device', push_account_id: forms[0].push_account_id, status: 'active' }],
      };
    default:
      return {};
  }
}

async function run() {
  globalThis.fetch = fetch;
  const push = await startPush(
    {
      signIn: scenario.signIn,
      storage: {
        getItem: (name) => texts.get(name) ?? null,
        setItem: (name, text) => void texts.set(name, text),
        removeItem: (name) => void texts.delete(name),
      },
      pushToken: () => scenario.pushToken,
      showStatus: (sentence) => shown.push(sentence),
      log: (line) => logged.push(line),
      showNotification: (title, text) => shown.push(`${title}: ${text}`),
    },
    scenario.relayKeys,
  );
  await push.bringUpToDate();
  const received = [];
  for (const text of scenario.pushes) received.push(await push.receive(text));
  await push.signOut();
  return { forms, shown, logged, received, kept: [...texts.keys()] };
}

run().then(
  (result) => print(JSON.stringify(result)),
  (error) => print(`the app failed: ${error} ${error.stack}`),
);
