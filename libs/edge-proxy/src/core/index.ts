export { type KeyDirectory } from './ports';
export { MinuteCounts } from './floods/minute-counts';
export { readTraceContext } from './tracing/trace-context';
