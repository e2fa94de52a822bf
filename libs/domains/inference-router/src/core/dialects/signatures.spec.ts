import { withOwnSignatures } from './signatures';

const OWN = { signer: 'signer-a', ownsUntagged: false };

describe('a message', () => {
  const untagged = { type: 'reasoning.text', text: 'u', signature: 's' };
  const own = { ...untagged, signed_by: 'signer-a' };
  const foreign = { ...untagged, signed_by: 'signer-b' };
  const callWith = (extra?: object) => ({
    id: 'c',
    function: { name: 'f' },
    ...(extra && { extra_content: extra }),
  });

  it('keeps the signatures of the target only', () => {
    const message = {
      role: 'assistant',
      reasoning_details: [own, foreign, untagged],
      tool_calls: [callWith(own), callWith(foreign), callWith(untagged), callWith()],
    };
    expect(withOwnSignatures(message, OWN)).toEqual({
      role: 'assistant',
      reasoning_details: [own],
      tool_calls: [callWith(own), callWith(), callWith(), callWith()],
    });
    expect(withOwnSignatures(message, { ...OWN, ownsUntagged: true })).toEqual({
      role: 'assistant',
      reasoning_details: [own, untagged],
      tool_calls: [callWith(own), callWith(), callWith(untagged), callWith()],
    });
  });

  it('without signatures is the same', () => {
    const message = { role: 'user', content: 'Hi' };
    expect(withOwnSignatures(message, OWN)).toBe(message);
  });
});
