import type { IncomingMessage } from 'node:http';
import { parse, type ParsedUrlQuery } from 'node:querystring';

/** The query of a request; a name that is given twice has an array. */
export function queryOf({ url = '' }: IncomingMessage): ParsedUrlQuery {
  const start = url.indexOf('?');
  return start === -1 ? {} : parse(url.slice(start + 1));
}

/** The path of a request as it was sent, without its query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  return start === -1 ? url : url.slice(0, start);
}
