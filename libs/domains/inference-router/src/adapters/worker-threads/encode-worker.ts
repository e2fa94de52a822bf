import { parentPort } from 'node:worker_threads';
import type { EncodeCall } from '../../core/dialects/dialect';
import { dialects, type DialectName } from '../../core/dialects/registry';
import { UpstreamFailure, type FailureKind } from '../../core/failure/upstream-failure';

export interface EncodeMessage {
  readonly id: number;
  readonly dialect: DialectName;
  readonly body: Uint8Array;
  readonly call: EncodeCall;
}

export type EncodeReply =
  | { readonly id: number; readonly encoded: Uint8Array }
  /** The dialect cannot express the request. */
  | {
      readonly id: number;
      readonly kind: FailureKind;
      readonly detail: string;
      readonly publicMessage: string | undefined;
      readonly param: string | undefined;
    }
  /** A bug: the dialect threw something else. */
  | { readonly id: number; readonly error: string };

const noTurn = () => Promise.resolve();

/** The program of a thread that encodes large requests. */
parentPort?.on('message', (message: EncodeMessage) => void reply(message));

async function reply({ id, dialect, body, call }: EncodeMessage): Promise<void> {
  try {
    const encoded = await dialects[dialect].encodeRequest(body, call, noTurn);
    const own = encoded.buffer.byteLength === encoded.byteLength;
    parentPort?.postMessage(
      { id, encoded } satisfies EncodeReply,
      own ? [encoded.buffer as ArrayBuffer] : [],
    );
  } catch (error) {
    parentPort?.postMessage(failureReply(id, error));
  }
}

function failureReply(id: number, error: unknown): EncodeReply {
  if (error instanceof UpstreamFailure) {
    const { kind, message, publicMessage, param } = error;
    return { id, kind, detail: message, publicMessage, param };
  }
  return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
