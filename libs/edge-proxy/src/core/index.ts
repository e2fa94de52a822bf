export { FairQueue, type FairQueueOptions } from './bodies/fair-queue';
export { type BodyCheck, type BodyThreads, type KeyDirectory } from './ports';
export { MinuteCounts } from './floods/minute-counts';
export { readTraceContext } from './tracing/trace-context';
