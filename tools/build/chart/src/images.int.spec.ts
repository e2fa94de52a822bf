import { describeWith } from '@gateway/dev-infra';
import { helm, renderText } from './render';

describeWith(helm, 'the images of the chart', () => {
  it('are pinned by the digests that are given', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const text = renderText('least', '--set', `image.digests.edge-proxy=${digest}`);
    const images = [...text.matchAll(/image: "?(\S*inference-gateway\/[\w-]+:[^\s"]+)/g)].map(
      ([, image = '']) => image,
    );
    expect(images.length).toBeGreaterThan(5);
    for (const image of images) expect(image.endsWith(`@${digest}`)).toBe(image.includes('/edge-proxy:'));
  });
});
