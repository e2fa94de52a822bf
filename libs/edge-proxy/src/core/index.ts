export { type KeyDirectory } from './ports';
export { MinuteCounts } from './floods/minute-counts';
export { RecentNames } from './floods/recent-names';
export { readTraceContext } from './tracing/trace-context';
