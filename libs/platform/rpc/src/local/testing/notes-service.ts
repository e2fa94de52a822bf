import { bindService, type BoundService } from '../../bound-service';
import type { CallContext, MessageCodec } from '../../definition';

export interface Note {
  readonly number: number;
  readonly text: string;
}

export const note = (number: number, text = ''): Note => ({ number, text });

const noteCodec: MessageCodec<Note> = {
  encode: (message) => ({ finish: () => Buffer.from(JSON.stringify(message)) }),
  decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as Note,
};
const method = { requestType: noteCodec, responseType: noteCodec, requestStream: false } as const;

/** A service of the tests, whose messages say which call they belong to. */
export const NotesDefinition = {
  name: 'Notes',
  fullName: 'gateway.test.v1.Notes',
  methods: {
    ask: { ...method, name: 'Ask', responseStream: false },
    list: { ...method, name: 'List', responseStream: true },
  },
} as const;

export interface NotesHandlers {
  ask(request: Note, context: CallContext): Promise<Note>;
  list(request: Note, context: CallContext): AsyncIterable<Note>;
}

/** Handlers that a test may replace while the service is served. */
export class Notes implements NotesHandlers {
  ask: NotesHandlers['ask'] = async (request) => request;

  list: NotesHandlers['list'] = async function* ({ number, text }) {
    for (let index = 0; index < number; index += 1) yield note(index, text);
  };

  readonly service: BoundService = bindService(NotesDefinition, {
    ask: (request, context) => this.ask(request, context),
    list: (request, context) => this.list(request, context),
  });
}
