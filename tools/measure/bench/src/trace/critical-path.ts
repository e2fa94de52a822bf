import { markdownTable, type ReceivedSpan } from '@gateway/test-support';

/** One step of a request, over all traces. */
export interface Step {
  readonly name: string;
  readonly service: string;
  /** Spans between it and the request. */
  readonly depth: number;
  /** From the start of the request. A mean, since spans start at whole milliseconds. */
  readonly startMs: number;
  /** A mean. */
  readonly durationMs: number;
  /** Whether it ends before the response, on average. */
  readonly endsBeforeResponse: boolean;
}

const REQUEST = 'POST /v1/chat/completions';
/** Steps in fewer traces, such as retries, are not shown. */
const MIN_SHARE = 0.5;

/** The steps of a request in the order in which they start. */
export function criticalPath(spans: readonly ReceivedSpan[]): Step[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const steps = new Map<
    string,
    { span: ReceivedSpan; depth: number; starts: number[]; durations: number[] }
  >();
  const requests = spans.filter(({ name, kind }) => name === REQUEST && kind === 'server');
  for (const span of spans) {
    const ancestors = ancestorsOf(span, byId);
    const request = ancestors.at(-1) ?? span;
    if (request.name !== REQUEST) continue;
    const key = [span, ...ancestors].map(({ kind, name }) => `${kind} ${name}`).join(' < ');
    const step = steps.get(key) ?? { span, depth: ancestors.length, starts: [], durations: [] };
    step.starts.push(span.startUnixMs - request.startUnixMs);
    step.durations.push(span.durationMs);
    steps.set(key, step);
  }
  const found = [...steps.values()]
    .filter(({ starts }) => starts.length >= MIN_SHARE * requests.length)
    .map(({ span: { name, service, kind }, depth, starts, durations }) => ({
      name: kind === 'client' || kind === 'server' ? `${kind} ${name}` : name,
      ...{ service, depth, startMs: mean(starts), durationMs: mean(durations) },
    }))
    .sort((a, b) => a.startMs - b.startMs || a.depth - b.depth);
  const endMs = found.find(({ depth }) => depth === 0)?.durationMs ?? 0;
  return found.map((step) => ({ ...step, endsBeforeResponse: step.startMs + step.durationMs <= endMs }));
}

export function renderCriticalPath(steps: readonly Step[]): string {
  const rows = steps.map(({ name, service, depth, startMs, durationMs, endsBeforeResponse }) => [
    `${'· '.repeat(depth)}${name}`,
    service,
    startMs.toFixed(2),
    durationMs.toFixed(2),
    endsBeforeResponse ? 'yes' : 'no',
  ]);
  return markdownTable(
    [['step', 'service', 'start ms', 'duration ms', 'before the response ends'], ...rows],
    2,
  );
}

function ancestorsOf(span: ReceivedSpan, byId: ReadonlyMap<string, ReceivedSpan>): ReceivedSpan[] {
  const parent = byId.get(span.parentSpanId);
  return parent === undefined ? [] : [parent, ...ancestorsOf(parent, byId)];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
