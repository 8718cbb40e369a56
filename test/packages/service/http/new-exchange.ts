import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Exchange } from '#service/http/exchange.js';

/** Returns an exchange without a connection. */
export function newExchange(clientKey = ''): Exchange {
  const request = new IncomingMessage(new Socket());
  [request.httpVersionMajor, request.httpVersionMinor] = [1, 1];
  const exchange = new Exchange(request, new ServerResponse(request));
  exchange.clientKey = clientKey;
  return exchange;
}
