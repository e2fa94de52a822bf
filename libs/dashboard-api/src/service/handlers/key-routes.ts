import type { CreatedKey, Key, KeyResponse } from '@gateway/contracts/auth';
import { Router } from 'express';
import {
  changedKeySettings,
  createKeyBody,
  emptyBody,
  UNRESTRICTED_KEY,
  updateKeyBody,
} from '../messages/bodies';
import { requireKnownModels } from '../known-models';
import type { DashboardApiPorts } from '../ports';
import { accepted } from '../messages/errors';
import { keyView, pageView } from '../messages/views';
import { EDGE_CHANGE_TIMEOUT_MS, requireOrganization } from './organization-routes';
import { actorOf, pathParameter, readBody, readPage } from '../http/request';

export function createKeyRoutes(ports: DashboardApiPorts): Router {
  const { authAdmin, inferenceRouter } = ports;
  const router = Router();

  router.get('/organizations/:organizationId/keys', async (request, response) => {
    const organizationId = pathParameter(request, 'organizationId');
    const page = readPage(request);
    await requireOrganization(ports, organizationId);
    const { keys, nextPageToken } = await authAdmin.listKeys({ organizationId, ...page });
    response.json(pageView(keys.map(keyView), nextPageToken));
  });

  router.post('/organizations/:organizationId/keys', async (request, response) => {
    const body = readBody(request, createKeyBody);
    await requireKnownModels(inferenceRouter, body.allowed_models);
    const { outcome } = await authAdmin.createKey({
      actor: actorOf(response),
      organizationId: pathParameter(request, 'organizationId'),
      settings: changedKeySettings(UNRESTRICTED_KEY, body),
    });
    const { key, secret } = accepted<CreatedKey>(outcome);
    if (!key) throw new Error('a created key is missing');
    response.status(201).json({ key: keyView(key), secret });
  });

  router.get('/organizations/:organizationId/keys/:keyId', async (request, response) => {
    const target = {
      organizationId: pathParameter(request, 'organizationId'),
      keyId: pathParameter(request, 'keyId'),
    };
    response.json({ key: keyView(keyOf(await authAdmin.getKey(target))) });
  });

  router.patch('/organizations/:organizationId/keys/:keyId', async (request, response) => {
    const changes = readBody(request, updateKeyBody);
    const target = {
      organizationId: pathParameter(request, 'organizationId'),
      keyId: pathParameter(request, 'keyId'),
    };
    const current = keyOf(await authAdmin.getKey(target));
    await requireKnownModels(inferenceRouter, changes.allowed_models, current.allowedModels);
    const updated = await authAdmin.updateKey(
      { ...target, actor: actorOf(response), settings: changedKeySettings(current, changes) },
      { timeoutMs: EDGE_CHANGE_TIMEOUT_MS },
    );
    response.json({ key: keyView(keyOf(updated)) });
  });

  router.post('/organizations/:organizationId/keys/:keyId/revoke', async (request, response) => {
    readBody(request, emptyBody);
    const revoked = await authAdmin.revokeKey(
      {
        actor: actorOf(response),
        organizationId: pathParameter(request, 'organizationId'),
        keyId: pathParameter(request, 'keyId'),
      },
      { timeoutMs: EDGE_CHANGE_TIMEOUT_MS },
    );
    response.json({ key: keyView(keyOf(revoked)) });
  });

  return router;
}

function keyOf({ outcome }: KeyResponse): Key {
  return accepted<Key>(outcome);
}
