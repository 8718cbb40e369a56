import { expect, it } from 'vitest';
import { mountedNames } from '#server-push/mounting/mounted-names.js';
import { joinRefusal } from '#server-push/relay-account/account-errors.js';

const request = {
  url: 'https://relay.example',
  hostname: 'chat.example',
  contactEmail: 'ada@example.com',
};
const refusal = (message: string) =>
  joinRefusal({ kind: 'refused-for-good', code: 'BAD_REQUEST', message }, request, mountedNames).message;

it('the error for a server that the relay does not register names the flags to change', () => {
  expect(refusal('Invalid server administrator email address: Invalid email address.')).toMatch(
    /: set an address other than "ada@example.com" with --contact, and run the command again\.$/,
  );
  expect(refusal('This relay admits new servers by invitation: ask its operator for one.')).toMatch(
    /: pass the code with --invitation, and run the command again\.$/,
  );
  expect(refusal('This relay accepts no new servers automatically: ask its operator to add yours.')).toMatch(
    /add yours: then set the SERVER_PUSH_RELAY_ settings to what the operator gives you\.$/,
  );
  expect(refusal('a/b contains invalid components')).toContain(
    'correct --invitation, --hostname or --contact',
  );
});
