import assert from 'node:assert/strict';
import { hostilePdfDocuments, pdfDocument } from '@gateway/test-support';
import {
  credits,
  expectedCostNanoUsd,
  nano,
  nothingReserved,
  pricingOf,
  settledGeneration,
  type PublicUsage,
} from '../../src/testing/accounting';
import {
  assertError,
  body,
  casesOf,
  chat,
  completionFormats,
  everyDialect,
  publicFormats,
  type Deployment,
  type DocumentSource,
} from '../framework';

/** What the emulator counts for a page. */
const TOKENS_PER_PAGE = 1_500;
const CONTENT = /^(?:messages|input)\[0\]\.content\[0\]/;

/** One document of each kind; a test of the whole system sends all. */
const FAULTS = [
  'no PDF',
  'truncated',
  'encrypted',
  'a page tree with a loop',
  'a bomb that is compressed twice',
];

const base64 = (pdf: Buffer): DocumentSource => ({ base64: pdf.toString('base64') });

const modelOf = (deployment: Deployment) => deployment.model(['files']);

function withDocument(deployment: Deployment, source: DocumentSource, model = modelOf(deployment).id) {
  const { format = publicFormats.chat } = deployment;
  const messages = [
    { role: 'user', content: [format.documentPart(source)] },
    { role: 'user', content: 'What does the document say?' },
  ];
  return body(deployment, { model, messages });
}

/** That the organization, which made no other request, was not charged. */
async function assertFree({ baseUrl }: Deployment, apiKey: string) {
  const { total_usage: charged, reserved } = await credits(baseUrl, apiKey);
  assert.deepEqual([charged, reserved], [0, 0]);
}

/** Documents as input, which need no setting but the capability of the model. */
export const documentCases = casesOf('4', [
  {
    title: 'a document that is no readable PDF is invalid_request, and costs nothing',
    formats: completionFormats,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant();
      for (const fault of FAULTS) {
        const hostile = hostilePdfDocuments[fault];
        assert.ok(hostile, fault);
        const response = await chat(deployment, withDocument(deployment, base64(hostile())), { apiKey });
        const { param } = assertError(response, 'invalid_request');
        assert.match(`${param}`, CONTENT, fault);
        assert.match(`${param}`, /data$/, fault);
      }
      await assertFree(deployment, apiKey);
    },
  },
  {
    title:
      'a document with more pages than the context has room for is context_length_exceeded, and costs nothing',
    formats: completionFormats,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant();
      const pages = Math.ceil(modelOf(deployment).context_length / TOKENS_PER_PAGE);
      const response = await chat(deployment, withDocument(deployment, base64(pdfDocument(pages))), {
        apiKey,
      });
      assertError(response, 'context_length_exceeded');
      await assertFree(deployment, apiKey);
    },
  },
  {
    title: 'a document by its URL or file id is invalid_request, and costs nothing',
    formats: completionFormats,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant();
      for (const source of [{ url: 'https://example.com/report.pdf' }, { fileId: 'file-1' }]) {
        const response = await chat(deployment, withDocument(deployment, source), { apiKey });
        const { param } = assertError(response, 'invalid_request');
        assert.match(`${param}`, CONTENT, JSON.stringify(source));
      }
      await assertFree(deployment, apiKey);
    },
  },
  {
    title: 'a document for a model that cannot read any is invalid_request, and costs nothing',
    formats: completionFormats,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant();
      const model = deployment.model([], ['files']).id;
      const response = await chat(deployment, withDocument(deployment, base64(pdfDocument()), model), {
        apiKey,
      });
      const { param } = assertError(response, 'invalid_request', { messageHas: [model] });
      assert.match(`${param}`, CONTENT);
      await assertFree(deployment, apiKey);
    },
  },
  {
    title: 'the pages of a document are input, and are charged as the usage says',
    needs: ['emulator'],
    dialects: everyDialect,
    formats: completionFormats,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant();
      const pages = 3;
      const request = withDocument(deployment, base64(pdfDocument(pages)));
      const response = await chat(deployment, request, { apiKey });
      assert.equal(response.status, 200, response.text);
      const { usage } = response.json<{ usage: PublicUsage }>();
      assert.ok(usage.prompt_tokens >= pages * TOKENS_PER_PAGE);
      assert.ok(usage.cost);
      const pricing = await pricingOf(deployment.baseUrl, apiKey, modelOf(deployment).id);
      assert.equal(nano(usage.cost), expectedCostNanoUsd(usage, pricing));
      const id = String(response.headers['x-generation-id']);
      const { total_cost: cost } = await settledGeneration(deployment.baseUrl, apiKey, id);
      const { total_usage: charged } = await nothingReserved(deployment.baseUrl, apiKey);
      assert.deepEqual([nano(cost), nano(charged)], [nano(usage.cost), nano(usage.cost)]);
    },
  },
]);
