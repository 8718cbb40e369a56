import { FairLine } from '@waxwing/service/lifecycle';

/** Of the ten connections that a process has, so that the others are left for everything else. */
const maximumAtOnce = 3;

/** The line in which those wait who read the state of the organisation for a new event queue, of all users in turn. */
export function newRegisterLine(): FairLine {
  return new FairLine(maximumAtOnce);
}
