import type { IncomingMessage } from 'node:http';
import { parse, type ParsedUrlQuery } from 'node:querystring';

/** The query parameters; a repeated name has an array. */
export function queryOf({ url = '' }: IncomingMessage): ParsedUrlQuery {
  const start = url.indexOf('?');
  return start === -1 ? {} : parse(url.slice(start + 1));
}

/** The path as it was sent, without the query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  return start === -1 ? url : url.slice(0, start);
}
