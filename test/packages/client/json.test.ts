import { ApiError, createChatApi, decodePushAccount, encodePushAccount } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import { createPhone } from './phone.js';

it('JSON.stringify throws for a row of the account table, so that no key is logged', async () => {
  const { registrar, accounts } = await createPhone();
  const { pushAccountId } = await registrar.sync();
  const [row] = await accounts.list();
  if (row === undefined) throw new Error('the phone has no account');
  for (const written of [row, { ...row }, [row], { rows: [row] }, structuredClone(row)]) {
    expect(() => JSON.stringify(written)).toThrow(TypeError);
  }
  expect(decodePushAccount(encodePushAccount(row))).toMatchObject({ pushAccountId });
});

describe('JSON.stringify writes', () => {
  it('a status, with the id as a decimal string', async () => {
    const { registrar } = await createPhone();
    const status = await registrar.sync();
    const { pushAccountId, ...others } = status;
    expect(typeof pushAccountId).toBe('bigint');
    expect(JSON.parse(JSON.stringify(status))).toEqual({ ...others, pushAccountId: String(pushAccountId) });
  });

  it('an opened notification and its account, including ids beyond 2^53', async () => {
    const { server, client, registrar } = await createPhone();
    const { pushAccountId } = await registrar.sync();
    const { url, userId } = server;
    const id = 2n ** 60n;
    const removal = `{"type":"remove","realm_url":"${url}","user_id":${userId},"message_ids":[1,${id}]}`;
    const opened = await client.open(server.pushTo(removal));
    expect(JSON.parse(JSON.stringify(opened))).toMatchObject({
      kind: 'notification',
      notification: { message_ids: [1, String(id)] },
      account: { realmUrl: url, userId, pushAccountId: String(pushAccountId) },
    });
  });

  it('responses of the chat API, including refusals and ids beyond 2^53', async () => {
    const { server, registrar } = await createPhone();
    const { pushAccountId } = await registrar.sync();
    const { url: realmUrl, email, apiKey, fetch } = server;
    const api = createChatApi({ realmUrl, email, apiKey, fetch });
    const queue = await api.registerEventQueue(['push_device']);
    expect(JSON.parse(JSON.stringify(queue))).toMatchObject({
      queueId: queue.queueId,
      pushDevices: { [String(pushAccountId)]: { status: 'active' } },
    });
    const events = await api.getEvents({ queueId: queue.queueId, lastEventId: -1 });
    const [event] = JSON.parse(JSON.stringify(events)) as unknown[];
    expect(event).toMatchObject({ pushDevice: { pushAccountId: String(pushAccountId) } });
    expect(JSON.parse(JSON.stringify(events[0]))).toEqual(event);
    const fields = { queue_id: 2n ** 60n };
    const refusal = { code: 'X', message: 'm', httpStatus: 400, retryAfterSeconds: undefined, fields };
    expect(JSON.parse(JSON.stringify(new ApiError(refusal)))).toMatchObject({
      code: 'X',
      fields: { queue_id: String(2n ** 60n) },
    });
  });
});
