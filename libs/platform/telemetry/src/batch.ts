import type { Span, Tracing } from './tracing';

/** An item of a batch: the span that it was asked for in, and since when it waits, in Unix milliseconds. */
export interface BatchMember {
  readonly span: Span;
  readonly sinceMs: number;
}

/**
 * Runs the work of a batch that serves several traces: as part of the first of
 * them. The others get a span each, from when they began to wait to the end, with
 * a link to that first one, where the work itself is to be found.
 */
export async function runBatch<Result>(
  tracer: Tracing,
  members: readonly (BatchMember | undefined)[],
  work: () => Promise<Result>,
): Promise<Result> {
  const known = members.filter((member): member is BatchMember => member !== undefined);
  // One that is recorded, so that the work is seen where there is anybody to see it.
  const first = known.find(({ span }) => span.isSampled) ?? known[0];
  if (first === undefined) return tracer.run(undefined, work);
  const others = new Map(known.filter(({ span }) => span !== first.span).map((each) => [each.span, each]));
  if (others.size === 0) return tracer.run(first.span, work);

  const batch = tracer.run(first.span, () =>
    tracer.start('batch', { kind: 'internal', attributes: { 'gateway.batch.size': members.length } }),
  );
  const joined = [...others.values()].map(({ span, sinceMs }) =>
    tracer.run(span, () =>
      tracer.start('joined batch', { kind: 'internal', links: [batch], startedAtMs: sinceMs }),
    ),
  );
  try {
    return await tracer.run(batch, work);
  } finally {
    for (const span of [batch, ...joined]) span.end();
  }
}
