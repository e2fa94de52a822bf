export { MinuteCounts } from './floods/minute-counts';
export { RecentNames } from './floods/recent-names';
export { readTraceContext } from './trace-context';
