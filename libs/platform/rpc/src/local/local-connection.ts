import type { Socket } from 'node:net';
import { decodeError } from '../error-codec';
import { RpcError } from '../rpc-error';
import { noSuchMethod, type RpcLog } from '../served-methods';
import { CREDIT_BYTES, cutBody, FrameKind, MalformedFrame, readCut } from './frame';
import { FrameReader } from './frame-reader';
import { FrameWriter } from './frame-writer';
import type { Carrier, LocalCall } from './local-call';
import { MAX_UNSENT_BYTES } from './local-limits';
import { readMethodTable, type MethodTable } from './method-table';
import { requestHead } from './request-frame';

export interface LocalConnectionEvents {
  /** The server has told what it serves: calls may be sent. Once. */
  readonly onReady: () => void;
  /** It can carry nothing more; its calls have been told. Once, ready or not. */
  readonly onLost: () => void;
  readonly maxFrameBytes: number;
  readonly log: RpcLog | undefined;
}

/** The caller's end of a connection, with the calls that are under way on it. */
export class LocalConnection implements Carrier {
  readonly #calls = new Map<number, LocalCall>();
  readonly #writer: FrameWriter;
  #methods: MethodTable | undefined;
  #lastId = 0;
  #cause: Error | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly events: LocalConnectionEvents,
  ) {
    this.#writer = new FrameWriter(socket);
    const reader = new FrameReader(events.maxFrameBytes, (kind, id, body) => this.#take(kind, id, body));
    socket.on('data', (piece) => {
      try {
        if (!socket.destroyed) reader.push(piece);
      } catch (error) {
        events.log?.error(
          { err: error },
          'a local connection is closed: what the server sent cannot be read',
        );
        socket.destroy(error as Error);
      }
    });
    socket.on('error', (error) => {
      this.#cause = error;
    });
    socket.once('close', () => this.#lost());
  }

  get callsUnderWay(): number {
    return this.#calls.size;
  }

  /** @throws RpcError when the server has no such method, or cannot take it now. */
  send(sent: LocalCall): void {
    const { call, receiver } = sent;
    const method = this.#methods?.get(call.service)?.get(call.method);
    if (method === undefined || method.streams !== receiver.streams) throw noSuchMethod(call);
    if (this.socket.writableLength > MAX_UNSENT_BYTES) {
      throw new RpcError('unreachable', `${call.service}/${call.method}: the server reads no requests`);
    }
    sent.id = this.#freeId();
    this.#calls.set(sent.id, sent);
    const head = requestHead(method.number, sent.leftMs, sent.metadata);
    this.#writer.frame(FrameKind.request, sent.id, call.request, head);
  }

  leave({ id }: LocalCall, reason: RpcError): void {
    if (this.#calls.delete(id)) this.#writer.frame(FrameKind.cut, id, cutBody(reason.failure));
  }

  credit({ id }: LocalCall, messages: number, bytes: number): void {
    if (!this.#calls.has(id)) return;
    const body = Buffer.allocUnsafe(CREDIT_BYTES);
    body.writeUInt32LE(bytes, body.writeUInt32LE(messages, 0));
    this.#writer.frame(FrameKind.credit, id, body);
  }

  close(): void {
    this.socket.destroy();
  }

  #freeId(): number {
    do this.#lastId = (this.#lastId + 1) >>> 0;
    while (this.#calls.has(this.#lastId));
    return this.#lastId;
  }

  #take(kind: number, id: number, body: Buffer): void {
    if (this.#methods === undefined) {
      if (kind !== FrameKind.methods) throw new MalformedFrame(`a first frame of kind ${kind}`);
      this.#methods = readMethodTable(body);
      this.events.onReady();
      return;
    }
    const call = this.#calls.get(id);
    // One that was left in the meantime; its last frames were on their way.
    if (call !== undefined) this.#takeOf(call, kind, body);
  }

  #takeOf(call: LocalCall, kind: number, body: Buffer): void {
    const { streams } = call.receiver;
    switch (kind) {
      case FrameKind.message:
        if (!streams) break;
        return call.receiver.take(body);
      case FrameKind.answer:
        if (streams) break;
        this.#calls.delete(call.id);
        call.receiver.take(body);
        return call.end(undefined);
      case FrameKind.end:
        if (!streams) break;
        return this.#end(call, undefined);
      case FrameKind.error:
        return this.#end(call, decodeError(body));
      case FrameKind.cut:
        return this.#end(call, readCut(body, call.call));
    }
    throw new MalformedFrame(`a frame of kind ${kind}, which its call does not expect`);
  }

  #end(call: LocalCall, error: Error | undefined): void {
    this.#calls.delete(call.id);
    call.end(error);
  }

  #lost(): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) {
      const { service, method } = call.call;
      call.end(new RpcError('unavailable', `${service}/${method} lost its connection`, this.#cause));
    }
    this.events.onLost();
  }
}
