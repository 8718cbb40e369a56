import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const ask = (who: 'owner' | 'administrator', fields: Record<string, unknown>) =>
    organisation.ask(who, 'PATCH', 'realm', fields);
  const state = (name: string) =>
    organisation.do('guest', 'POST', 'register', { fetch_event_types: ['realm'] }).then((all) => all[name]);

  it('require_e2ee_push_notifications cannot be false, and the error says why', async () => {
    expect((await ask('owner', { require_e2ee_push_notifications: true })).status).toBe(200);
    const { status, body } = await ask('owner', { require_e2ee_push_notifications: false });
    expect([status, body.code, body.msg]).toEqual([
      ...[400, 'BAD_REQUEST'],
      'Invalid require_e2ee_push_notifications: must be true: this server sends only encrypted notifications',
    ]);
    const other = await ask('administrator', { require_e2ee_push_notifications: true });
    expect(other.body.code).toBe('UNAUTHORIZED_PRINCIPAL');
    expect(await state('realm_require_e2ee_push_notifications')).toBe(true);
  });

  it('media_preview_size is one of three percentages', async () => {
    expect((await ask('administrator', { media_preview_size: 150 })).status).toBe(200);
    expect((await ask('administrator', { media_preview_size: 120 })).body.msg).toBe(
      'Invalid media_preview_size: must be one of 100, 150, 200',
    );
    expect(await state('realm_media_preview_size')).toBe(150);
  });

  it('a new description is published with its HTML', async () => {
    const events = await organisation.watch();
    await organisation.do('owner', 'PATCH', 'realm', { description: '**Us**' });
    const data = { description: '**Us**', rendered_description: '<p><strong>Us</strong></p>' };
    expect(await events()).toEqual([{ type: 'realm', op: 'update_dict', property: 'default', data }]);
  });
});
