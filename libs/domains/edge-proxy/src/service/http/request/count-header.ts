import type { IncomingMessage } from 'node:http';

/**
 * How often a request has a header: Node drops all but the first of some, and a proxy in front may have read
 * another one.
 *
 * @param name - in lower case.
 */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index] as string;
    if (each.length === name.length && each.toLowerCase() === name) count += 1;
  }
  return count;
}
