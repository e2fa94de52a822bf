export { createBodyThreads, type BodyThreadsOptions, type ChatBodyThreads } from './body-threads';
export { openBodyThreads } from './open-body-threads';
export { openPageThreads } from './open-page-threads';
