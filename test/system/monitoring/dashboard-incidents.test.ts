import { describe, it, onTestFinished } from 'vitest';
import { relayIncidents } from './relay-incidents.js';
import { undergo } from './undergo.js';
import { watchRelay } from './watched-relay.js';

describe('the relay’s dashboard and one to five log lines', () => {
  it.each(relayIncidents.map((incident) => [incident.name, incident] as const))(
    'explain %s',
    async (_name, incident) => {
      const relay = await watchRelay({ environment: incident.environment ?? {} });
      onTestFinished(() => relay.close());
      await undergo(relay, incident);
    },
  );
});
