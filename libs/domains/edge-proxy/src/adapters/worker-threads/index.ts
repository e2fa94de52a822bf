export { createBodyThreads, type BodyThreadsOptions } from './body-threads';
export { openBodyThreads } from './open-body-threads';
export { openPageThreads } from './open-page-threads';
