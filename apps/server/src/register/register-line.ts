import { BoundedLine } from '@waxwing/service/http';

/**
 * The line in which those wait who register an event queue. Each keeps a connection while it reads, of the ten that a
 * process has: the others are left for everything else.
 */
export function newRegisterLine(): BoundedLine {
  return new BoundedLine({
    maximumAtOnce: 3,
    maximumWaiting: 1000,
    maximumWaitingPerSender: 20,
    what: 'event queue',
  });
}
