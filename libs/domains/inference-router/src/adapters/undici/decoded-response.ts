import { interceptors, type Dispatcher } from 'undici';

/**
 * Decompresses a response for a handler. Only for servers that compress although the request does not accept that: undici
 * would wrap every call.
 */
export function decoded(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let decoder = handler;
  const wrap = interceptors.decompress({ skipErrorResponses: false })((_options, wrapped) => {
    decoder = wrapped;
    return true;
  });
  wrap({ method: 'POST', path: '/' }, handler);
  return decoder;
}
