const END_OF_EVENT = '\n\n';

/** @param sse complete server-sent events. */
export function splitEvents(sse: string): readonly string[] {
  const events = sse.split(END_OF_EVENT);
  events.pop();
  return events.map((event) => event + END_OF_EVENT);
}

/**
 * Adds an id to each event of a stream: its number, from 1.
 *
 * @param after the number of the event before the next one.
 * @returns a function that takes the next complete events.
 */
export function eventNumbering(after: number): (sse: string) => string {
  let last = after;
  return (sse) =>
    splitEvents(sse)
      .map((event) => `id: ${(last += 1)}\n${event}`)
      .join('');
}
