import { channelsState, defaultChannelsState, foldersState } from '../channels/channels-state.js';
import type { InitialState } from '../event-queues/initial-state.js';
import { groupsState } from '../groups/groups-state.js';
import { linkifiersState } from '../linkifiers/linkifiers-state.js';
import {
  conversationsState,
  mutedTopicsState,
  newestMessageState,
  starredState,
  unreadState,
  userTopicsState,
} from '../messages/state/messages-state.js';
import { playgroundsState } from '../playgrounds/playgrounds-state.js';
import { presenceState } from '../presence/presence-state.js';
import { externalAccountsState, profileFieldsState } from '../profile-fields/profile-fields-state.js';
import { pushDevicesState } from '../push/push-devices-state.js';
import { realmAboutState } from '../realm/realm-about-state.js';
import { realmState } from '../realm/realm-state.js';
import { subscriptionsState } from '../subscriptions/subscriptions-state.js';
import { userSettingsState } from '../user-settings/user-settings-state.js';
import { systemBotsState } from '../users/system-bots-state.js';
import { usersState } from '../users/users-state.js';
import { emptyStates } from './empty-states.js';

/** All parts of the initial state that `POST /register` can answer, in the order in which they are read. */
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
