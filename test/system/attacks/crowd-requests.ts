import { type MemberData, revolvingNames } from './member-data.js';
import { type ExpensiveRequests, patch, post, remove } from './member-requests.js';

/**
 * Number of new channels per request. With {@link MemberData.people}, creates as many subscriptions as one request may.
 */
const channelsPerRequest = 5;
/** Number of names, each of which is new at its first use. */
const newNames = 60;

const listOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/**
 * Requests from an ordinary member that affect all users of the organization. None of them requires an administrator.
 */
export const crowdRequests: ExpensiveRequests = {
  'another user subscribes many users again': (data) => [subscribing(data, [data.crowd.name])],
  'another user subscribes many users to new channels': (data) =>
    listOf('new', newNames).map((prefix) => subscribing(data, listOf(`${prefix}-`, channelsPerRequest))),
  'another user unsubscribes many users and subscribes them again': (data) => [
    subscribing(data, revolvingNames),
    remove('users/me/subscriptions', data, {
      subscriptions: JSON.stringify(revolvingNames),
      principals: JSON.stringify(data.people),
    }),
  ],
  'another user makes a channel with many subscribers private and public': (data) =>
    ['true', 'false'].map((isPrivate) =>
      patch(`streams/${data.crowd.id}`, data, {
        is_private: isPrivate,
        history_public_to_subscribers: 'true',
      }),
    ),
  'another user gives many users a permission': (data) =>
    [data.people, data.people.slice(1)].map((people) =>
      patch(`streams/${data.crowd.id}`, data, {
        can_send_message_group: JSON.stringify({
          new: { direct_members: [data.userId, ...people], direct_subgroups: [] },
        }),
      }),
    ),
  'another user creates groups of all users': (data) =>
    listOf('group', newNames).map((name) =>
      post('user_groups/create', data, { name, description: '', members: JSON.stringify(data.people) }),
    ),
  'another user adds all users to a group and removes them': (data) =>
    ['add', 'delete'].map((change) =>
      post(`user_groups/${data.groupId}/members`, data, { [change]: JSON.stringify(data.people) }),
    ),
};

function subscribing(data: MemberData, names: readonly string[]): string {
  return post('users/me/subscriptions', data, {
    subscriptions: JSON.stringify(names.map((name) => ({ name }))),
    principals: JSON.stringify(data.people),
  });
}
