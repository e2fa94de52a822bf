import { ErrorDetail } from '@gateway/contracts/common';
import { AdmitRequest } from '@gateway/contracts/rate-limit';
import { encodeMessage } from './encode-message';

const detail = (message: string) => ErrorDetail.create({ code: 'rpm_exceeded', message });

describe('encoding messages with a shared writer', () => {
  it('returns separate bytes for each message', () => {
    const messages = ['a', 'b'.repeat(100), 'c'.repeat(1_000_000), 'd', ''].map(detail);
    const encoded = messages.map((message) => encodeMessage(ErrorDetail, message));
    expect(encoded.map((bytes) => ErrorDetail.decode(bytes))).toEqual(messages);
    for (const [index, message] of messages.entries()) {
      const expected = Buffer.from(ErrorDetail.encode(message).finish());
      expect(expected.equals(encoded[index] ?? Buffer.alloc(0))).toBe(true);
    }
  });

  it('recovers from a message that cannot be encoded', () => {
    const broken = AdmitRequest.create({
      admissions: [{ admissionId: 'gen-1', tokens: -1 }],
    });
    expect(() => encodeMessage(AdmitRequest, broken)).toThrow();
    expect(ErrorDetail.decode(encodeMessage(ErrorDetail, detail('after')))).toEqual(detail('after'));
  });
});
