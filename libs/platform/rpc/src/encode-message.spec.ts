import { ErrorDetail } from '@gateway/contracts/common';
import { AdmitRequest } from '@gateway/contracts/rate-limit';
import { encodeMessage } from './encode-message';

const detail = (message: string) => ErrorDetail.create({ code: 'rpm_exceeded', message });

describe('encoding messages through one writer', () => {
  it('gives each message bytes of its own', () => {
    const messages = ['a', 'b'.repeat(100), 'c'.repeat(1_000_000), 'd', ''].map(detail);
    const encoded = messages.map((message) => encodeMessage(ErrorDetail, message));
    expect(encoded.map((bytes) => ErrorDetail.decode(bytes))).toEqual(messages);
    for (const [index, message] of messages.entries()) {
      const alone = Buffer.from(ErrorDetail.encode(message).finish());
      expect(alone.equals(encoded[index] ?? Buffer.alloc(0))).toBe(true);
    }
  });

  it('is not troubled by a message that cannot be encoded', () => {
    const broken = AdmitRequest.create({
      admissions: [{ admissionId: 'gen-1', tokens: -1 }],
    });
    expect(() => encodeMessage(AdmitRequest, broken)).toThrow();
    expect(ErrorDetail.decode(encodeMessage(ErrorDetail, detail('after')))).toEqual(detail('after'));
  });
});
