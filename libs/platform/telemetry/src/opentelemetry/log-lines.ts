import { ROOT_CONTEXT, trace, TraceFlags, type Context } from '@opentelemetry/api';
import { SeverityNumber, type AnyValueMap, type Logger } from '@opentelemetry/api-logs';

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Exports formatted log lines, after redaction. The fields of a line become attributes. */
export function createLogExport(logger: Logger): (line: string) => void {
  return (line) => {
    const fields = fieldsOf(line);
    if (fields === undefined) return;
    const { time, level, msg, trace_id: traceId, span_id: spanId, name: _name, ...attributes } = fields;
    const severity = typeof level === 'string' ? level : 'info';
    logger.emit({
      body: typeof msg === 'string' ? msg : '',
      severityText: severity,
      severityNumber: SEVERITIES[severity] ?? SeverityNumber.INFO,
      ...(typeof time === 'string' && { timestamp: Date.parse(time) }),
      attributes: attributes as AnyValueMap,
      context: contextOf(traceId, spanId),
    });
  };
}

function fieldsOf(line: string): Record<string, unknown> | undefined {
  try {
    const fields: unknown = JSON.parse(line);
    return typeof fields === 'object' && fields !== null ? { ...fields } : undefined;
  } catch {
    return undefined;
  }
}

function contextOf(traceId: unknown, spanId: unknown): Context {
  if (typeof traceId !== 'string' || typeof spanId !== 'string') return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED });
}
