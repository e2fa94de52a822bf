export { AdmissionQueue, type Admission } from './overload/admission-queue';
export { limits } from './limits';
export * from './ports';
export { MinuteCounts } from './abuse-limit/minute-counts';
export { RefusalCounts, type RefusalBatch } from './refusals/refusal-counts';
export { readTraceContext, type TraceContext } from './tracing/trace-context';
