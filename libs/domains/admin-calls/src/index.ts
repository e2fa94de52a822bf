export {
  createAdminClient,
  type AdminClient,
  type CallInput,
  type RawInput,
  type RequestClient,
} from './admin-client';
export { serveEndpoints } from './serve-endpoints';
export { implement, type Implementation, type JsonResult } from './implement';
export { readInput } from './read-input';
export * from './views';
