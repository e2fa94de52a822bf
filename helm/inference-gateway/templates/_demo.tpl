{{/*
Workloads that the demo adds to the services, by port. `calledFor` is the property of a component that calls it.
*/}}
{{- define "gateway.demoParts" -}}
postgres: { port: 5432, calledFor: database }
redis: { port: 6379, calledFor: redis }
kafka: { port: 9092, calledFor: kafka }
model-emulator: { port: 8090, calledFor: spool }
{{- end }}

{{/* Names of the domains' databases, by their components. */}}
{{- define "gateway.demoDatabases" -}}
auth: auth
billing-ledger: billing_ledger
usage-aggregator: usage
generation-query: usage
inference-router: inference_router
{{- end }}

{{/* The random seed of all passwords of the demo. Upgrades reuse the stored one. */}}
{{- define "gateway.demoSeed" -}}
{{- if not (hasKey .Values.demo "chosenSeed") -}}
{{- $stored := lookup "v1" "Secret" .Release.Namespace (printf "%s-demo" (include "gateway.prefix" .)) | default dict -}}
{{- $_ := set .Values.demo "chosenSeed" (dig "data" "seed" "" $stored | b64dec | default (randAlphaNum 48)) -}}
{{- end -}}
{{- .Values.demo.chosenSeed -}}
{{- end }}

{{/* Takes a dict of root and of the name of the password. */}}
{{- define "gateway.demoPassword" -}}
{{- printf "%s %s" (include "gateway.demoSeed" .root) .of | sha256sum | trunc 32 -}}
{{- end }}

{{/* Metadata of an object of the demo. Takes a dict of root and name. */}}
{{- define "gateway.demoMetadata" -}}
name: {{ include "gateway.prefix" .root }}-{{ .name }}
labels: {{- include "gateway.labels" . | nindent 2 }}
{{- end }}

{{/*
A workload of the demo up to its containers. Takes a dict of root, name, user and storage. With isStateless it is a
Deployment whose upgrades start the new pod first.
*/}}
{{- define "gateway.demoWorkload" -}}
apiVersion: apps/v1
kind: {{ hasKey . "isStateless" | ternary "Deployment" "StatefulSet" }}
metadata: {{- include "gateway.demoMetadata" . | nindent 2 }}
spec:
  replicas: 1
  {{- if hasKey . "isStateless" }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  {{- else }}
  serviceName: {{ include "gateway.prefix" .root }}-{{ .name }}
  {{- end }}
  selector:
    matchLabels: {{- include "gateway.selector" . | nindent 6 }}
  {{- with .storage }}
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        resources: { requests: { storage: {{ . }} } }
  {{- end }}
  template:
    metadata:
      labels: {{- include "gateway.podLabels" . | nindent 8 }}
    spec:
      {{- include "gateway.podSecurity" . | nindent 6 }}
{{- end }}
