import { expect, it } from 'vitest';
import { describeResults } from '#server-push/notifications/describe-results.js';

it('the description of a push service that the relay does not serve names the relay’s operator', () => {
  const unlisted = { status: 'rejected', reason: 'HOST_NOT_SERVED', fault: 'relay-configuration' } as const;
  const sent = { status: 'sent', reason: undefined, fault: undefined } as const;
  const results = [
    { ...unlisted, app: undefined, devices: 2 },
    { ...sent, app: undefined, devices: 1 },
  ];
  expect(describeResults(results)).toBe(
    "1 sent, 2 rejected: the relay does not serve the host of the phone's push service (ask the relay's operator)",
  );
});
