import { dataUri, gif, jpeg, png, webpExtended, webpLossless, webpLossy } from '../../testing/image-fixtures';
import { readImageSource } from './data-uri';
import { readImageHeader } from './image-size';
import { MAX_IMAGE_SIDE_PIXELS, readImageUrl } from './read-image-url';

const PNG_URI = dataUri('image/png', png(3, 2));

/** The problem, or the forwarded URL. */
function readingOf(url: string): string {
  const read = readImageUrl(url);
  return 'problem' in read ? read.problem : read.text;
}

describe('readImageSource', () => {
  it.each([
    'http://a/b.png',
    'https://a/b.png',
    'HTTPS://A',
    'hTTp:a',
    '//a/b.png',
    ' \n\thttps://a',
    '\u0000http://a',
  ])('classifies %j as remote', (url) => {
    expect(readImageSource(url).kind).toBe('remote');
  });

  it.each([
    '',
    'data:',
    'data:image/png;base64',
    'data:image/png,AAAA',
    'data:image/png;base64;x,AAAA',
    'file:///etc/passwd',
    'ftp://a/b',
    'iVBORw0KGgo=',
    'javascript:alert(1)',
    `data:${'x'.repeat(300)};base64,AAAA`,
  ])('rejects %j', (url) => {
    expect(readImageSource(url).kind).toBe('invalid');
  });

  it('reads the scheme, type and parameters in any case', () => {
    expect(readImageSource('DATA:IMAGE/PNG;charset=x;BASE64,AAAA')).toMatchObject({
      kind: 'inline',
      label: 'image/png',
    });
  });
});

describe('readImageHeader', () => {
  it.each([
    ['image/png', png(640, 480)],
    ['image/gif', gif(640, 480)],
    ['image/jpeg', jpeg(640, 480)],
    ['image/jpeg', jpeg(640, 480, 65_535)],
    ['image/webp', webpLossy(640, 480)],
    ['image/webp', webpLossless(640, 480)],
    ['image/webp', webpExtended(640, 480)],
  ])('reads the size from the header of %s', (mimeType, bytes) => {
    const source = readImageSource(dataUri(mimeType, bytes));
    if (source.kind !== 'inline') throw new Error('not inline');
    expect(readImageHeader(source.base64)).toEqual({ mimeType, size: { width: 640, height: 480 } });
  });

  it('limits the segments it reads of a JPEG', () => {
    const segments = Buffer.concat([
      Buffer.from('ffd8', 'hex'),
      Buffer.from('ffe10002'.repeat(600), 'hex'),
      jpeg(8, 8).subarray(2),
    ]);
    expect(readingOf(dataUri('image/jpeg', segments))).toContain('not a supported image');
  });

  it('never reads past the end of a truncated header', () => {
    for (const [mimeType, bytes] of [
      ['image/png', png(9, 9)],
      ['image/gif', gif(9, 9)],
      ['image/jpeg', jpeg(9, 9)],
      ['image/webp', webpExtended(9, 9)],
    ] as const) {
      for (let length = 1; length < bytes.length; length += 1) {
        expect(() => readImageUrl(dataUri(mimeType, bytes.subarray(0, length)))).not.toThrow();
      }
    }
  });
});

describe('readImageUrl', () => {
  it.each([
    ['a PNG', PNG_URI],
    ['a link, which has its own error code', 'https://example.com/a.png'],
    ['the largest size', dataUri('image/png', png(MAX_IMAGE_SIDE_PIXELS, 1))],
  ])('forwards %s unchanged', (_name, url) => {
    expect(readingOf(url)).toBe(url);
  });

  it.each([
    ['a wrong type', dataUri('image/jpeg', png(1, 1)), dataUri('image/png', png(1, 1))],
    ['the common wrong name of JPEG', dataUri('image/jpg', jpeg(1, 1)), dataUri('image/jpeg', jpeg(1, 1))],
    ['another type with that name', dataUri('image/jpg', gif(1, 1)), dataUri('image/gif', gif(1, 1))],
    ['upper case', PNG_URI.replace('data:image/png', 'DATA:IMAGE/PNG'), PNG_URI],
    ['parameters', PNG_URI.replace(';base64', ';name=a.png;base64'), PNG_URI],
    ['line breaks in the data', PNG_URI.replace('AA', 'A\r\nA'), PNG_URI],
    ['spaces around and in the data', `${PNG_URI.replace(',', ',  ').replace('AA', 'A \t A')} \n`, PNG_URI],
  ])('corrects %s', (_name, url, forwardedUrl) => {
    expect(readingOf(url)).toBe(forwardedUrl);
  });

  it.each([
    ['svg', dataUri('image/svg+xml', Buffer.from('<svg/>')), 'must be one of'],
    ['pdf', dataUri('application/pdf', Buffer.from('%PDF-1.7')), 'must be one of'],
    ['no type', `data:;base64,${png(1, 1).toString('base64')}`, 'must be one of'],
    ['bytes that are no image', dataUri('image/png', Buffer.from('no image')), 'not a supported image'],
    ['a PDF under an image’s name', dataUri('image/png', Buffer.from('%PDF-1.7')), 'not a supported image'],
    ['no data', 'data:image/png;base64,', 'not valid base64'],
    ['a vertical tab in the data', PNG_URI.replace('AA', 'A\u000bA'), 'not valid base64'],
    ['nothing but white space', 'data:image/png;base64, \n ', 'not valid base64'],
    ['white space and a missing character', PNG_URI.replace('AA', 'A\n'), 'not valid base64'],
    ['a foreign character', PNG_URI.replace('AA', 'A*'), 'not valid base64'],
    ['a character beyond Latin-1', PNG_URI.replace('AA', 'A\u4e00'), 'not valid base64'],
    ['the URL-safe alphabet', PNG_URI.replace('AA', 'A_'), 'not valid base64'],
    ['missing padding', dataUri('image/gif', gif(1, 1)).replace(/=+$/, ''), 'not valid base64'],
    ['padding inside', `data:image/png;base64,AAA=${png(1, 1).toString('base64')}`, 'not valid base64'],
    ['zero width', dataUri('image/png', png(0, 5)), 'no pixels'],
    ['zero height', dataUri('image/gif', gif(5, 0)), 'no pixels'],
    ['too many pixels', dataUri('image/png', png(MAX_IMAGE_SIDE_PIXELS + 1, 1)), 'pixels wide or high'],
    ['a size beyond 31 bits', dataUri('image/png', png(0xffff_ffff, 1)), 'pixels wide or high'],
  ])('refuses an image with %s', (_name, url, problem) => {
    expect(readImageUrl(url)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('validates every character of 30 MB', () => {
    const bytes = Buffer.alloc(22_500_000, 7);
    png(10, 10).copy(bytes);
    const url = dataUri('image/png', bytes);
    expect(readingOf(url) === url).toBe(true);
    expect(readingOf(`${url.slice(0, -9)}!${url.slice(-8)}`)).toContain('not valid base64');
  });
});
