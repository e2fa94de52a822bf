import { asObject, parseJson, type JsonObject } from '../completion/json';
import { cutResponse, cuttingDecoder, isBlankStop, stopsOf } from './blank-stops';
import type { ChoiceDelta, EventDecoder, ReadResponse } from './dialect';
import { isHashedName, ToolNames } from './tool-names';
import type { VendorRules } from './vendor-rules';

const STOP = Buffer.from('"stop":');
/** More than four stop sequences of the public API. */
const MAX_STOP_BYTES = 1024;
/** An escape is white space in most cases; others are only parsed in vain. */
const HAS_BLANK_STOP = /^"stop":(?:\[.*?)?"(?:\s|\\[a-z])*"/s;

/** Restores in a response what its request lost for the vendor: the names of tools, and stop sequences of white space. */
export class RestoredResponse {
  private parsed: JsonObject | undefined;
  private names: ToolNames | undefined;

  /** @param body the client's request. */
  constructor(
    private readonly body: Uint8Array,
    private readonly rules: VendorRules,
  ) {}

  decoder(decoder: EventDecoder): EventDecoder {
    const stops = this.blankStops();
    const cutting = stops.length === 0 ? decoder : cuttingDecoder(decoder, stops);
    return {
      decode: (data) => this.named(cutting.decode(data)),
      templateOf: (data) => cutting.templateOf(data),
    };
  }

  response(read: ReadResponse): ReadResponse {
    const stops = this.blankStops();
    return this.named(stops.length === 0 ? read : cutResponse(read, stops));
  }

  private named<Read extends { readonly choices: readonly ChoiceDelta[] }>(read: Read): Read {
    const isHashed = ({ toolCalls }: ChoiceDelta) =>
      toolCalls.some(({ name }) => name !== undefined && isHashedName(name));
    if (!read.choices.some(isHashed)) return read;
    const names = (this.names ??= new ToolNames(this.request(), this.rules.toolNames));
    return {
      ...read,
      choices: read.choices.map((choice) => ({
        ...choice,
        toolCalls: choice.toolCalls.map((call) =>
          call.name === undefined ? call : { ...call, name: names.publicName(call.name) },
        ),
      })),
    };
  }

  /** The body is parsed only when a search of its bytes finds such a sequence. */
  private blankStops(): readonly string[] {
    if (this.rules.blankStops || !this.mayHaveBlankStop()) return [];
    return stopsOf(this.request()['stop'])
      .filter(isBlankStop)
      .filter((stop) => stop !== '');
  }

  private mayHaveBlankStop(): boolean {
    const bytes = Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength);
    for (let at = bytes.indexOf(STOP); at !== -1; at = bytes.indexOf(STOP, at + STOP.length))
      if (HAS_BLANK_STOP.test(bytes.toString('latin1', at, at + MAX_STOP_BYTES))) return true;
    return false;
  }

  private request(): JsonObject {
    const text = Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength).toString('utf8');
    return (this.parsed ??= asObject(parseJson(text)) ?? { messages: [] });
  }
}
