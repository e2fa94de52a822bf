import type { StartStream, TransportCall } from './transport';

/** A unary call as a stream of one message. */
export function unaryOver<Payload>(
  start: StartStream<Payload>,
): (call: TransportCall<Payload>) => Promise<Payload> {
  return (call) =>
    new Promise((resolve, reject) => {
      let response: Payload;
      start(call, {
        message: (payload) => (response = payload),
        end: (error) => (error ? reject(error) : resolve(response)),
      });
    });
}
