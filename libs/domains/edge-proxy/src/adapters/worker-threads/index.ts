export { createBodyThreads } from './body-threads';
export { createPageThreads } from './page-threads';
