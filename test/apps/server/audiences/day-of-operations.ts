import { roles } from '@waxwing/server';
import { type Account, ServerUnderTest } from '../server-under-test.js';
import { sequenceOf } from './sequence-of.js';
import { askWith, type Fields, type Method, WatchedQueues } from './watched-queues.js';

const kinds = ['owner', 'administrator', 'moderator', 'member', 'guest'] as const;
/**
 * A day of random operations in an organization on its own server: channels of every kind, guests, nested groups,
 * moves, edits, deletions and deactivations. Records which queues get which events.
 */
export class DayOfOperations {
  readonly lines: string[] = [];
  readonly #random: () => number;
  readonly #server: ServerUnderTest;
  readonly #accounts: Account[] = [];
  readonly #queues: WatchedQueues;
  readonly #channels: string[] = [];
  readonly #groups: number[] = [];
  readonly #roleGroups: number[] = [];
  readonly #messages: { readonly id: number; readonly sender: Account }[] = [];
  #names = 0;

  private constructor(server: ServerUnderTest, random: () => number) {
    this.#server = server;
    this.#random = random;
    this.#queues = new WatchedQueues(server, random);
  }

  static async start(seed: number, databaseUrl: string): Promise<DayOfOperations> {
    const server = await ServerUnderTest.start({
      databaseUrl,
      withoutRelay: true,
      offersWebPublicChannels: true,
    });
    const day = new DayOfOperations(server, sequenceOf(seed));
    for (let number = 0; number < 14; number++) {
      const kind = number === 0 ? 'owner' : day.#pick(kinds.slice(number % 3 === 0 ? 4 : 1));
      const email = `${kind}${number}@example.com`;
      const options = { role: roles[kind], fullName: `${kind} ${number}`, isBot: number === 5 };
      day.#accounts.push(await server.addAccount(email, options));
    }
    const { user_groups: groups } = await day.#do(day.#owner, 'GET', 'user_groups', {});
    day.#roleGroups.push(...(groups as { id: number }[]).map(({ id }) => id).slice(1, 7));
    for (let number = 0; number < 10; number++) await day.#makeChannel(day.#owner, 6);
    return day;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Runs one random operation and records its events. */
  async step(): Promise<void> {
    if (this.#queues.count < 6 || this.#random() < 0.05) {
      await this.#queues.open(this.#pick(this.#accounts));
    }
    this.#server.now += 1000;
    const what = await this.#operate();
    const line = [`${what.name} ${what.status}`, ...(await this.#queues.read())];
    this.lines.push(line.join('\n'));
  }

  get #owner(): Account {
    return this.#accounts[0] as Account;
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)] as Value;
  }

  #is(probability: number): boolean {
    return this.#random() < probability;
  }

  /** A random user, usually one with permissions. */
  #actor(): Account {
    return this.#is(0.6) ? this.#owner : this.#pick(this.#accounts);
  }

  #someIds(count = 2): number[] {
    return [...new Set(Array.from({ length: count }, () => this.#pick(this.#accounts).userId))];
  }

  #ask(account: Account, method: Method, path: string, fields: Fields) {
    return askWith(this.#server, account, method, path, fields);
  }

  async #do(account: Account, method: Method, path: string, fields: Fields): Promise<Fields> {
    return (await this.#ask(account, method, path, fields)).body;
  }

  async #operate(): Promise<{ readonly name: string; readonly status: number }> {
    const operations: Record<string, () => Promise<{ status: number; body: Fields }>> = {
      subscribe: () => this.#subscribe(),
      unsubscribe: () => this.#unsubscribe(),
      send: () => this.#send(),
      sendAgain: () => this.#send(),
      sendMore: () => this.#send(),
      edit: () => this.#edit(),
      editAgain: () => this.#edit(),
      move: () => this.#move(),
      remove: () => this.#withMessage((id) => this.#ask(this.#owner, 'DELETE', `messages/${id}`, {})),
      updateChannel: () => this.#updateChannel(),
      updateChannelAgain: () => this.#updateChannel(),
      archive: () => this.#withChannel((id) => this.#ask(this.#actor(), 'DELETE', `streams/${id}`, {})),
      group: () => this.#changeGroup(),
      user: () => this.#changeUser(),
      settings: () => this.#changeSettings(),
      realm: () => this.#changeRealm(),
      topic: () => this.#changeTopicPolicy(),
    };
    const name = this.#pick(Object.keys(operations));
    const { status } = (await operations[name]?.()) ?? { status: 0 };
    return { name, status };
  }

  #subscribe() {
    if (this.#is(0.2)) return this.#makeChannel(this.#actor(), 3);
    return this.#ask(this.#actor(), 'POST', 'users/me/subscriptions', {
      subscriptions: [{ name: this.#pick(this.#channels) }],
      principals: this.#someIds(),
    });
  }

  #makeChannel(actor: Account, members: number) {
    const name = this.#newName('channel');
    this.#channels.push(name);
    return this.#ask(actor, 'POST', 'users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: [actor.userId, ...this.#someIds(members)],
      ...this.#pick([
        {},
        { invite_only: true },
        { invite_only: true, history_public_to_subscribers: true },
        { is_web_public: true },
        { is_default_stream: true },
        { invite_only: true, can_subscribe_group: this.#permission() },
      ]),
    });
  }

  #unsubscribe() {
    const subscriptions = [this.#pick([...this.#channels, 'none'])];
    return this.#ask(this.#actor(), 'DELETE', 'users/me/subscriptions', {
      subscriptions,
      principals: this.#someIds(),
    });
  }

  async #send() {
    const isDirect = this.#is(0.15);
    const mention = this.#is(0.3) ? '@**all** ' : this.#is(0.3) ? `@**owner 0** ` : '';
    const sender = this.#actor();
    const answer = await this.#ask(sender, 'POST', 'messages', {
      ...(isDirect
        ? { type: 'direct', to: this.#someIds() }
        : { type: 'channel', to: this.#pick([...this.#channels, 'none']), topic: this.#topic() }),
      content: `${mention}hello ${this.#names}`,
    });
    if (answer.status === 200) this.#messages.push({ id: Number(answer.body.id), sender });
    return answer;
  }

  #edit() {
    const content = this.#pick(['new text', '@**all** come', '@**owner 0** see', '@**topic** here']);
    return this.#withMessage((id, sender) =>
      this.#ask(sender, 'PATCH', `messages/${id}`, { content: `${content} ${this.#names++}` }),
    );
  }

  #move() {
    return this.#withMessage(async (id) => {
      const streamId = this.#is(0.7) ? await this.#channelId() : undefined;
      return this.#ask(this.#actor(), 'PATCH', `messages/${id}`, {
        ...(streamId === undefined ? {} : { stream_id: streamId }),
        ...(this.#is(0.6) ? { topic: this.#topic() } : {}),
        propagate_mode: this.#pick(['change_one', 'change_later', 'change_all']),
        send_notification_to_old_thread: this.#is(0.3),
      });
    });
  }

  #updateChannel() {
    const change = this.#pick<() => Fields>([
      () => ({ description: `text ${this.#names++}` }),
      () => ({ new_name: this.#rename() }),
      () => ({ is_private: true, history_public_to_subscribers: this.#is(0.5) }),
      () => ({ is_private: false }),
      () => ({ is_web_public: this.#is(0.5) }),
      () => ({ is_archived: false }),
      () => ({ is_default_stream: this.#is(0.5) }),
      () => ({ can_subscribe_group: { new: this.#permission() } }),
      () => ({ can_administer_channel_group: { new: this.#permission() } }),
      () => ({ can_add_subscribers_group: { new: this.#permission() } }),
      () => ({ can_send_message_group: { new: this.#permission() } }),
    ]);
    return this.#withChannel((id) => this.#ask(this.#actor(), 'PATCH', `streams/${id}`, change()));
  }

  /** Returns a new name for a channel. Later operations may use this name for the channel. */
  #rename(): string {
    const name = this.#newName('renamed');
    this.#channels.push(name);
    return name;
  }

  async #changeGroup() {
    if (this.#groups.length < 3 || this.#is(0.2)) {
      const name = this.#newName('group');
      const subgroups = this.#groups.length > 0 && this.#is(0.6) ? [this.#pick(this.#groups)] : [];
      const members = this.#someIds();
      const answer = await this.#ask(this.#owner, 'POST', 'user_groups/create', {
        name,
        description: '',
        members,
        subgroups,
      });
      if (answer.status === 200) this.#groups.push(Number(answer.body.group_id));
      return answer;
    }
    const change = this.#pick([
      { add: this.#someIds() },
      { delete: this.#someIds() },
      { add_subgroups: [this.#pick(this.#groups)] },
    ]);
    return this.#ask(this.#owner, 'POST', `user_groups/${this.#pick(this.#groups)}/members`, change);
  }

  async #changeUser() {
    const { userId, email } = this.#pick(this.#accounts.slice(1));
    if (this.#is(0.2)) return this.#ask(this.#owner, 'DELETE', `users/${userId}`, {});
    if (this.#is(0.3)) return this.#ask(this.#owner, 'POST', `users/${userId}/reactivate`, {});
    const change = this.#pick([
      { full_name: `${email.split('@')[0]} ${this.#names++}` },
      { role: roles[this.#pick(kinds.slice(1))] },
    ]);
    return this.#ask(this.#owner, 'PATCH', `users/${userId}`, change);
  }

  #changeSettings() {
    const change = this.#pick([
      { timezone: this.#pick(['Europe/Berlin', 'UTC']) },
      { email_address_visibility: this.#pick([1, 2, 3, 4, 5]) },
    ]);
    return this.#ask(this.#pick(this.#accounts), 'PATCH', 'settings', change);
  }

  async #changeRealm() {
    if (this.#is(0.5)) return this.#ask(this.#actor(), 'POST', 'invites/multiuse', { invite_as: 400 });
    const group = this.#pick(this.#roleGroups);
    return this.#ask(this.#owner, 'PATCH', 'realm', { can_access_all_users_group: { new: group } });
  }

  #changeTopicPolicy() {
    return this.#withChannel((id) =>
      this.#ask(this.#pick(this.#accounts), 'POST', 'user_topics', {
        stream_id: id,
        topic: this.#topic(),
        visibility_policy: this.#pick([0, 1, 2, 3]),
      }),
    );
  }

  #permission() {
    if (this.#is(0.4)) return this.#pick(this.#roleGroups);
    if (this.#groups.length > 0 && this.#is(0.5)) return this.#pick(this.#groups);
    return { direct_members: this.#someIds(), direct_subgroups: this.#groups.slice(0, 1) };
  }

  #topic(): string {
    return this.#pick(['one', 'two']);
  }

  #newName(kind: string): string {
    this.#names += 1;
    return `${kind} ${this.#names}`;
  }

  async #channelId(): Promise<number | undefined> {
    const stream = this.#pick([...this.#channels, 'none']);
    const { stream_id: id } = await this.#do(this.#owner, 'GET', 'get_stream_id', { stream });
    return typeof id === 'number' ? id : undefined;
  }

  async #withChannel(act: (id: number) => Promise<{ status: number; body: Fields }>) {
    const id = await this.#channelId();
    return id === undefined ? { status: 0, body: {} } : act(id);
  }

  async #withMessage(act: (id: number, sender: Account) => Promise<{ status: number; body: Fields }>) {
    const { id, sender } = this.#pick(this.#messages.slice(-15)) ?? {};
    return id === undefined || sender === undefined ? { status: 0, body: {} } : act(id, sender);
  }
}
