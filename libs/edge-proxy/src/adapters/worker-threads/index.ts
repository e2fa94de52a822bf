export { createBodyThreads, type BodyThreadsOptions, type ChatBodyThreads } from './body-threads';
