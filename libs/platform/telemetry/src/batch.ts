import type { Span, Tracing } from './tracing';

/** An item of a batch: the span that submitted it, and since when it is queued, in Unix milliseconds. */
export interface BatchMember {
  readonly span: Span;
  readonly sinceMs: number;
}

/**
 * Runs the work of a batch that serves several traces in a span of the first one.
 * Each of the others gets a span from the time it was queued to the end, with a
 * link to the batch's span.
 */
export async function runBatch<Result>(
  tracer: Tracing,
  members: readonly (BatchMember | undefined)[],
  work: () => Promise<Result>,
): Promise<Result> {
  const known = members.filter((member): member is BatchMember => member !== undefined);
  // Prefer a sampled span, so that the work is recorded.
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
