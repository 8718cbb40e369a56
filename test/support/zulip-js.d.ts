// The package ships no types. This file declares the parts of its client that tests use.
declare module 'zulip-js' {
  type Answer = Record<string, unknown>;
  type Parameters = Record<string, unknown>;

  interface Client {
    readonly config: { readonly apiKey: string };
    callEndpoint(endpoint: string, method?: string, parameters?: Parameters): Promise<Answer>;
    readonly server: { settings(): Promise<Answer> };
    readonly users: {
      retrieve(parameters?: Parameters): Promise<Answer>;
      me: {
        getProfile(): Promise<Answer>;
        subscriptions: {
          add(parameters: Parameters): Promise<Answer>;
          remove(parameters: Parameters): Promise<Answer>;
        };
      };
    };
    readonly streams: {
      retrieve(parameters?: Parameters): Promise<Answer>;
      getStreamId(name: string): Promise<Answer>;
      readonly subscriptions: { retrieve(parameters?: Parameters): Promise<Answer> };
      readonly topics: { retrieve(parameters: Parameters): Promise<Answer> };
    };
    readonly messages: {
      send(parameters: Parameters): Promise<Answer>;
      update(parameters: Parameters): Promise<Answer>;
      retrieve(parameters: Parameters): Promise<Answer>;
      getById(parameters: Parameters): Promise<Answer>;
      getHistoryById(parameters: Parameters): Promise<Answer>;
      deleteById(parameters: Parameters): Promise<Answer>;
      readonly flags: { add(parameters: Parameters): Promise<Answer> };
    };
    readonly queues: {
      register(parameters?: Parameters): Promise<Answer>;
      deregister(parameters: Parameters): Promise<Answer>;
    };
    readonly events: { retrieve(parameters: Parameters): Promise<Answer> };
    readonly typing: { send(parameters: Parameters): Promise<Answer> };
  }

  export default function zulip(
    configuration: { realm: string; username: string } & ({ password: string } | { apiKey: string }),
  ): Promise<Client>;
}
