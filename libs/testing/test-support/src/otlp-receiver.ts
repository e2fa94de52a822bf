import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** A received span; ids are hexadecimal. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly startUnixMs: number;
  readonly durationMs: number;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Ids of linked spans. */
  readonly links: readonly string[];
  readonly failed: boolean;
}

export interface ReceivedLine {
  readonly service: string;
  readonly severity: string;
  readonly body: unknown;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly lines: readonly ReceivedLine[];
  /** Headers of every export. */
  readonly headers: readonly NodeJS.Dict<string | string[]>[];
  /** All received bytes, to search for data that must not be exported. */
  bytes(): Buffer;
  close(): Promise<void>;
}

/** Starts a fake collector that stores everything it receives as OTLP over HTTP in protobuf. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: Buffer[] = [];
  const spans: ReceivedSpan[] = [];
  const lines: ReceivedLine[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      bodies.push(body);
      headers.push(request.headers);
      if (request.url === '/v1/traces') spans.push(...readSpans(body));
      else if (request.url === '/v1/logs') lines.push(...readLines(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    lines,
    headers,
    bytes: () => Buffer.concat(bodies),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const STATUS_ERROR = 2;

/** A message's values by field number. Nested messages, strings and byte fields are bytes. */
type Fields = ReadonlyMap<number, readonly (Uint8Array | bigint | number)[]>;

// Field numbers of the OpenTelemetry protocol, which never change.
const readSpans = (body: Uint8Array): ReceivedSpan[] => readSignal(body, toSpan);
const readLines = (body: Uint8Array): ReceivedLine[] => readSignal(body, toLine);

function readSignal<Item>(body: Uint8Array, read: (service: string, fields: Fields) => Item): Item[] {
  return messages(fieldsOf(body), 1).flatMap((resource) => {
    const [description] = messages(resource, 1);
    const service = String(attributesOf(description, 1)['service.name']);
    return messages(resource, 2).flatMap((scope) => messages(scope, 2).map((item) => read(service, item)));
  });
}

function toSpan(service: string, fields: Fields): ReceivedSpan {
  const [status] = messages(fields, 15);
  const [startNs, endNs] = [unixNs(fields, 7), unixNs(fields, 8)];
  return {
    service,
    startUnixMs: Number(startNs) / 1e6,
    durationMs: Number(endNs - startNs) / 1e6,
    name: text(fields, 5),
    traceId: hex(fields, 1),
    spanId: hex(fields, 2),
    parentSpanId: hex(fields, 4),
    kind: KINDS[Number(fields.get(6)?.[0] ?? 0)] ?? 'internal',
    attributes: attributesOf(fields, 9),
    links: messages(fields, 13).map((link) => hex(link, 2)),
    failed: Number(status?.get(3)?.[0] ?? 0) === STATUS_ERROR,
  };
}

function toLine(service: string, fields: Fields): ReceivedLine {
  const [body] = messages(fields, 5);
  return {
    service,
    severity: text(fields, 3),
    body: body && valueOf(body),
    traceId: hex(fields, 9),
    spanId: hex(fields, 10),
    attributes: attributesOf(fields, 6),
  };
}

function fieldsOf(message: Uint8Array): Fields {
  const reader = new BinaryReader(message);
  const fields = new Map<number, (Uint8Array | bigint | number)[]>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const value = readValue(reader, wireType);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

function readValue(reader: BinaryReader, wireType: WireType): Uint8Array | bigint | number {
  switch (wireType) {
    case WireType.LengthDelimited:
      return reader.bytes();
    case WireType.Bit64:
      return reader.double();
    case WireType.Bit32:
      return reader.fixed32();
    default:
      return BigInt(reader.uint64());
  }
}

function messages(fields: Fields, number: number): Fields[] {
  return (fields.get(number) ?? []).map((bytes) => fieldsOf(bytes as Uint8Array));
}

/** A fixed64, which `fieldsOf` reads as a double. */
function unixNs(fields: Fields, number: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Number(fields.get(number)?.[0] ?? 0));
  return view.getBigUint64(0);
}

function text(fields: Fields, number: number): string {
  return Buffer.from((fields.get(number)?.[0] as Uint8Array | undefined) ?? []).toString('utf8');
}

function hex(fields: Fields, number: number): string {
  return Buffer.from((fields.get(number)?.[0] as Uint8Array | undefined) ?? []).toString('hex');
}

function attributesOf(fields: Fields | undefined, number: number): Record<string, unknown> {
  if (fields === undefined) return {};
  const pairs = messages(fields, number).map((pair) => {
    const [value] = messages(pair, 2);
    return [text(pair, 1), value && valueOf(value)];
  });
  return Object.fromEntries(pairs) as Record<string, unknown>;
}

/** An AnyValue; arrays and maps become 'structure'. */
function valueOf(value: Fields): unknown {
  if (value.has(1)) return text(value, 1);
  if (value.has(2)) return value.get(2)?.[0] === 1n;
  if (value.has(3)) return Number(value.get(3)?.[0]);
  if (value.has(4)) return value.get(4)?.[0];
  return value.size === 0 ? '' : 'structure';
}
