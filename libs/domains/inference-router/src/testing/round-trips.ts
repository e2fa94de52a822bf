import fc from 'fast-check';
import type { DialectName } from '../core/dialects/registry';
import { agentRequests, toolNames } from './agent-conversations';
import { createVendorCalls, vendors, type CallVendor, type Vendor } from './vendor-calls';

/** For each of fuzzRuns: 10,000 for a dialect, divided between its vendors. */
const CONVERSATIONS = 5;

/**
 * Declares the round trips of a dialect: what an agent sends passes its vendors, and the message of the response can be
 * sent back to any vendor of any dialect.
 */
export function describeRoundTrips(dialect: DialectName, fuzz: { readonly numRuns: number }): void {
  const own = Object.entries(vendors).filter(([, vendor]) => vendor.dialect === dialect);
  const others = fc.constantFrom(...Object.values(vendors));
  const numRuns = Math.ceil((CONVERSATIONS * fuzz.numRuns) / own.length);

  let callVendor: CallVendor;
  const complete = async (vendor: Vendor, stream: boolean, body: object) => {
    const { completion } = await callVendor(vendor, stream, Buffer.from(JSON.stringify(body)));
    return completion.choices[0].message;
  };

  beforeAll(async () => {
    callVendor = await createVendorCalls();
  });

  it.each(own)(
    'requests of agents pass %s, and its message passes every vendor',
    (_, vendor) =>
      fc.assert(
        fc.asyncProperty(
          agentRequests,
          fc.boolean(),
          others,
          fc.boolean(),
          async (body, stream, other, streamNext) => {
            const message = await complete(vendor, stream, body);
            const calls = message.tool_calls ?? [];
            for (const { function: called } of calls)
              if (!toolNames.includes(called.name)) throw new Error(`no tool is called ${called.name}`);
            const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }));
            // The next turn of a tool loop needs the signed reasoning of this one.
            const question = calls.length > 0 ? [] : [{ role: 'user', content: 'more [[tokens:4]]' }];
            const messages = [...body.messages, message, ...results, ...question];
            await complete(other, streamNext, { ...body, messages });
          },
        ),
        { numRuns },
      ),
    3_600_000,
  );
}
