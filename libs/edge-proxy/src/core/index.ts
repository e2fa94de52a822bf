export { FairQueue, type FairQueueOptions } from './bodies/fair-queue';
export { type BodyCheck, type BodyThreads, type KeyDirectory } from './ports';
export { MinuteCounts } from './floods/minute-counts';
export { readTraceContext, type TraceContext } from './tracing/trace-context';
