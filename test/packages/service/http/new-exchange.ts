import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Exchange } from '#service/http/exchange.js';

/** A request that came over no connection, and its answer, by whoever is named. */
export function newExchange(sender = ''): Exchange {
  const request = new IncomingMessage(new Socket());
  [request.httpVersionMajor, request.httpVersionMinor] = [1, 1];
  const exchange = new Exchange(request, new ServerResponse(request));
  exchange.sender = sender;
  return exchange;
}
