export { htmlOf } from './html';
export { markdownOf } from './markdown';
export { prettyJson } from './pretty-json';
export { apiReference } from './reference';
