import { linkifiersState } from '../content/linkifiers/linkifiers-state.js';
import { playgroundsState } from '../content/playgrounds/playgrounds-state.js';
import {
  channelsState,
  defaultChannelsState,
  foldersState,
} from '../conversations/channels/channels-state.js';
import {
  conversationsState,
  mutedTopicsState,
  newestMessageState,
  starredState,
  unreadState,
  userTopicsState,
} from '../conversations/messages/state/messages-state.js';
import { presenceState } from '../conversations/presence/presence-state.js';
import { subscriptionsState } from '../conversations/subscriptions/subscriptions-state.js';
import { groupsState } from '../people/groups/groups-state.js';
import { externalAccountsState, profileFieldsState } from '../people/profile-fields/profile-fields-state.js';
import { realmAboutState } from '../people/realm/realm-about-state.js';
import { realmState } from '../people/realm/realm-state.js';
import { userSettingsState } from '../people/user-settings/user-settings-state.js';
import { systemBotsState } from '../people/users/system-bots-state.js';
import { usersState } from '../people/users/users-state.js';
import type { InitialState } from '../platform/event-queues/initial-state.js';
import { clientDevicesState } from '../push/client-devices-state.js';
import { pushDevicesState } from '../push/push-devices-state.js';
import { emptyStates } from './empty-states.js';

/** All parts of the initial state that `POST /register` can return, in the order they are read. */
export const initialStates: readonly InitialState[] = [
  realmState,
  realmAboutState,
  usersState,
  groupsState,
  playgroundsState,
  linkifiersState,
  profileFieldsState,
  externalAccountsState,
  userSettingsState,
  presenceState,
  pushDevicesState,
  clientDevicesState,
  systemBotsState,
  newestMessageState,
  unreadState,
  starredState,
  conversationsState,
  subscriptionsState,
  channelsState,
  foldersState,
  defaultChannelsState,
  userTopicsState,
  mutedTopicsState,
  ...emptyStates,
];
