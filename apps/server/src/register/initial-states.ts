import type { InitialState } from '../event-queues/initial-state.js';
import { groupsState } from '../groups/groups-state.js';
import { playgroundsState } from '../playgrounds/playgrounds-state.js';
import { externalAccountsState, profileFieldsState } from '../profile-fields/profile-fields-state.js';
import { pushDevicesState } from '../push/push-devices-state.js';
import { realmState } from '../realm/realm-state.js';

/** Everything that `POST /register` may tell, in the order in which it is read. */
export const initialStates: readonly InitialState[] = [
  realmState,
  groupsState,
  playgroundsState,
  profileFieldsState,
  externalAccountsState,
  pushDevicesState,
];
