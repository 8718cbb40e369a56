import { expect } from 'vitest';
import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { Account, ServerUnderTest } from '../server-under-test.js';

const joinerPassword = 'correct horse';

let joiners = 0;

/** An invitation link, with functions that join through it. */
export class InvitationUnderTest {
  readonly #organisation: OrganisationUnderTest;
  readonly path: string;

  private constructor(organisation: OrganisationUnderTest, path: string) {
    this.#organisation = organisation;
    this.path = path;
  }

  /** Creates a link as `inviter`. */
  static async make(
    organisation: OrganisationUnderTest,
    inviter: Account,
    wish: Record<string, unknown> = {},
  ): Promise<InvitationUnderTest> {
    const texts = Object.entries(wish).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const answer = await organisation.server.ask(
      inviter,
      'POST',
      'invites/multiuse',
      Object.fromEntries(texts),
    );
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return new InvitationUnderTest(organisation, new URL(String(answer.body.invite_link)).pathname);
  }

  /** The HTTP status of the page that the link opens. */
  async pageStatus(): Promise<number> {
    return (await this.#organisation.server.server.app.inject(this.path)).statusCode;
  }

  /** Joins as a new user, through `server` if given. */
  async join(server: ServerUnderTest = this.#organisation.server): Promise<Joined> {
    joiners += 1;
    const email = `joiner${joiners}@example.com`;
    const { statusCode } = await server.server.app.inject({
      method: 'POST',
      url: this.path,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        full_name: `Joiner ${joiners}`,
        email,
        password: joinerPassword,
      }).toString(),
    });
    const { db } = this.#organisation.server.server.database;
    const user = await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
    if (user === undefined) return { status: statusCode, role: undefined, channelIds: [], groupIds: [] };
    const channels = await db
      .selectFrom('subscriptions')
      .select('channel_id as id')
      .where('user_id', '=', user.id)
      .orderBy('channel_id')
      .execute();
    const groups = await db
      .selectFrom('user_group_members')
      .innerJoin('user_groups', 'user_groups.id', 'user_group_members.group_id')
      .select('user_groups.id')
      .where('user_id', '=', user.id)
      .where('is_system', '=', 0)
      .orderBy('user_groups.id')
      .execute();
    return {
      status: statusCode,
      userId: user.id,
      role: user.role,
      channelIds: channels.map(({ id }) => id),
      groupIds: groups.map(({ id }) => id),
    };
  }

  /** Expects the same response as for a revoked link. */
  async admitsNoOne(): Promise<void> {
    expect(await this.pageStatus()).toBe(404);
    expect(await this.join()).toMatchObject({ status: 404, role: undefined });
  }
}

export interface Joined {
  readonly status: number;
  readonly userId?: number;
  /** `undefined` if no user was created. */
  readonly role: number | undefined;
  readonly channelIds: readonly number[];
  readonly groupIds: readonly number[];
}
