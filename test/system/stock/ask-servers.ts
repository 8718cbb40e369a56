import type { AskServer } from './stock-app.js';
import type { StockServer, StockUser } from './stock-server.js';

const success = { result: 'success', msg: '' };

/** Client of a listening server's chat API. */
export function askByHttp(serverUrl: string): AskServer {
  return async (method, path, fields, authorization) => {
    const form = new URLSearchParams(fields);
    const answer = await fetch(`${serverUrl}/api/v1/${path}${method === 'GET' ? `?${form}` : ''}`, {
      method,
      headers: authorization === undefined ? {} : { authorization },
      ...(method !== 'GET' && { body: form }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
}

/** Client of a stock server's chat API, as one of its users. */
export function askStockServer(server: StockServer, user: StockUser): AskServer {
  const { devices } = server;
  const { userId } = user;
  const ok = (fields: object = {}) => ({ status: 200, body: { ...success, ...fields } });
  return async (method, path, fields) => {
    switch (`${method} ${path}`) {
      case 'GET server_settings':
        return ok({ zulip_feature_level: 500 });
      case 'POST fetch_api_key':
        return ok({ api_key: 'x'.repeat(32), user_id: userId });
      case 'POST register': {
        const last_event_id = devices.eventsOf(userId).length - 1;
        return ok({ queue_id: 'q', last_event_id, devices: devices.state(userId) });
      }
      case 'GET events': {
        const events = devices.eventsOf(userId).map((event, id) => ({ ...event, id }));
        return ok({ events: events.filter(({ id }) => id > Number(fields.last_event_id)) });
      }
      case 'POST register_client_device':
        return devices.add(userId);
      case 'POST remove_client_device':
        return devices.remove(userId, Number(fields.device_id));
      case 'POST mobile_push/register':
        return devices.register(userId, fields);
      default:
        throw new Error(`a stock app does not send ${method} ${path}`);
    }
  };
}
