/** @jest-environment @happy-dom/jest-environment */
import { cleanup, render as renderPlain, screen } from '@testing-library/react';
import { TipProvider } from '../../ui/tooltip';
import { Markdown } from './markdown';

const render = (text: string) => renderPlain(<Markdown text={text} />, { wrapper: TipProvider }).container;

describe('Markdown of a model', () => {
  afterEach(cleanup);

  it('renders headings, emphasis, lists, code and tables', () => {
    const container = render(
      '# Title\n\n**bold** *slanted* `inline`\n\n1. one\n2. two\n\n```js\nrun()\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |',
    );
    expect(screen.getByRole('heading', { name: 'Title', level: 3 })).toBeTruthy();
    expect(container.querySelector('strong')?.textContent).toBe('bold');
    expect(container.querySelector('em')?.textContent).toBe('slanted');
    expect([...container.querySelectorAll('ol li')].map((item) => item.textContent)).toEqual(['one', 'two']);
    expect(container.querySelector('pre')?.textContent).toBe('run()');
    expect(screen.getByRole('columnheader', { name: 'b' })).toBeTruthy();
    expect(screen.getByRole('cell', { name: '2' }).className).toContain('text-right');
  });

  it.each([
    '<script>alert(1)</script>',
    'a <img src=x onerror=alert(1)> b',
    '<a href="https://evil.example">x</a>',
    '<iframe src="https://evil.example"></iframe>',
    '<!-- comment -->',
  ])('shows the HTML %s as text', (html) => {
    const container = render(html);
    expect(container.textContent).toBe(html);
    expect(container.querySelector('script, img, iframe, a')).toBeNull();
  });

  it('shows an image as a link, so that nothing is loaded from elsewhere', () => {
    const container = render('![a cat](https://tracker.example/cat.png)');
    expect(container.querySelector('img')).toBeNull();
    expect(screen.getByRole('link', { name: 'a cat' }).getAttribute('href')).toBe(
      'https://tracker.example/cat.png',
    );
  });

  it('opens links without access to this page, and shows their address', () => {
    render('[docs](https://example.com/a)');
    const link = screen.getByRole('link', { name: 'docs' });
    expect([link.getAttribute('rel'), link.getAttribute('target'), link.title]).toEqual([
      'noopener noreferrer nofollow',
      '_blank',
      'https://example.com/a',
    ]);
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    '/api/session',
    '//evil.example',
  ])('does not link to %s', (href) => {
    const container = render(`[text](${href}) ![image](${href})`);
    expect(container.querySelector('a')).toBeNull();
    expect(container.textContent).toContain('text');
  });

  it('decodes character references as text only', () => {
    const container = render('1 &lt; 2 &amp; &#60;b&#62; &unknown; `&lt;`');
    expect(container.textContent).toBe('1 < 2 & <b> &unknown; &lt;');
    expect(container.querySelector('b')).toBeNull();
  });

  it('shows bidirectional controls, also in code', () => {
    expect(render('a\u202Eb `c\u202Ed`').textContent).toBe('a⟨U+202E⟩b c⟨U+202E⟩d');
  });

  it.each([
    ['nested quotes', '>'.repeat(20_000)],
    ['nested lists', Array.from({ length: 100 }, (_, level) => `${'  '.repeat(level)}- x`).join('\n')],
    ['a long text', '*a* '.repeat(30_000)],
  ])('survives %s', (_name, text) =>
    expect(render(text).textContent).toContain(text.at(-1) === ' ' ? '*a*' : text.at(-1)),
  );
});
