import type { Socket } from 'node:net';
import type { DeadlineWheel } from '../deadline-wheel';
import { callEnd, outcomeOf, type RpcCallEnd } from '../call-end';
import { encodeError } from '../error-codec';
import { cancelledCall, overdueCall, RpcError, tooLarge } from '../rpc-error';
import { serveStream, serveUnary } from '../serve-bytes';
import { reportFailure, type RpcLog, type ServedMethod } from '../served-methods';
import { CREDIT_BYTES, cutBody, FrameKind, MalformedFrame, readCut } from './frame';
import { FrameReader } from './frame-reader';
import { FrameWriter } from './frame-writer';
import { MAX_CALLS, maxFrameBytes } from './local-limits';
import { readRequest } from './request-frame';
import { ServedCall } from './served-call';

/** What the connections of one server share. */
export interface LocalServing {
  /** A request names one by its place. */
  readonly methods: readonly ServedMethod[];
  readonly methodTable: Buffer;
  readonly deadlines: DeadlineWheel;
  readonly maxMessageBytes: number;
  readonly log: RpcLog | undefined;
  readonly onCallEnd: ((end: RpcCallEnd) => void) | undefined;
}

/** The server's end of a connection, with the calls that are under way on it. */
export class ServedConnection {
  readonly #calls = new Map<number, ServedCall>();
  readonly #writer: FrameWriter;
  /** Set when it is draining: told when no call is under way. */
  #onIdle: (() => void) | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly serving: LocalServing,
    onClose: () => void,
  ) {
    this.#writer = new FrameWriter(socket);
    const reader = new FrameReader(maxFrameBytes(serving.maxMessageBytes), (kind, id, body) =>
      this.#take(kind, id, body),
    );
    socket.on('data', (piece) => {
      try {
        if (!socket.destroyed) reader.push(piece);
      } catch (error) {
        serving.log?.error(
          { err: error },
          'a local connection is closed: what its caller sent cannot be read',
        );
        socket.destroy();
      }
    });
    // A caller that died; its calls hear of it.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      for (const call of [...this.#calls.values()]) {
        this.#ended(call, 'cancelled');
        call.abort(cancelledCall(call.served));
      }
      onClose();
    });
    this.#writer.frame(FrameKind.methods, 0, serving.methodTable);
  }

  /** Takes no new calls; resolves when those under way have ended. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#calls.size === 0) resolve();
    });
  }

  /** Aborts the calls under way, and tells their callers. */
  cut(): void {
    for (const call of [...this.#calls.values()]) {
      this.#writer.frame(FrameKind.cut, call.id, cutBody('unavailable'));
      this.#ended(call, 'cancelled');
      call.abort(new RpcError('cancelled', 'the server stopped before the call had ended'));
    }
  }

  /** Lets it go once all is sent. */
  end(): void {
    this.#writer.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  #take(kind: number, id: number, body: Buffer): void {
    if (kind === FrameKind.request) return this.#open(id, body);
    const call = this.#calls.get(id);
    // One that has ended; the caller could not know yet.
    if (call === undefined) return;
    if (kind === FrameKind.credit && body.length === CREDIT_BYTES) {
      call.credit(body.readUInt32LE(0), body.readUInt32LE(4));
    } else if (kind === FrameKind.cut) {
      const reason = readCut(body, call.served);
      this.#ended(call, 'cancelled');
      call.abort(reason);
    } else throw new MalformedFrame(`a frame of kind ${kind} and ${body.length} bytes`);
  }

  #open(id: number, body: Buffer): void {
    const { methods, deadlines } = this.serving;
    const request = readRequest(body);
    const served = methods[request.method];
    if (served === undefined) throw new MalformedFrame(`a request for method ${request.method}`);
    if (this.#calls.has(id) || this.#calls.size >= MAX_CALLS) {
      throw new MalformedFrame(`a request for call ${id}, with ${this.#calls.size} under way`);
    }
    if (this.#onIdle !== undefined) {
      this.#writer.frame(FrameKind.cut, id, cutBody('unreachable'));
      return;
    }
    const call = new ServedCall(id, served, request, deadlines, (overdue) => this.#overdue(overdue));
    this.#calls.set(id, call);
    if (served.streams) this.#serveStream(call, request.payload);
    else this.#serveUnary(call, request.payload);
  }

  #serveUnary(call: ServedCall, request: Buffer): void {
    serveUnary(call.served, request, call.context, {
      log: this.serving.log,
      answer: (response) => {
        this.#checkSize(response);
        if (this.#ended(call, 'ok')) this.#writer.frame(FrameKind.answer, call.id, response);
      },
      fail: (thrown) => this.#fail(call, thrown),
    });
  }

  #serveStream(call: ServedCall, request: Buffer): void {
    const send = (message: Uint8Array): Promise<void> | undefined => {
      this.#checkSize(message);
      this.#writer.frame(FrameKind.message, call.id, message);
      return call.sent(message.length);
    };
    serveStream(call.served, request, call.context, send).then(
      () => {
        if (this.#ended(call, 'ok')) this.#writer.frame(FrameKind.end, call.id);
      },
      (thrown: unknown) => {
        if (!call.context.aborted) reportFailure(this.serving.log, call.served, thrown);
        this.#fail(call, thrown);
      },
    );
  }

  #checkSize({ length }: Uint8Array): void {
    const { maxMessageBytes } = this.serving;
    if (length > maxMessageBytes) throw tooLarge('a response', length, maxMessageBytes);
  }

  #fail(call: ServedCall, thrown: unknown): void {
    if (!this.#ended(call, outcomeOf(thrown))) return;
    this.#writer.frame(FrameKind.error, call.id, encodeError(thrown));
  }

  #overdue(call: ServedCall): void {
    if (this.#ended(call, 'cancelled'))
      this.#writer.frame(FrameKind.cut, call.id, cutBody('deadline_exceeded'));
    call.abort(overdueCall(call.served));
  }

  /** @returns whether it was under way until now. */
  #ended(call: ServedCall, outcome: string): boolean {
    if (this.#calls.get(call.id) !== call) return false;
    this.#calls.delete(call.id);
    call.release();
    this.serving.onCallEnd?.(callEnd(call.served, call.context, call.startedMs, outcome));
    if (this.#calls.size === 0) this.#onIdle?.();
    return true;
  }
}
