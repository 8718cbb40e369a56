import type { OrganisationUnderTest } from '../organisation-under-test.js';

type Who = Parameters<OrganisationUnderTest['ask']>[0];

export const path = 'users/me/subscriptions';

/** Joins a channel and reads subscriptions. By default, the channel is named after the test. */
export function subscriptionsUnderTest(organisation: OrganisationUnderTest, name: () => string) {
  const join = (who: Who, fields: Record<string, unknown> = {}, wanted = name()) =>
    organisation.ask(who, 'POST', path, { subscriptions: [{ name: wanted }], ...fields });

  async function channelId(who: Who = 'owner', wanted = name()): Promise<number> {
    return (await organisation.do(who, 'GET', 'get_stream_id', { stream: wanted })).stream_id as number;
  }

  async function subscriptions(who: Who): Promise<Record<string, unknown>[]> {
    const { subscriptions } = await organisation.do(who, 'GET', path, { include_subscribers: true });
    return subscriptions as Record<string, unknown>[];
  }

  return { join, channelId, subscriptions };
}
